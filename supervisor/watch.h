/* SPDX-License-Identifier: Apache-2.0 */
/* Looks after calls that wait: a caller that died, or that has a signal to handle, must not wait for usher. */
#ifndef USHER_SUPERVISOR_WATCH_H
#define USHER_SUPERVISOR_WATCH_H

#include <stdbool.h>
#include <sys/stat.h>

struct job;
struct pool;

#define WATCH_ROUND_MS 10

/* Opens p->watch, which the main thread waits on. Returns 0 or a negative errno. */
int watch_open(struct pool *p);

/* Something waits from now on: the main thread looks after it. With the lock held; costs nothing while it does already. */
void watch_wake_locked(struct pool *p);

/*
 * To be called before a FIFO is opened: who is in another open of it counts, or will in a moment, as its reader or writer, and must not any more
 * when its caller has ended and whoever collected it opens the other end. ACCESS is how it will be opened: a reader does not care who else reads,
 * nor a writer who writes. Costs one load while nobody is at a FIFO, and asks about those alone that open the other end of this one.
 * Any worker, without the lock, for J, which it serves.
 */
void watch_fifo(const struct job *j, const struct stat *fifo, int access);

/* One look, by the main thread, WATCH_ROUND_MS after p->watch was readable or after the last. False: nothing waits any more. */
bool watch_round(struct pool *p);

#endif
