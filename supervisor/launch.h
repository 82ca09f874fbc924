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

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "supervisor/filter.h"
#include "supervisor/guardian.h"
#include "supervisor/own_limits.h"
#include "supervisor/session.h"

struct ahead;
struct cover;
struct isolation;
struct limits;
struct outlets;
struct rescue;

#define LAUNCH_KEEP 64

struct launch_options {
	char *const *argv;
	char *const *envp;
	const int *keep;               /* descriptors above 2 the command inherits, at most LAUNCH_KEEP: with more it is not started */
	size_t n_keep;
	struct filter_options filter;
	const struct sock_fprog *program; /* what filter_build() made of them */
	struct ahead *ahead;           /* the three are made before the rules are read, and the command waits to be told; NULL: all is known */
	int floor;                     /* floor_ruleset(); -1: none */
	const struct isolation *isolation;
	bool sockets_asked;            /* session.diag is there */
	const struct cover *cover;     /* NULL: none */
	const struct limits *limits;   /* NULL: none */
	const struct rescue *rescue;   /* the real terminal, given back when usher is killed; NULL: none */
	const struct together *together; /* where all of them are until the command's program is there */
	int terminal;                  /* the command's own terminal (its pty's slave), -1: shares usher's */
	unsigned device;               /* with that: the real one, as TIOCGDEV says; 0: unknown */
	struct outlets *outlets;       /* pipes it gets instead of its own; NULL: none */
	pid_t managed;                 /* what a service manager knows usher by, and means the command by (addressed.h) */
	bool network_stays;            /* the command lays down CAP_NET_ADMIN: it changes no addresses and no routes */
	bool ignore_children;          /* usher was started with SIGCHLD ignored */
	sigset_t mask;                 /* the signal mask usher was started with */
	struct own_limits limits_before; /* what usher was started under */
};

/* Their ends of what joins them to usher: in the shared table until launch_await() closes them. */
struct launch_ends {
	int status, orders;
};

/*
 * Starts the three, which build the filter and confine themselves beside what usher does meanwhile. The command's exec is
 * its first call that the filter stops: it waits for a worker. Call before any other thread exists. On 0 s->keeper, s->control and
 * s->status are set; a later failure of usher's own just ends usher: the others follow. Returns a negative errno on failure.
 *
 * With O->ahead the command waits for ahead_tell(); nothing of O is needed before but argv, keep, together, mask and files.
 */
int launch(struct session *s, const struct launch_options *o, struct launch_ends *ends);

/*
 * Gives up what was launched ahead, and waits for its end: it shares usher's descriptor table until then. Returns 0, or -ECHILD: somebody killed the
 * keeper, and nobody knows whether the others still are there.
 */
int launch_drop(struct session *s, struct ahead *ahead, const struct launch_ends *ends);

/*
 * Waits until all have a descriptor table of their own, and closes ENDS in usher's. On 0 s->guardian, s->command and s->listener are set. On
 * failure returns a negative errno with *report telling the step.
 */
int launch_await(struct session *s, const struct launch_ends *ends, struct report *report);

/* Receives the next report. Returns 1, 0 when there is no more to come, or a negative errno. */
int launch_report(struct session *s, struct report *report);

#endif
