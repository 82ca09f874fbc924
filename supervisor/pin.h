/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process's number, held.
 *
 * The kernel gives a number anew as soon as its process was waited for. Nobody waits for a process that somebody else traces: as long as it is traced its
 * number means it, alive or dead.
 */
#ifndef USHER_SUPERVISOR_PIN_H
#define USHER_SUPERVISOR_PIN_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

struct pin {
	pid_t pid;
	int rc;
	pthread_t thread;
	sem_t held, done;
};

/*
 * Holds the number PID, a process's or a thread's, until pin_end(). It is not stopped; a signal that comes to it meanwhile is delivered at the end. 0; -ESRCH:
 * there is none; -EPERM: it has ended already, is traced already or not ours to trace; -EAGAIN: no thread can be made. Nothing is to be ended then. Any thread.
 * For some moments after pin_end() it may be traced still: a thread is joined before the kernel lets go of what it traced.
 */
int pin_begin(struct pin *p, pid_t pid);
void pin_end(struct pin *p);

#endif
