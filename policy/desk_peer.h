/* SPDX-License-Identifier: Apache-2.0 */
/* Who is at the other end of the desk's socket. */
#ifndef USHER_POLICY_DESK_PEER_H
#define USHER_POLICY_DESK_PEER_H

#include <sys/types.h>

/*
 * Whether the peer of connected socket FD may answer: the same user (or root), neither a descendant of this process nor
 * another usher, which would connect for its own tree.
 * Returns 0 with *pid and *uid, or -EACCES, also when that cannot be told.
 */
int desk_peer_check(int fd, pid_t *pid, uid_t *uid);

#endif
