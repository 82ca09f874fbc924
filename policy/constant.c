/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: yes is said only where policy_decide() would say the same of every object there is, for every
 * caller, and nobody wants a record of it: but that the guard's own refusals are then not told apart.
 */
#include "policy/constant.h"

#include <errno.h>

#include "policy/policy.h"

static bool speaks_of_files(const struct rule *r)
{
	struct rule_pattern p;
	for (uint32_t i = 0; rule_pattern(r, i, &p); i++)
		if (p.kind == OBJECT_FILE || p.kind == OBJECT_MEMFD)
			return true;
	return false;
}

/* A bare globstar is every path there is and what has none. */
static bool is_catch_all(const struct rule *r)
{
	struct rule_pattern p;
	if (rule_conditional(r))
		return false;
	for (uint32_t i = 0; rule_pattern(r, i, &p); i++)
		if (p.kind == OBJECT_FILE && p.tree && p.prefix_len <= 1)
			return true;
	return false;
}

/* The first rule of LAYER that names OP on files, NULL when none does. */
static const struct rule *first_of(const struct ruleset *layer, op_set op)
{
	const struct rule *r;
	for (size_t i = 0; (r = ruleset_rule(layer, i)); i++)
		if ((r->ops & op) && speaks_of_files(r))
			return r;
	return NULL;
}

int policy_refuses(const struct policy *p, op_set op)
{
	const struct ruleset *layer;
	const char *where;
	int error = 0;
	/* Layer 0 is the guard. Of equal verdicts the first layer's is given; a record that one layer wants is written. */
	for (size_t i = 1; (layer = policy_layer(p, i)); i++) {
		const struct rule *r = first_of(layer, op);
		if (!r && ruleset_default(layer, &where) == VERDICT_NONE)
			continue;
		if (!r || r->kind != VERDICT_DENY || r->log != LOG_NONE || r->stack || !is_catch_all(r))
			return 0;
		error = error ? error : r->error ? r->error : EACCES;
	}
	return error;
}

static bool concerns_stat(const struct rule *r)
{
	if (r->ops & OP_STAT)
		return r->kind != VERDICT_ALLOW || r->log != LOG_NONE || r->stack || r->limit;
	/* A file whose name may be led elsewhere has to look like what it leads to. Endpoints and programs have no look. */
	return r->kind == VERDICT_REWRITE && (r->ops & ~(OP_EXEC | OPS_NET));
}

bool policy_mediates_stat(const struct policy *p)
{
	const struct ruleset *layer;
	for (size_t i = 0; (layer = policy_layer(p, i)); i++) {
		const struct rule *r;
		for (size_t n = 0; (r = ruleset_rule(layer, n)); n++)
			if (concerns_stat(r))
				return true;
	}
	return false;
}
