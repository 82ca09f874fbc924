/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who goes first where memory runs out: the tree, not usher, which would take the tree along. The score is inherited: usher raises its own before
 * it starts anybody, and takes that back for itself.
 *
 * MUST: the file is opened while usher can be dumped: later it is root's.
 */
#ifndef USHER_SUPERVISOR_VICTIM_H
#define USHER_SUPERVISOR_VICTIM_H

struct victim {
	int fd;  /* usher's own score; -1: it cannot be changed */
	int was;
};

/* Before usher hides itself. Where it does not work all stays as it is. */
void victim_raise(struct victim *v);

/* After the start: usher alone is what it was. */
void victim_lower(struct victim *v);

#endif
