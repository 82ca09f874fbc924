/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that takes part in a start stays on the core it began on: the command until its program is there, usher, keeper and guardian for the
 * first milliseconds, in which the program may end. Each hands on to the next, and waking another core costs more than the next one's work
 * (docs/PERFORMANCE.md).
 *
 * MUST: the command's program finds the processors that usher was started with.
 */
#ifndef USHER_SUPERVISOR_TOGETHER_H
#define USHER_SUPERVISOR_TOGETHER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct together {
	cpu_set_t home, core;
	bool held;          /* false: there is nothing to hold, or it cannot be told what to go back to */
	atomic_bool leaves; /* the command is still held */
};

/* Finds the core and what to go back to. Nobody is held yet. */
void together_begin(struct together *t);

/* Holds the calling thread, and what it starts from here on. */
void together_stay(const struct together *t);

/* Lets thread TID (0: the calling one) go where it likes. */
void together_leave(const struct together *t, pid_t tid);

/* The command's program is there. Only the first call does something. */
void together_command(struct together *t, pid_t command);

#endif
