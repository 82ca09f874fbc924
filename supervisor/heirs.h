/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who of the tree has a socket: a server that listens, and then leaves its work to a child (daemons do), has it in another process than the one that
 * called listen(2). Takes a look at every process of the tree.
 *
 * MUST: who is found was of the tree, and had the socket, at one and the same time.
 */
#ifndef USHER_SUPERVISOR_HEIRS_H
#define USHER_SUPERVISOR_HEIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct procs;

struct heir {
	pid_t pid;
	int fd;
};

struct sought {
	const ino_t *ino; /* what sockfs calls the sockets, for a first look */
	size_t n;
	bool (*fits)(const void *arg, int sock);
	const void *arg;
};

/* Any thread. */
bool heirs_find(struct procs *ps, const struct sought *what, struct heir *out);

#endif
