/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces by wish (`--isolate=pid,ipc`): usher makes them before anything else and lives in them with the command, so that
 * numbers, names and mounts mean the same to both. Only the network's is the command's alone: see isolate.h.
 *
 * With `pid`, usher is the first process of its namespace: when it ends, however that happens, the kernel ends the tree. A process stays
 * outside that hands signals in and the exit status out; nothing in the tree can name it.
 */
#ifndef USHER_SUPERVISOR_SPACES_H
#define USHER_SUPERVISOR_SPACES_H

#include <stdbool.h>
#include <stddef.h>

#define SPACES_WORDS "auto, none, or a list of net, pid, ipc, uts, cgroup, mount (tmp and shm), tmp, shm"

struct spaces {
	bool net, pid, ipc, uts, cgroup, tmp, shm;
};

/* LIST as --isolate has it; NULL, auto and none wish for nothing. Returns 0, or -EINVAL for a word that is none. */
int spaces_parse(const char *list, struct spaces *out);

/* Whether anything but net is wished for. */
bool spaces_any(const struct spaces *s);

/* The directory around NAME, which has no links in it, that they make empty; NULL: none. */
const char *spaces_emptied(const struct spaces *s, const char *name);

/*
 * Makes them, all but net. Call before there are threads. Returns 0 inside them, or a negative errno with *STEP saying what could not be done:
 * then the process must end. With pid this returns twice, as fork(): also 1 in the process that stays outside, with *OTHER the other's
 * number, as inside; *LINK and *PEERS are sockets between the two (see outside.h and outside_peer.h), -1 without. An ordinary user gets a user namespace too.
 */
int spaces_enter(const struct spaces *s, int *link, int *peers, int *other, const char **step);

/* Whether each could be made here, tried in a child: an errno or 0, by index of NAMES; returns how many. */
struct space_trial {
	const char *name;
	int error;
	bool user; /* takes a user namespace */
};
#define SPACES_KINDS 6
size_t spaces_try(struct space_trial out[SPACES_KINDS]);

#endif
