/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/soon.h"

#define NS UINT64_C(1000000000)

void soon_init(pthread_cond_t *c)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(c, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

struct timespec soon_at(uint64_t ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(ns / NS);
	at.tv_nsec = (long)(ns % NS);
	return at;
}

int soon_wait(pthread_cond_t *c, pthread_mutex_t *m, uint64_t ns)
{
	struct timespec at = soon_at(ns);

	return pthread_cond_timedwait(c, m, &at);
}
