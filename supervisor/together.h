/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the parts of a start run. The command confines itself while usher makes the journal: keeper, guardian and command do so on another
 * core, where one has nothing to do, and usher goes on where it began. Each stays there meanwhile, as each hands on to the next, and
 * waking another core costs more than the next one's work (docs/PERFORMANCE.md).
 *
 * MUST: the command's program finds the processors that usher was started with.
 */
#ifndef USHER_SUPERVISOR_TOGETHER_H
#define USHER_SUPERVISOR_TOGETHER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct together {
	cpu_set_t home;     /* what to go back to */
	cpu_set_t now;      /* what usher may use */
	cpu_set_t core;     /* usher's own */
	cpu_set_t others;   /* all but that, or that where none of them is idle */
	bool known;         /* false: there is but one, or it cannot be told what to go back to */
	bool held;          /* some thread is, or was */
	atomic_bool leaves; /* the command is still held */
};

/* Finds the cores and what to go back to. */
void together_find(struct together *t);

/* With what was found: a start is to be held on few cores. Nobody is held yet. */
void together_begin(struct together *t);

/* Holds the calling thread, and what it starts from here on, on usher's core. */
void together_stay(const struct together *t);

/* The same, on the others where it was found that one of them is idle. */
void together_apart(const struct together *t);

/* Lets thread TID (0: the calling one) go where it likes. */
void together_leave(const struct together *t, pid_t tid);

/* Nobody is held any more, nor will be. Threads: the one that began. */
void together_end(struct together *t);

/* Thread TID had BEFORE (of its own, or as all) when it was held by other means: it gets that back. */
void together_restore(const struct together *t, pid_t tid, const cpu_set_t *before);

/* The command's program is there. Only the first call does something. */
void together_command(struct together *t, pid_t command);

#endif
