/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control group (version 2) of usher's own, below the one it runs in, where the kernel lets it make one: its processor time
 * counts everybody who was ever in it, also those that nobody waited for.
 */
#ifndef USHER_SUPERVISOR_CGROUP_H
#define USHER_SUPERVISOR_CGROUP_H

#include <limits.h>
#include <stdint.h>

struct cgroup {
	int dir;   /* its directory, -1: none was made */
	int procs; /* its cgroup.procs, for who joins */
	char path[PATH_MAX];
};

/* Returns 0, or a negative errno with none made: not mounted, or not ours to change. */
int cgroup_make(struct cgroup *g);

/* The calling process, which shares usher's descriptors still, goes into it. Fine without one. Returns 0 or a negative errno. */
int cgroup_join(const struct cgroup *g);

/* Milliseconds of processor time. Returns 0 or a negative errno. */
int cgroup_cpu_ms(const struct cgroup *g, uint64_t *out);

/* Removes it. Nobody is in it any more. */
void cgroup_end(struct cgroup *g);

#endif
