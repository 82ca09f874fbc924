/* SPDX-License-Identifier: Apache-2.0 */
/* limit=: the tokens of every rule, in every layer, that had a part in a verdict. */

#include "policy/layers.h"
#include "policy/policy.h"
#include "policy/policy_state.h"
#include "rules/rule.h"

struct charge {
	struct policy *policy;
	const struct call *call;
	struct verdict *verdict;
	struct charged *done;
	uint64_t now;
	bool looks;    /* whether there are tokens, taking none */
	bool answered; /* the question was answered: no limit asks */
	struct bucket *taken[CHARGED_MAX]; /* from these, for the last of done's rules */
	uint32_t n_taken;
};

static bool charged_before(const struct charged *done, const struct rule *rule)
{
	for (uint32_t i = 0; i < done->n; i++) {
		if (done->rule[i] == rule)
			return true;
	}
	return false;
}

enum verdict_kind limit_beyond(const struct rule *rule)
{
	if (rule->kind == VERDICT_ASK || rule->otherwise == VERDICT_ASK)
		return VERDICT_ASK;
	return rule->otherwise == VERDICT_KILL ? VERDICT_KILL : VERDICT_DENY;
}

/* Whether the call is within RULE's limit; takes a token unless only to look. */
static bool take(struct charge *c, const struct layer *l, const struct rule *rule)
{
	struct bucket *b = &l->bucket[rule->limit_slot];
	uint32_t used;
	if (c->looks)
		return bucket_has(b, rule->limit, rule->limit_period_s, c->now);
	bool within = bucket_take(b, rule->limit, rule->limit_period_s, c->now, &used);
	if (used > c->done->used)
		c->done->used = used;
	if (within && c->done->n < CHARGED_MAX) {
		c->done->rule[c->done->n++] = rule;
		c->taken[c->n_taken++] = b;
	}
	return within;
}

/* The call waits for an answer: it counts when that has come. */
static void give_back(struct charge *c)
{
	while (c->n_taken > 0) {
		const struct rule *rule = c->done->rule[--c->done->n];
		bucket_give(c->taken[--c->n_taken], rule->limit, rule->limit_period_s);
	}
}

static bool charge_one(struct charge *c, const struct layer *l, const struct verdict *v, uint32_t object, unsigned bit)
{
	const struct rule *rule = v->rule;
	if (!rule || !rule->limit || charged_before(c->done, rule) || take(c, l, rule))
		return true;
	struct verdict says = { .kind = limit_beyond(rule), .where = rule->where };
	if (says.kind == VERDICT_ASK && c->answered)
		return true;
	if (says.kind == VERDICT_ASK) /* somebody may have answered for longer than once */
		says = policy_granted(c->policy, c->call, object, bit, rule);
	if (verdict_compare(says.kind, c->verdict->kind) <= 0)
		return true;
	c->verdict->kind = says.kind;
	c->verdict->error = v->error;
	c->verdict->rule = rule;
	c->verdict->where = says.where;
	c->verdict->keeps = rule->kind == VERDICT_ASK && rule->remember != REMEMBER_ONCE ? rule : NULL;
	c->verdict->unanswered = rule->kind == VERDICT_ASK ? rule->otherwise : VERDICT_DENY;
	c->verdict->object = object;
	return false;
}

static bool charge_layer(struct charge *c, const struct layer *l)
{
	const struct call *call = c->call;
	for (uint32_t i = 0; i < call->n_objects && i < CALL_OBJECTS; i++) {
		struct verdict v[OP_COUNT];
		ruleset_decide_object(l->rules, call, i, v);
		for (op_set ops = call->object[i].ops; ops; ops &= (op_set)(ops - 1)) {
			unsigned bit = (unsigned)__builtin_ctz(ops);
			if (bit < OP_COUNT && !charge_one(c, l, &v[bit], i, bit))
				return false;
		}
	}
	return true;
}

/* Whether a limit may count what V is about: most policies have none, and nothing is set up for them. */
static bool counts(const struct policy *p, const struct verdict *v)
{
	if (v->kind != VERDICT_ALLOW && v->kind != VERDICT_REWRITE)
		return false;
	for (size_t i = 0; i < p->n_layers; i++) {
		if (p->layer[i].bucket)
			return true;
	}
	return false;
}

static int charge(struct charge *c)
{
	c->now = clock_now_ns();
	for (size_t i = 0; i < c->policy->n_layers; i++) {
		if (c->policy->layer[i].bucket && !charge_layer(c, &c->policy->layer[i]))
			return 1;
	}
	return 0;
}

int policy_charge(struct policy *p, const struct call *call, struct verdict *verdict, struct charged *done)
{
	if (!counts(p, verdict))
		return 0;
	struct charge c = { .policy = p, .call = call, .verdict = verdict, .done = done };
	int changed = charge(&c);
	if (verdict->kind == VERDICT_ASK)
		give_back(&c);
	return changed;
}

int policy_charge_answered(struct policy *p, const struct call *call, struct verdict *verdict, struct charged *done)
{
	if (!counts(p, verdict))
		return 0;
	struct charge c = { .policy = p, .call = call, .verdict = verdict, .done = done, .answered = true };
	return charge(&c);
}

void policy_decide_now(struct policy *p, const struct call *call, struct verdict *out)
{
	struct charged none = { 0 };
	policy_decide(p, call, out);
	if (!counts(p, out))
		return;
	struct charge c = { .policy = p, .call = call, .verdict = out, .done = &none, .looks = true };
	charge(&c);
}
