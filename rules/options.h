/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a rule's options: what those who fill it and those who read it share. */
#ifndef USHER_RULES_OPTIONS_H
#define USHER_RULES_OPTIONS_H

#include "rules/parser.h"

#define V(kind) (1U << (kind))
#define V_ANY (V(VERDICT_DENY) | V(VERDICT_KILL) | V(VERDICT_ASK) | V(VERDICT_REWRITE) | V(VERDICT_ALLOW))

/* One option as it was found, and what its value goes into. */
struct option_target {
	struct parser *p;
	const struct word *w;
	size_t skip; /* units before the value */
	const char *name;
	const char *value;
	struct compiled_rule *rule;
	struct conditions *when;
};

struct option {
	const char *name; /* with '=' when it takes a value */
	size_t len;
	unsigned verdicts;
	const char *where; /* which verdicts, for people */
	int (*parse)(struct option_target *t); /* 0, 1 (reported) or -ENOMEM */
	const char *(*misplaced)(const struct compiled_rule *rule); /* of the whole rule: NULL, or what stands behind the name in the message; may be NULL */
};

#define OPTIONS 27U
extern const struct option options[OPTIONS];

/* option_places.c: which rules an option may stand in; see misplaced. */
const char *only_exec(const struct compiled_rule *rule);
const char *only_rewritten_exec(const struct compiled_rule *rule);
const char *only_addresses(const struct compiled_rule *rule);
const char *only_connect(const struct compiled_rule *rule);
const char *only_owned(const struct compiled_rule *rule);
const char *only_vacant(const struct compiled_rule *rule);
const char *only_listening(const struct compiled_rule *rule);
const char *only_otherwise(const struct compiled_rule *rule);
const char *only_questions(const struct compiled_rule *rule);

#endif
