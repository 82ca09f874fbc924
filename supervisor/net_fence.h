/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding a unix socket to exactly the bytes that the program said, in exactly the directory that was decided on.
 *
 * The socket remembers the bytes: getsockname and every peer see them, so they cannot be replaced
 * by another way to the same place. But the kernel would walk them again, and a directory on the way can be swapped
 * meanwhile. So the walk is done by a thread of its own that Landlock allows to make sockets below the decided directory alone.
 */
#ifndef USHER_SUPERVISOR_NET_FENCE_H
#define USHER_SUPERVISOR_NET_FENCE_H

#include <sys/socket.h>
#include <sys/un.h>

struct fence {
	int sock;                /* the caller's socket */
	struct sockaddr_un addr; /* as said */
	socklen_t len;
	const char *leaf;        /* last component */
	int base;                /* O_PATH: where a relative name starts, -1: unknown */
	int dir;                 /* O_PATH: the directory decided on */
};

/*
 * Binds, with this thread's credentials and umask. Returns 0, a negative errno as bind gives it, or 1 when the name came
 * into being elsewhere than in DIR. Where the bytes do not lead to DIR for usher (another root, /proc/self/fd), the leaf alone
 * is bound from within DIR: getsockname then shows the leaf.
 */
int fence_bind(const struct fence *f);

#endif
