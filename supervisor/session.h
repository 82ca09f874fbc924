/* SPDX-License-Identifier: Apache-2.0 */
/* One run: what all parts of the supervisor share, set once before the command starts. */
#ifndef USHER_SUPERVISOR_SESSION_H
#define USHER_SUPERVISOR_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct policy;
struct questions;
struct journal;
struct procs;
struct pool;

struct session {
	int listener;            /* seccomp notification descriptor */
	int self_proc;           /* O_PATH of /proc */
	dev_t proc_dev;          /* st_dev of /proc */
	pid_t usher;             /* own pid */
	pid_t guardian;          /* parent of the command; every process of the tree descends from it */
	pid_t command;           /* first process of the tree */
	bool privileged;         /* usher holds privileges that a target may have dropped: check credentials */
	atomic_bool creds_moved; /* some process of the tree has changed its credentials */
	atomic_bool roots_moved; /* some process has changed its root directory */
	struct policy *policy;
	struct questions *questions;
	struct journal *journal;
	struct procs *procs;
	struct pool *pool;
};

#endif
