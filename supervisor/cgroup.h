/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control group (version 2) of usher's own, where the kernel lets it make one: its processor time counts everybody who was ever in it,
 * also those that nobody waited for; it ends all of them at once; and where the controllers are delegated, it holds memory and tasks.
 *
 * It is made below the group that usher runs in, or beside it. Controllers can be switched on below a group with no processes in it
 * alone: where usher is the only one there (systemd-run -p Delegate=yes), it steps aside into a group of its own and comes back at the end.
 *
 * MUST: the command is in it before its exec, usher, its keeper and its guardian never are; no name in it can be changed by the command
 * (the guard layer closes every place where control groups are mounted: policy_setup.c).
 */
#ifndef USHER_SUPERVISOR_CGROUP_H
#define USHER_SUPERVISOR_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the group is to hold: 0: nothing of that kind. */
struct cgroup_wants {
	uint64_t memory; /* bytes; what would go to swap counts */
	uint64_t tasks;  /* processes and threads */
};

struct cgroup {
	int dir;           /* its directory, locked as long as somebody needs it; -1: none was made */
	int procs;         /* its cgroup.procs, for who joins */
	bool memory, tasks; /* held by the kernel */
	char path[PATH_MAX];
	char aside[PATH_MAX]; /* where usher has gone for it, "" when it stayed */
	int aside_dir;        /* that directory, locked */
};

/* What has happened in it so far. */
struct cgroup_events {
	uint64_t memory; /* times that memory had run out */
	uint64_t tasks;  /* times that one more was refused */
};

/* Returns 0, or a negative errno with none made: not mounted, or not ours to change. */
int cgroup_make(const struct cgroup_wants *wants, struct cgroup *g);

/* As cgroup_make(), for the group NAME (begins with a slash) of the tree at MOUNT. For tests, too. */
int cgroup_make_in(const char *mount, const char *name, const struct cgroup_wants *wants, struct cgroup *g);

/* The calling process, which shares usher's descriptors still, goes into it. Fine without one. Returns 0 or a negative errno. */
int cgroup_join(const struct cgroup *g);

/* Milliseconds of processor time. Returns 0 or a negative errno. */
int cgroup_cpu_ms(const struct cgroup *g, uint64_t *out);

/* The most bytes that were ever in use. Returns 0 or a negative errno: its memory is not held. */
int cgroup_memory(const struct cgroup *g, uint64_t *out);

/* What cannot be read has not happened. Fine without a group. */
void cgroup_look(const struct cgroup *g, struct cgroup_events *out);

/* SIGKILL to all in it, at once (Linux 5.14). Fine without one. */
void cgroup_kill(const struct cgroup *g);

/* Removes it, and comes back from aside. Nobody is in it any more. */
void cgroup_end(struct cgroup *g);

#endif
