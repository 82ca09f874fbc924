/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a new program begins. Who leaves a stop of ptrace is woken on any idle core, where nothing of it is in the caches and, under some
 * hypervisors, none of its page tables either (docs/PERFORMANCE.md). So it is woken while it may run on no core but the one it stopped on, and gets
 * back at once what it may.
 *
 * MUST: no program runs, or starts others, on fewer cores than natively, and no call of the tree's tells of fewer:
 *  - only a program that makes a mediated call before any code of its own runs (its loader opens its libraries) begins so, and the worker that takes
 *    that call waits until all is as it was (begin_await());
 *  - a call that changes what another process may run on (held.c), or asks for it, comes before or behind.
 * What /proc/PID/status tells others in that moment is less.
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
