/* SPDX-License-Identifier: Apache-2.0 */
/* What would have answered the questions that nobody answered. Of the questions only; all under their lock. */
#ifndef USHER_POLICY_UNANSWERED_H
#define USHER_POLICY_UNANSWERED_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/filed.h"

struct policy;

#define UNANSWERED_MAX 40

struct unanswered_rule {
	uint64_t key;
	char *text;        /* rules, each line ended */
	const char *where; /* the rule that asked */
};

struct unanswered {
	uint32_t count; /* questions, the same ones again too */
	unsigned n;
	bool more;      /* there was no room for some */
	struct unanswered_rule at[UNANSWERED_MAX];
};

void unanswered_add(struct unanswered *u, struct policy *p, struct filed *f);
void unanswered_free(struct unanswered *u);

#endif
