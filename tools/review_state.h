/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a journal's calls while rules are made of them. */
#ifndef USHER_TOOLS_REVIEW_STATE_H
#define USHER_TOOLS_REVIEW_STATE_H

#include "tools/review_names.h"
#include "tools/review_spread.h"
#include "tools/rule_files.h"

#define REVIEW_SECRETS "builtin:secrets"
#define REVIEW_PIDS 4194304 /* the kernel's own bound */

struct ruleset;

struct review_rules {
	struct rule_variables variables;
	struct ruleset *secrets;
	struct review_names names;
	struct review_spread spread;
	struct review_names given; /* addresses whose ports the kernel chose, which are others next time */
	size_t unnamed;
	unsigned char pids[REVIEW_PIDS / 8]; /* what has called so far, a bit each */
};

/* What stands before a name: a terminal, whose number is another one next time; and, before none, of an address's ports any that the tree itself listens at. */
extern const char review_terminal[], review_own_port[];

#endif
