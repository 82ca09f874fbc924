/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair order among many callers. The kernel hands out calls in the order they came: behind five hundred flooders a process that
 * asks now and then would wait for all of them. While many callers interleave, the worker that receives takes in whatever
 * has come and serves the process that had paused longest since its last answer, by classes of time; every fourth call is the oldest, so
 * that nobody starves. One process counts once, however many threads it floods with.
 *
 * MUST: what was taken in is served by whoever receives next; nobody who receives waits for the kernel, or steps down, while something is
 * taken in; bounded memory (CROWD_MAX calls, then the kernel's order holds for the rest).
 */
#ifndef USHER_SUPERVISOR_CROWD_H
#define USHER_SUPERVISOR_CROWD_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/kernel.h"
#include "supervisor/pool.h"

#define CROWD_FROM 4 /* different callers among the latest ARRANGE_WINDOW calls */
#define CROWD_MAX 2048

struct crowd;

/* Whether many callers interleave, or calls are taken in: one look at memory that hardly ever changes. */
static inline bool crowd_there(const struct pool *p)
{
	return atomic_load_explicit(&p->arrangement.callers, memory_order_relaxed) >= CROWD_FROM ||
	       atomic_load_explicit(&p->taken_in, memory_order_relaxed) != 0;
}

/* The next call in fair order, for a worker that receives. False: nothing is taken in; wait in the kernel. */
bool crowd_next(struct pool *p, struct seccomp_notif *out);

/* Thread TID was answered, or its call was parked. */
void crowd_served(struct pool *p, pid_t tid);

/* From time to time, while something is taken in: wakes those who wait for the kernel should nobody have served a call for a while. False: nothing is. */
bool crowd_nudge_locked(struct pool *p);

#endif
