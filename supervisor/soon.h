/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a while that the system's clock, which may be set back meanwhile, does not make longer. */
#ifndef USHER_SUPERVISOR_SOON_H
#define USHER_SUPERVISOR_SOON_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* A condition for soon_wait(), or for pthread_cond_timedwait() until soon_at(). */
void soon_init(pthread_cond_t *c);

/* NS nanoseconds from now, on the clock of such conditions. */
struct timespec soon_at(uint64_t ns);

/* Waits for C, with M held, at most NS nanoseconds. Returns 0, or ETIMEDOUT. */
int soon_wait(pthread_cond_t *c, pthread_mutex_t *m, uint64_t ns);

#endif
