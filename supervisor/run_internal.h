/* SPDX-License-Identifier: Apache-2.0 */
/* What run.c and run_prepare.c share. */
#ifndef USHER_SUPERVISOR_RUN_INTERNAL_H
#define USHER_SUPERVISOR_RUN_INTERNAL_H

#include <linux/filter.h>
#include <limits.h>
#include <stdbool.h>

#include "supervisor/environment.h"
#include "supervisor/isolate.h"
#include "supervisor/launch.h"
#include "supervisor/run.h"
#include "supervisor/session.h"
#include "supervisor/supervise.h"
#include "supervisor/victim.h"

/* All that a session holds while it runs. Its memory and descriptors go with the process. */
struct run {
	struct session s;
	struct sock_fprog filter;
	struct floor *floor;
	const char *limited; /* the limit that has ended the tree */
	bool unclosed;       /* the journal is without its end */
	struct isolation isolation;
	struct cover *cover;
	struct environment environment;
	struct relay *relay;
	struct outlets *outlets; /* beside a relay */
	struct launch_options launch;
	struct launch_ends ends;
	struct ahead *ahead; /* how the command's process is told what to do, where it was made ahead of the rules: launch.ahead until it is told */
	struct supervise_result result;
	struct victim victim;
	int signals;
	bool network_restricted; /* by some rule or default */
	int number;          /* usher's process number for others, 0: its own */
	const char *program; /* usher's own, by its real name; NULL: it has none */
	bool begun;          /* the first records are in the journal */
	bool working;        /* there may be calls */
	int interrupted;     /* relay_interrupted(), at the end */
	char journal[PATH_MAX];
};

/* Says on stderr what failed with RC, a negative errno, which it returns; WHY may be NULL. */
int run_complain(const char *what, int rc, const char *why);

/* What of NAME a terminal can show: as names are shown. The caller frees it. NULL without memory. */
char *run_shown(const char *name);

/* With the rules known: a start is held on few cores from here on (together.h), or, with threads that it would hold as well, not any more. */
void run_hold_start(struct run *run, const struct run_options *o);

/* Makes the journal run->journal, unless it is there. Returns 0 or a negative errno; failures of both are said on stderr. */
int run_open_journal(struct run *run, const struct run_options *o);

/* All that stands before the command is started: rules, journal's name, Landlock domain, limits, its environment. Returns 0 or less. */
int run_prepare(struct run *run, const struct run_options *o);

/* run_end.c: when nothing is left of the tree: workers, terminal and journal come to their end, and what a person has to hear is said. */
void run_close(struct run *run);

/* The status that usher exits with; *by_signal: the signal that ended the command, or 0. */
int run_exit_status(const struct run *run, const struct run_options *o, int *by_signal);

/* What did not start. Once there was a command the end of this process ends it, and workers may still write: the journal stays open, as after a kill. */
void run_abandon(struct run *run);

#endif
