/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of this floor: they take no signals, those are the main thread's. */
#ifndef USHER_POLICY_THREAD_H
#define USHER_POLICY_THREAD_H

#include <pthread.h>
#include <signal.h>

/* As pthread_create() with every signal blocked in the new thread. Returns 0 or a negative errno. */
static inline int thread_start(pthread_t *out, void *(*main)(void *), void *arg)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(out, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

#endif
