/* SPDX-License-Identifier: Apache-2.0 */
/* A whole session, from the command line's wishes to the exit status. */
#ifndef USHER_SUPERVISOR_RUN_H
#define USHER_SUPERVISOR_RUN_H

#include <stdbool.h>
#include <stddef.h>

#define RUN_FAILED 125 /* usher's own failure, as env(1) */

struct run_options {
	char *const *argv;
	const char *const *files; /* rule files, in order; none: builtin:agent */
	size_t n_files;
	const char *ask;          /* channel word, NULL: the best there is */
	const char *journal;      /* directory, NULL: a new one in the default place */
	const char *sync;         /* each, batch, none; NULL: none */
	const char *anchor;       /* NULL: none */
	const int *keep;          /* descriptors to inherit, ascending */
	size_t n_keep;
	bool wait;                /* wait for processes the command leaves behind */
	bool no_floor;            /* without the Landlock floor */
	const char *require;      /* words of floor_require.h without which the session does not start; NULL: none */
	const char *isolate;      /* auto, none or net; NULL: auto */
	bool profile;             /* say at the end where the time of a call went */
};

/*
 * Runs the session. Returns the exit status for usher: the command's, or 125 to 127. When the command was ended by a signal,
 * *by_signal is that signal (else 0): the caller ends itself likewise.
 */
int run_session(const struct run_options *o, int *by_signal);

#endif
