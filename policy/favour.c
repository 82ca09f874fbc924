// SPDX-License-Identifier: Apache-2.0
/* What an allowed call counts for: rules with after= ask less of what was often let happen. */
#include "policy/layers.h"
#include "policy/policy.h"
#include "policy/policy_state.h"
#include "policy/trust.h"
#include "rules/rule.h"

/* What an allowed call counts for in one layer: each scope once, however many of its operations fall into it. */
struct favour {
	const struct policy *policy;
	uint64_t counted[CALL_OBJECTS * OP_COUNT];
	size_t n;
};

static void favour_one(struct favour *f, uint64_t key)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->counted[i] == key)
			return;
	}
	f->counted[f->n++] = key;
	trust_favour(f->policy->trust, key);
}

static void favour_object(struct favour *f, const struct ruleset *rules, const struct call *call, uint32_t object)
{
	struct verdict v[OP_COUNT];
	ruleset_decide_object(rules, call, object, v);
	for (op_set ops = object_ops(call, object); ops; ops &= (op_set)(ops - 1)) {
		unsigned bit = (unsigned)__builtin_ctz(ops);
		if (v[bit].kind == VERDICT_ASK && v[bit].rule && v[bit].rule->after)
			favour_one(f, trust_key(f->policy->trust, v[bit].rule, call, object, bit));
	}
}

bool policy_counts_favours(const struct policy *p)
{
	return p->trust != NULL;
}

void policy_favour(struct policy *p, const struct call *call)
{
	for (size_t l = 0; p->trust && l < p->n_layers; l++) {
		struct favour f = { .policy = p };
		for (uint32_t i = 0; i < call->n_objects && i < CALL_OBJECTS; i++)
			favour_object(&f, p->layer[l].rules, call, i);
	}
}
