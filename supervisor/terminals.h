/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which terminals are the tree's own: those the command was started on, and those that were made within the tree by opening
 * ptmx. For rules that say own.
 *
 * MUST: a number that was given back and came to somebody else is no longer the tree's: each pseudo-terminal is held by a path
 * descriptor, which its end leaves without a link.
 */
#ifndef USHER_SUPERVISOR_TERMINALS_H
#define USHER_SUPERVISOR_TERMINALS_H

#include <stdbool.h>
#include <sys/stat.h>

struct terminals;

/*
 * With those that are behind descriptors 0 to 2, usher's controlling terminal, and RELAY (-1: none). Before the command starts. 0 or
 * -ENOMEM. Lives as long as the session.
 */
int terminals_new(int relay, struct terminals **out);

/* A pair was opened for the tree: MASTER. Before the caller gets it. What cannot be kept is nobody's. T may be NULL. Any thread. */
void terminals_made(struct terminals *t, int master);

/* Whether ST, read from a held descriptor, is a terminal of the tree's. T may be NULL. Any thread. */
bool terminals_own(struct terminals *t, const struct stat *st);

/* Whether ST is the device that makes pairs. */
bool terminals_maker(const struct stat *st);

#endif
