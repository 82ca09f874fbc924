/* SPDX-License-Identifier: Apache-2.0 */
/* The cheap way to a name; for the resolver only. */
#ifndef USHER_SUPERVISOR_RESOLVE_TENTATIVE_H
#define USHER_SUPERVISOR_RESOLVE_TENTATIVE_H

#include "supervisor/resolve.h"

/*
 * Returns 1 when T was filled tentatively: an absolute name with dir -1, or a directory in dir and the name below it in
 * leaf. 0 when another way is needed (T may hold descriptors), or a negative errno.
 */
int tentative(struct job *j, const struct look *l, struct target *t);

#define TENTATIVE_PREFIX 64

/*
 * On merged systems /lib, /bin, ... are links. Reading one costs much less than meeting it. What one that PATH begins with means goes to TO
 * (TENTATIVE_PREFIX bytes): returns its length, and in *skip that of what it replaces; 0: PATH begins with none.
 */
size_t tentative_merged(const char *path, size_t len, char *to, size_t *skip);

#endif
