/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the keeper, the guardian and the command, confines the command, and hands over the listener.
 *
 * These, usher and the keeper share one descriptor table (CLONE_FILES) until each takes its own:
 * so the listener that the command's seccomp(2) makes appears in usher's table
 * without a message that the filter itself would stop, and the command's own copy is
 * gone before its exec. MUST: usher is the only holder of the listener when the first call is received.
 */
#ifndef USHER_SUPERVISOR_LAUNCH_H
#define USHER_SUPERVISOR_LAUNCH_H

#include <linux/filter.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#include "supervisor/guardian.h"
#include "supervisor/session.h"

struct floor;
struct cover;
struct isolation;
struct limits;
struct rescue;

struct launch_options {
	char *const *argv;
	char *const *envp;
	const int *keep;               /* descriptors above 2 the command inherits, ascending */
	size_t n_keep;
	const struct sock_fprog *filter;
	const struct floor *floor;     /* NULL: none */
	const struct isolation *isolation;
	const struct cover *cover;     /* NULL: none */
	const struct limits *limits;   /* NULL: none */
	const struct rescue *rescue;   /* the real terminal, given back when usher is killed; NULL: none */
	int terminal;                  /* the command's own terminal (its pty's slave), -1: shares usher's */
	sigset_t mask;                 /* the signal mask usher was started with */
	struct rlimit files;           /* RLIMIT_NOFILE usher was started with */
};

/*
 * Starts the command. On 0 s->keeper, s->guardian, s->command, s->control, s->status and s->listener
 * are set and the command waits in its first call. On failure returns a negative errno with *report telling
 * the step. Call before any worker thread exists.
 */
int launch(struct session *s, const struct launch_options *o, struct report *report);

/* Receives the next report. Returns 1, 0 when there is no more to come, or a negative errno. */
int launch_report(struct session *s, struct report *report);

#endif
