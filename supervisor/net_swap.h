/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connect that is led to another family: IPv4 to IPv6, TCP to a unix socket, a unix stream to TCP. The caller's socket cannot go there, so that another one
 * takes its place under the same number.
 *
 * MUST: the caller's descriptor is replaced only by a socket that is connected, or about to be, to what the rule names.
 */
#ifndef USHER_SUPERVISOR_NET_SWAP_H
#define USHER_SUPERVISOR_NET_SWAP_H

#include "supervisor/job.h"
#include "supervisor/sockaddr.h"

/*
 * Exchanges job->sock for a fresh socket when a socket of KIND cannot go TO: same type, same mode, same options. Returns 0 when the socket will
 * do, 1 when it was exchanged, -EAFNOSUPPORT or -EPROTOTYPE where the protocol does not allow it (datagrams), or another negative errno.
 */
int net_swap_prepare(struct job *j, const struct socket_kind *kind, const struct object *to);

/* Puts job->sock into the caller's table as FD, and back into the epoll sets that FD was in. 0 or a negative errno. */
int net_swap_install(struct job *j, int fd);

#endif
