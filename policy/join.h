/* SPDX-License-Identifier: Apache-2.0 */
/* What two verdicts on the same operation come to, and what a question without an answer does. Pure. */
#ifndef USHER_POLICY_JOIN_H
#define USHER_POLICY_JOIN_H

#include "rules/rule.h"

/* B joins A: the stricter decides, of equals the first, but for one that says more; what either wants written is written. */
void verdict_join(struct verdict *a, const struct verdict *b);

/* The rule of a question that only an answer to a question of its own settles, or NULL. */
const struct rule *narrow_rule(const struct verdict *v);

/* What RULE, which asks, or a default (NULL) has happen when nobody answers. */
enum verdict_kind rule_unanswered(const struct rule *rule);

/* What all operations of a call say together, beside the strictest of them. */
struct chorus {
	unsigned evidence;
	bool narrow;
	enum log_level log;
	enum verdict_kind unanswered; /* NONE: nothing asks so far */
	const struct rule *keeps;
	struct verdict heard;
};
#define CHORUS_NONE ((struct chorus){ .log = LOG_NONE, .unanswered = VERDICT_NONE, .heard.kind = VERDICT_NONE })

void chorus_add(struct chorus *c, const struct verdict *v);

/* Puts it into ALL, the strictest. */
void chorus_put(const struct chorus *c, struct verdict *all);

#endif
