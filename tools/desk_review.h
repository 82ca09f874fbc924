/* SPDX-License-Identifier: Apache-2.0 */
/* usher desk review: what rules with review allowed, to be marked right or wrong. */
#ifndef USHER_TOOLS_DESK_REVIEW_H
#define USHER_TOOLS_DESK_REVIEW_H

#include <stdbool.h>

struct review_call {
	const char *word;    /* list, show, right, wrong, rules */
	const char *id;      /* NULL for list and rules */
	const char *message; /* "" when absent */
	const char *journal; /* NULL: the sessions that run */
	bool json;
	bool all;            /* list: those that were marked, too */
};

/* ARGV[0] is "review". Returns the exit status. */
int desk_review(int argc, char **argv);

/* The same on the journal C->journal, of a session that may be over. Returns the exit status. */
int review_journal(const struct review_call *c);

#endif
