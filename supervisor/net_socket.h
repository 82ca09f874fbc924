/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's socket, pinned, and the objects that an address on it stands for.
 *
 * MUST: decided and performed are on job->sock, duplicated once; the address that is
 * used is the one in job memory that was decided on.
 */
#ifndef USHER_SUPERVISOR_NET_SOCKET_H
#define USHER_SUPERVISOR_NET_SOCKET_H

#include "supervisor/job.h"
#include "supervisor/sockaddr.h"

struct sockaddr_nl;

/*
 * Duplicates the caller's descriptor FD into job->sock (once) and reads what kind of socket it is. Returns 0,
 * or -EBADF or -ENOTSOCK as natively.
 */
int net_socket(struct job *j, int fd, struct socket_kind *out);

/*
 * As net_socket(), with fewer questions to the kernel where ADDRESS has been copied: of a TCP socket *out says AF_INET, whichever
 * of the two families it has, of a unix socket with a unix address SOCK_STREAM, whichever type. To connect they mean the same.
 */
int net_socket_connecting(struct job *j, int fd, struct text address, struct socket_kind *out);

/* Copies an address argument as the kernel does: 0 with *out absent for length 0, -EINVAL, -EFAULT. */
int net_address(struct job *j, uint64_t addr, int64_t len, struct text *out);

/*
 * Whether rules say nothing of the addresses that such a socket is given, since it could be made by a rule on socket alone: they are
 * copied and passed on. Without such rules whoever has one (from outside) is refused.
 */
bool net_unruled(const struct job *j, const struct socket_kind *kind);

/*
 * Adds the target (two for a unix bind) that the address BYTES of the job stands for, with OP. *index is its number, or -1 when
 * there is nothing to decide; *ignored (may be NULL) tells that nothing of the address is to be passed but its length. Pins a destination of 0.0.0.0 or :: in
 * BYTES. Returns 0, -ENOSPC when the job has no room for another target, or an errno as natively.
 */
int net_target(struct job *j, const struct socket_kind *kind, struct text bytes, op_set op, int *index, bool *ignored);

/*
 * Whether the call may be left to the kernel: a caller without threads, whose descriptors no other process shares, on a connected-only unix
 * socket (stream, seqpacket). There the kernel uses no address, and nobody can put another socket under the number. Peers then see the
 * caller itself as the sender.
 */
bool net_caller_may(struct job *j, const struct socket_kind *kind);

/* Whether the descriptor is in blocking mode. */
bool net_blocks(int sock);

/* How many milliseconds a send may wait (SO_SNDTIMEO), -1: for ever. */
int net_send_timeout(int sock);

/* What a wait that a signal ended is answered with: restarted by the kernel as natively, but not with a timeout. */
int net_interrupted(int sock);

/*
 * The address the kernel is given: the bytes as said, or the held unix socket of target T (may be NULL) through /proc/self/fd. Returns
 * its length (0: no address), or a negative errno.
 */
int net_destination(struct job *j, const struct target *t, struct text bytes, struct sockaddr_storage *out);

/* Points T at TO on the job's socket; *bytes becomes the new address. Returns 0 or a negative errno. */
int net_retarget(struct job *j, struct target *t, const struct object *to, struct text *bytes);

/*
 * Whether nobody has the unix socket that T, a path that the job connects to, leads to, as its caller finds (net_vacant.c). False where that cannot be told. Who
 * has it hears nothing of it.
 */
bool net_unix_vacant(struct job *j, const struct target *t);

/* Whether SOCK is a netlink socket that has no number yet; *now is its address then. */
bool net_unnumbered(int sock, struct sockaddr_nl *now);

/*
 * Gives a netlink socket without a number that of the caller's process before it connects or sends: the kernel would take usher's. Where it is
 * taken the kernel finds another. Groups that the socket has joined stay.
 */
void net_own_number(struct job *j);

/* The record of a bind or listen that left the port, or an abstract name, to the kernel says which it gave. */
void net_tell_given(const struct job *j);

/* Closes our copy of the socket, then sets the reply: a second reference would keep a port or a connection alive when the caller runs on. */
int net_answer(struct job *j, long rc);

#endif
