/* SPDX-License-Identifier: Apache-2.0 */
/* usher desk review: what rules with review allowed, to be marked right or wrong. */
#ifndef USHER_TOOLS_DESK_REVIEW_H
#define USHER_TOOLS_DESK_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#define REVIEW_JOURNALS 64

struct review_call {
	const char *word;    /* list, show, right, wrong, rules */
	const char *id;      /* NULL for list and rules */
	const char *message; /* "" when absent */
	const char *journal[REVIEW_JOURNALS]; /* none: the sessions that run; more than one: rules */
	size_t journals;
	bool json;
	bool all;            /* list: those that were marked, too */
};

/* ARGV[0] is "review". Returns the exit status. */
int desk_review(int argc, char **argv);

/* The same on the journal that C names, of a session that may be over, or the rules of several. Returns the exit status. */
int review_journal(const struct review_call *c);

#endif
