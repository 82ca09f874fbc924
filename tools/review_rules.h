/* SPDX-License-Identifier: Apache-2.0 */
/* What was allowed for review, as a rule file that allows it. */
#ifndef USHER_TOOLS_REVIEW_RULES_H
#define USHER_TOOLS_REVIEW_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct review_rules;

/* NULL without memory. review_rules_free() it. */
struct review_rules *review_rules_new(void);
void review_rules_free(struct review_rules *r);

/* What the record TEXT is about joins the rest; DONE: it took effect. What memory is missing for is told by review_rules_put(). */
void review_rules_add(struct review_rules *r, const char *text, size_t len, bool done);

/*
 * Writes the rules, and what there is no rule for as comments. Returns 0; -ENOMEM; or -EINVAL when the rules are none (a journal of somebody else's
 * making), and nothing was written.
 */
int review_rules_put(struct review_rules *r, const char *journal, FILE *to);

#endif
