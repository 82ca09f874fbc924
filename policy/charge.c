/* SPDX-License-Identifier: Apache-2.0 */
/* limit=: the tokens of every rule, in every layer, that had a part in a verdict. */

#include "policy/layers.h"
#include "policy/policy.h"
#include "rules/rule.h"

struct charge {
	struct verdict *verdict;
	struct charged *done;
	uint64_t now;
};

static bool charged_before(const struct charged *done, const struct rule *rule)
{
	for (uint32_t i = 0; i < done->n; i++) {
		if (done->rule[i] == rule)
			return true;
	}
	return false;
}

static void paid(struct charged *done, const struct rule *rule)
{
	if (done->n < CHARGED_MAX)
		done->rule[done->n++] = rule;
}

/* What a rule says beyond its limit. */
static enum verdict_kind beyond(const struct rule *rule)
{
	if (rule->kind == VERDICT_ASK || rule->otherwise == VERDICT_ASK)
		return VERDICT_ASK;
	return rule->otherwise == VERDICT_KILL ? VERDICT_KILL : VERDICT_DENY;
}

static bool charge_one(struct charge *c, const struct layer *l, const struct verdict *v, uint32_t object)
{
	const struct rule *rule = v->rule;
	if (!rule || !rule->limit || charged_before(c->done, rule))
		return true;
	uint32_t used;
	bool within = bucket_take(&l->bucket[rule->limit_slot], rule->limit, rule->limit_period_s, c->now, &used);
	if (used > c->done->used)
		c->done->used = used;
	if (within)
		paid(c->done, rule);
	enum verdict_kind kind = beyond(rule);
	if (within || verdict_compare(kind, c->verdict->kind) <= 0)
		return true;
	c->verdict->kind = kind;
	c->verdict->error = v->error;
	c->verdict->rule = rule;
	c->verdict->where = rule->where;
	c->verdict->object = object;
	return false;
}

static bool charge_layer(struct charge *c, const struct layer *l, const struct call *call)
{
	for (uint32_t i = 0; i < call->n_objects && i < CALL_OBJECTS; i++) {
		struct verdict v[OP_COUNT];
		ruleset_decide_object(l->rules, call, i, v);
		for (op_set ops = call->object[i].ops; ops; ops &= (op_set)(ops - 1)) {
			unsigned bit = (unsigned)__builtin_ctz(ops);
			if (bit < OP_COUNT && !charge_one(c, l, &v[bit], i))
				return false;
		}
	}
	return true;
}

/* From layer FIRST on, which has limits. */
static int charge_layers(struct policy *p, size_t first, const struct call *call, struct verdict *verdict, struct charged *done)
{
	struct charge c = { .verdict = verdict, .done = done, .now = clock_now_ns() };
	for (size_t i = first; i < p->n_layers; i++) {
		if (p->layer[i].bucket && !charge_layer(&c, &p->layer[i], call))
			return 1;
	}
	return 0;
}

int policy_charge(struct policy *p, const struct call *call, struct verdict *verdict, struct charged *done)
{
	if (verdict->kind != VERDICT_ALLOW && verdict->kind != VERDICT_REWRITE)
		return 0;
	for (size_t i = 0; i < p->n_layers; i++) {
		if (p->layer[i].bucket)
			return charge_layers(p, i, call, verdict, done);
	}
	return 0;
}
