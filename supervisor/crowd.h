/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair order among many callers. The kernel hands out calls in the order they came: behind five hundred flooders a process that
 * asks now and then would wait for all of them. While many callers interleave one worker, free to move, waits in the kernel, so that a call wakes it on
 * the caller's core: it serves a rare caller at once, and takes in the calls of busy ones, which the others serve, each on its core, in the order
 * of crowd_order.h. After each of these they let whoever is runnable there go first. Where fewer workers receive than there are cores, one waits in the kernel just so;
 * a single one takes in whatever has come between two calls.
 *
 * MUST: what was taken in is served by whoever receives next; nobody who receives steps down while something is taken in, and who waits in the kernel
 * leaves others to serve it, or is nudged; bounded memory (ORDER_MAX calls, then each is served by who received it).
 */
#ifndef USHER_SUPERVISOR_CROWD_H
#define USHER_SUPERVISOR_CROWD_H

#include <stdbool.h>
#include <sys/types.h>

#include "supervisor/kernel.h"
#include "supervisor/pool.h"

#define CROWD_FROM 4 /* different callers among the latest ARRANGE_WINDOW calls */
#define CROWD_BUSY 8 /* calls that were taken in, one after another: from here on a worker stays on its core */

struct crowd;

/* Whether many callers interleave, or calls are taken in: one look at memory that hardly ever changes. */
static inline bool crowd_there(const struct pool *p)
{
	return atomic_load_explicit(&p->arrangement.callers, memory_order_relaxed) >= CROWD_FROM ||
	       atomic_load_explicit(&p->taken_in, memory_order_relaxed) != 0;
}

/* Whether a call waits in the kernel to be received. */
bool crowd_has_come(const struct pool *p);

/* The next call for W, which receives. False: there is none, errno says why. */
bool crowd_receive(struct worker *w, struct seccomp_notif *out);

/* Thread TID was answered, or its call was parked. */
void crowd_served(struct pool *p, pid_t tid);

/* From time to time, while something is taken in: wakes those who wait for the kernel should nobody have served a call for a while. False: nothing is. */
bool crowd_nudge_locked(struct pool *p);

#endif
