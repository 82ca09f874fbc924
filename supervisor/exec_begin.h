/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a new program begins. Who leaves a stop of ptrace is woken on any idle core, where nothing of it is in the caches and, under some
 * hypervisors, none of its page tables either (docs/PERFORMANCE.md). So it is woken while it may run on no core but the one it stopped on, and gets
 * back at once what it may.
 *
 * MUST: no program and nobody in the tree finds a program that has fewer cores than natively:
 *  - only a program that makes a mediated call before any code of its own runs (its loader opens its libraries) begins so, and the worker that takes
 *    that call waits until all is as it was (begin_await());
 *  - a call of another's that changes what a process may run on (held.c) comes before or behind.
 */
#ifndef USHER_SUPERVISOR_EXEC_BEGIN_H
#define USHER_SUPERVISOR_EXEC_BEGIN_H

#include <sys/types.h>

struct job;
struct session;

/* Lets PID, which stands stopped before the first instruction of J's new image, run. Threads: who traces it. */
void begin_release(const struct job *j, pid_t pid);

/* Before anything is done for a call of thread TID. */
void begin_await(struct session *s, pid_t tid);

#endif
