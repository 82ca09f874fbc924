/* SPDX-License-Identifier: Apache-2.0 */
/* Which session a desk's files belong to. */
#ifndef USHER_POLICY_DESK_CLAIM_H
#define USHER_POLICY_DESK_CLAIM_H

/*
 * Locks DIR/NUMBER.token, which is made where it is missing, for as long as the descriptor is open. Process numbers cannot tell whether the
 * session lives that the files are of: in another pid namespace they are others.
 * Returns the descriptor, -EWOULDBLOCK where a living session has it, or another -errno.
 */
int desk_claim(const char *dir, int number);

#endif
