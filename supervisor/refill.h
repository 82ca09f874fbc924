/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody for each part of the pool's work, also where no thread more can be made (RLIMIT_NPROC, pids.max): see setrlimit(2).
 *
 * MUST: nobody waits for ever for want of a thread. All with the pool's lock held.
 */
#ifndef USHER_SUPERVISOR_REFILL_H
#define USHER_SUPERVISOR_REFILL_H

#include <stdbool.h>

#include "supervisor/pool.h"

/*
 * Whether one more has to receive: there are fewer than wanted, or one alone, who may wait in the kernel and count on somebody who has just left to serve
 * what is taken in. Who leaves asks after that, and who waits looks at the receivers after taking in (crowd.c): one of both sees the other.
 */
bool refill_wants_locked(const struct pool *p);

/* Enough receivers: wakes a spare, or makes one. Failing that the next worker to come back receives, or see refill_again_locked(). */
void refill_locked(struct pool *p);

/*
 * Where no thread could be made: tries again, and when nobody is left to receive, one of those that wait gives up its wait as for a signal. Its caller makes
 * the call again, behind the others.
 */
void refill_again_locked(struct pool *p);

/* Whether that is to be tried again. */
bool refill_lacks_locked(const struct pool *p);

#endif
