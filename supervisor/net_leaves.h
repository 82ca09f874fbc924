/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to loopback that would leave the machine. The kernel looks up 127.0.0.0/8 and ::1 like any other address where a socket is bound to an
 * interface, or a message names one: they go out there then, to whoever listens on the wire. The options that do it (SO_BINDTODEVICE and
 * its like) the filter refuses where rules confine addresses (WHEN_ROUTED); what is left is looked at here: a socket that a
 * link-local address has bound, or that was made outside, and what a message says.
 */
#ifndef USHER_SUPERVISOR_NET_LEAVES_H
#define USHER_SUPERVISOR_NET_LEAVES_H

#include "supervisor/job.h"

/* -EPERM where what goes to T (NULL: nothing was decided) on the job's socket, connected or sent, would leave; else 0. */
int net_leaves(const struct job *j, const struct target *t);

/*
 * As net_leaves(), of a packet that leaves by INTERFACE (0: none is said). Where it has no address *to becomes that of the socket's peer, which another
 * thread cannot change then, and *len its length.
 */
int net_leaves_by(const struct job *j, const struct target *t, unsigned interface, struct sockaddr_storage *to, int *len);

#endif
