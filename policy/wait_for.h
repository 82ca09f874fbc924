/* SPDX-License-Identifier: Apache-2.0 */
/* poll(2) for usher's own few descriptors. */
#ifndef USHER_POLICY_WAIT_FOR_H
#define USHER_POLICY_WAIT_FOR_H

#include <poll.h>

/*
 * As poll(2). Where somebody outside has lowered usher's limit on open files (prlimit) to less than N, the kernel takes so many at once no more
 * (EINVAL), and select(2) waits, which does not look at descriptors from FD_SETSIZE on.
 */
int wait_for(struct pollfd *p, unsigned n, int ms);

#endif
