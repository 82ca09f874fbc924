/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control messages of the caller, made over so that usher can send them. Pure but for
 * the callback that fetches descriptors.
 *
 * MUST: a descriptor number of the caller is never sent as a number of usher's own: the buffer that goes to the
 * kernel is built anew from what was understood, and what is not understood is refused.
 */
#ifndef USHER_SUPERVISOR_NET_CONTROL_H
#define USHER_SUPERVISOR_NET_CONTROL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define CONTROL_MAX_FD 253 /* SCM_MAX_FD */

struct control {
	char *bytes;   /* malloc'd: what the kernel is given */
	size_t len;
	int *fd;       /* malloc'd: descriptors of ours that are in it */
	size_t n_fd;
	size_t ucred;  /* offset of the credentials in bytes, 0 when there are none */
};

struct control_source {
	int domain;
	int (*fetch)(void *context, int fd); /* a duplicate of the caller's FD, or a negative errno */
	void *context;
};

/*
 * Builds *OUT from the LEN bytes IN. Returns 0, -EINVAL for a malformed message, -EPERM for one that would route packets elsewhere than to
 * their address (IP_RETOPTS, routing headers), -EBADF, -ENOMEM, or what fetch returned. *OUT is control_free()d in every case.
 */
int control_build(const struct control_source *source, const void *in, size_t len, struct control *out);

/*
 * The source that the LEN bytes IN give a packet of IPv4 (ip(7), IP_PKTINFO), into *source: what goes to no address goes there. Returns false where
 * they give none.
 */
bool control_packet_source(const void *in, size_t len, struct in_addr *source);

/* The interface other than loopback (1) that some message of the LEN bytes IN sends a packet by (IP_PKTINFO, IPV6_PKTINFO), 0: there is none. */
unsigned control_interface(const void *in, size_t len);

/* Adds credentials, unless there are some. */
int control_credentials(struct control *c, const struct ucred *who);

/* Adds that the call is not to be stamped (SO_TIMESTAMPING), behind what is counted: returns the whole length, 0 without memory. Adds no credentials. */
size_t control_unstamped(struct control *c);

void control_free(struct control *c);

#endif
