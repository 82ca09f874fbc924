/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread has one tracer, and usher traces for moments of its own (pin.h, stack_stop.h, an exec). Who meets such a moment waits; who meets a tracer that
 * stays is told so.
 */
#ifndef USHER_SUPERVISOR_PASSING_H
#define USHER_SUPERVISOR_PASSING_H

#include <stdbool.h>
#include <sys/types.h>

struct job;
struct session;

#define PASSING_TRIES 5000 /* a fifth of a millisecond apart */

/*
 * Whether TID, of which a PTRACE_SEIZE has just been refused with EPERM, may be seized soon: usher itself traces it, or whoever did has let go of it. *UNSEEN
 * (0 at first) counts how often nobody was seen to trace it, and ends that. Who has ended cannot be traced at all: false. It may sleep for a moment.
 */
bool tracing_passes(const struct session *s, pid_t tid, unsigned *unseen);

/* Between two tries. */
void passing_nap(void);

/*
 * SEIZE (trace_seize() or its like) of J's caller, again for as long as that passes: then J's worker is no longer counted on to receive. Returns as SEIZE
 * does; -EAGAIN: usher wants the caller in a stop (tracers_await()), so that its call should be restarted at once; -EBUSY: it did not pass in all the tries.
 */
int seize_caller(struct job *j, int (*seize)(pid_t tid));

#endif
