/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seccomp filter of the command: built from the disposition table and installed in the child.
 *
 * MUST: another architecture, x32 and every number that the table does not know get ENOSYS; nothing
 * but the table decides which calls reach usher.
 */
#ifndef USHER_SUPERVISOR_FILTER_H
#define USHER_SUPERVISOR_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/net_filter.h"

struct policy;

struct filter_options {
	const struct policy *policy; /* NULL: no rule tells one program of the tree from another */
	bool privileged;             /* the command starts as root or with capabilities */
	bool sighted;                /* usher reads processes that hide themselves: privileges_read_any() */
	bool trap_stat;              /* some rule names stat */
	struct net_sockets sockets;  /* which some rule could give */
	bool domain;                 /* the command enters a Landlock domain: ptrace and its like end at its border */
	bool reads;                  /* opens for reading are left to the kernel: cover.h */
	bool groups;                 /* UDP may be sent to everybody */
	bool anywhere;               /* and TCP connected: by which interface packets leave is the command's to say */
	bool changes;                /* every file may be changed, whoever asks: who holds one up does no more than that */
	bool scoped;                 /* that domain scopes signals (ABI 6); implies domain */
	bool (*lacks)(int nr);       /* whether the running kernel has no such call: it does not exist then (kernel_calls.h). NULL: it has all */
};

/*
 * Builds the program into *out (free with filter_free). Allocates. Returns 0, or a
 * negative errno with *why set to a static text of what failed.
 */
int filter_build(const struct filter_options *options, struct sock_fprog *out, const char **why);

/* Whether a filter made with options.reads leaves this open, by its first three arguments, to the kernel. False for other calls. */
#define FILTER_OPEN_ARGS 3
bool filter_leaves_open(int nr, const uint64_t arg[FILTER_OPEN_ARGS]);

/* Safe on a zeroed program. */
void filter_free(struct sock_fprog *program);

/*
 * In the child: sets no_new_privs and installs PROGRAM for the calling thread; *listener gets the notification
 * descriptor (close-on-exec). Async-signal-safe. Returns 0 or a negative errno.
 */
int filter_install(const struct sock_fprog *program, int *listener);

/* Whether the kernel knows these SECCOMP_FILTER_FLAG_* (each together with those it depends on). */
bool filter_flags_known(unsigned flags);

/* Whether this process is in a session of usher already: there can be no second one within. */
bool filter_inside(void);

#endif
