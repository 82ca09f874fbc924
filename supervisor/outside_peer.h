/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is at the other end of the desk's socket, where usher is in a pid namespace and sees no number of those outside: the process that stays
 * outside looks (see outside.h). The two are joined by a socket of their own.
 */
#ifndef USHER_SUPERVISOR_OUTSIDE_PEER_H
#define USHER_SUPERVISOR_OUTSIDE_PEER_H

#include <sys/types.h>

/*
 * From inside, by one thread: as desk_peer_check(), for the connected socket FD, by the process at the other end of SOCK. -EACCES also when that
 * says nothing for OUTSIDE_PEER_MS: it is stopped, or has ended.
 */
#define OUTSIDE_PEER_MS 2000
int outside_peer_ask(int sock, int fd, pid_t *pid, uid_t *uid);

/* From outside: answers one question on SOCK, which is readable. */
void outside_peer_answer(int sock);

#endif
