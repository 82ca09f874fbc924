/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every operation on every object is decided by all layers together before
 * the strictest of the operations is taken: an operation that no layer speaks of is
 * denied even where its neighbour is allowed. The guard layer's allow is no opinion.
 */
#include "policy/policy.h"

#include <errno.h>

#include "policy/grants.h"
#include "policy/join.h"
#include "policy/layers.h"
#include "policy/limits.h"
#include "policy/policy_state.h"
#include "policy/trust.h"
#include "rules/rule.h"

struct grants *policy_grants(const struct policy *p)
{
	return p->grants;
}

const char *policy_grants_file(const struct policy *p)
{
	return p->grants_file;
}

/* What nobody speaks of: stat is open, all else is closed. */
static void decide_default(unsigned bit, const struct object *o, struct verdict *v)
{
	*v = (struct verdict){ .kind = 1u << bit == OP_STAT ? VERDICT_ALLOW : VERDICT_DENY,
			       .error = refusal_errno(o, (op_set)(1u << bit)), .where = "default" };
}

/* Whether enough answers were given in favour of the like, for RULE. */
static bool favoured(const struct policy *p, const struct rule *rule, const struct call *call, uint32_t object, unsigned bit)
{
	return rule->after && trust_count(p->trust, trust_key(p->trust, rule, call, object, bit)) >= rule->after;
}

/* An object of a call, and what all layers say of each operation on it. */
struct decision {
	const struct policy *policy;
	const struct call *call;
	uint32_t object;
	struct verdict each[OP_COUNT]; /* of the object's operations; nothing is said of others */
	op_set trusted; /* asks that their rules answered themselves */
	op_set led_ops; /* operations that a layer leads elsewhere, while another may ask: when that is answered they are led */
	bool answered;  /* what asks was answered: it is allowed */
	struct verdict led[OP_COUNT]; /* of led_ops */
};

/* What the standing grants say of one operation, which rule ONLY asks about (NULL: any). NONE unless they answer. */
static struct verdict answer_standing(const struct decision *d, unsigned bit, const struct rule *only)
{
	struct verdict s[OP_COUNT];
	if (!d->policy->standing)
		return (struct verdict){ .kind = VERDICT_NONE };
	ruleset_decide_object(d->policy->standing, d->call, d->object, s);
	/* What no grant names (a kind of socket beside a grant on addresses) is not answered. */
	if (!s[bit].rule || s[bit].kind == VERDICT_ASK || s[bit].kind == VERDICT_REWRITE || (only && !narrow_rule(&s[bit])))
		s[bit].kind = VERDICT_NONE;
	return s[bit];
}

static void answer_by_grant(const struct decision *d, unsigned bit, struct verdict *v)
{
	const struct rule *only = narrow_rule(v);
	const struct grant *g = grants_find(d->policy->grants, d->call, d->object, (op_set)(1u << bit), only);
	enum verdict_kind kind = g ? g->kind : VERDICT_NONE;
	const char *where = g ? g->where : NULL;
	struct verdict standing = answer_standing(d, bit, only);
	if (verdict_compare(standing.kind, kind) > 0) {
		kind = standing.kind;
		where = standing.where;
		v->error = standing.error;
		v->evidence |= standing.evidence;
		v->loopback = v->loopback || standing.loopback;
		v->log = standing.log == LOG_ALERT ? LOG_ALERT : v->log;
	}
	if (kind == VERDICT_NONE)
		return;
	v->kind = kind;
	v->where = where;
	v->review = false;
}

struct verdict policy_granted(const struct policy *p, const struct call *call, uint32_t object, unsigned bit, const struct rule *rule)
{
	struct decision d = { .policy = p, .call = call, .object = object };
	struct verdict v = { .kind = VERDICT_ASK, .rule = rule, .where = rule->where };
	answer_by_grant(&d, bit, &v);
	return v;
}

/* Whether RULE allows by itself now: past its after=, within its limit=, or with nothing but review. */
static bool trusts(const struct decision *d, const struct layer *layer, const struct rule *rule, unsigned bit)
{
	if (rule_asks_nobody(rule) || favoured(d->policy, rule, d->call, d->object, bit))
		return true;
	return rule->limit && layer->bucket &&
	       bucket_has(&layer->bucket[rule->limit_slot], rule->limit, rule->limit_period_s, clock_now_ns());
}

/* What a layer leads elsewhere is led there whatever another asks: an answer that allows takes nothing back. */
static void keep_led(struct decision *d, unsigned bit, const struct verdict *v)
{
	if (v->kind != VERDICT_REWRITE || d->led_ops & (1u << bit))
		return;
	d->led_ops |= (op_set)(1u << bit);
	d->led[bit] = *v;
}

/* One layer's verdicts join. An ask that its rule answers itself is an allow, which another layer's ask still beats. */
static void join_layer(struct decision *d, size_t number, op_set ops)
{
	struct verdict v[OP_COUNT];
	const struct layer *layer = &d->policy->layer[number];
	ruleset_decide_object(layer->rules, d->call, d->object, v);
	for (; ops; ops &= (op_set)(ops - 1)) {
		unsigned bit = (unsigned)__builtin_ctz(ops);
		if (v[bit].kind == VERDICT_NONE || (number == 0 && v[bit].kind == VERDICT_ALLOW))
			continue;
		if (v[bit].kind == VERDICT_ASK && v[bit].rule && trusts(d, layer, v[bit].rule, bit)) {
			v[bit].kind = VERDICT_ALLOW;
			v[bit].review = v[bit].rule->review;
			d->trusted |= (op_set)(1u << bit);
		}
		if (v[bit].kind == VERDICT_ASK) {
			v[bit].unanswered = rule_unanswered(v[bit].rule);
			v[bit].keeps = v[bit].rule && v[bit].rule->remember != REMEMBER_ONCE ? v[bit].rule : NULL;
		}
		keep_led(d, bit, &v[bit]);
		verdict_join(&d->each[bit], &v[bit]);
	}
}

/* V, which was allowed, is led as LED says. */
static void join_led(const struct verdict *led, struct verdict *v)
{
	unsigned evidence = v->evidence;
	bool loopback = v->loopback;
	enum log_level log = v->log;
	*v = *led;
	v->evidence = evidence;
	v->loopback = loopback;
	v->log = log;
}

/* Grants answer an ask; and what a person denied is not trusted. */
static void settle(const struct decision *d, unsigned bit, struct verdict *v)
{
	bool asks = v->kind == VERDICT_ASK;
	if (asks || (v->kind == VERDICT_ALLOW && (d->trusted & (1u << bit))))
		answer_by_grant(d, bit, v);
	if (v->kind == VERDICT_ASK && d->answered)
		v->kind = VERDICT_ALLOW;
	if (asks && v->kind == VERDICT_ALLOW && (d->led_ops & (1u << bit)))
		join_led(&d->led[bit], v);
}

/* What the layers say of OPS, in d->each, without the grants that answer. */
static void decide_layers(struct decision *d, op_set ops)
{
	for (op_set left = ops; left; left &= (op_set)(left - 1))
		d->each[__builtin_ctz(left)] = (struct verdict){ .kind = VERDICT_NONE, .log = LOG_NONE };
	for (size_t i = 0; i < d->policy->n_layers; i++)
		join_layer(d, i, ops);
}

/* Every operation on one object, by all layers and then by grants. */
static void decide_object(struct decision *d)
{
	op_set ops = object_ops(d->call, d->object);
	decide_layers(d, ops);
	for (; ops; ops &= (op_set)(ops - 1)) {
		unsigned bit = (unsigned)__builtin_ctz(ops);
		struct verdict *v = &d->each[bit];
		if (v->kind == VERDICT_NONE)
			decide_default(bit, &d->call->object[d->object], v);
		settle(d, bit, v);
		if (!v->error)
			v->error = EACCES;
		v->object = d->object;
	}
}

static void decide(const struct policy *p, const struct call *call, bool answered, struct verdict *out)
{
	struct verdict all = { .kind = VERDICT_NONE };
	struct chorus together = CHORUS_NONE;
	struct decision d;
	d.policy = p;
	d.call = call;
	d.answered = answered;
	for (uint32_t i = 0; i < call->n_objects && i < CALL_OBJECTS; i++) {
		d.object = i;
		d.trusted = 0;
		d.led_ops = 0;
		decide_object(&d);
		verdicts_join(&all, call, i, d.each);
		for (op_set ops = object_ops(call, i); ops; ops &= (op_set)(ops - 1))
			chorus_add(&together, &d.each[__builtin_ctz(ops)]);
	}
	if (all.kind == VERDICT_NONE) { /* a call that names no object and needs nothing: nothing allows it */
		*out = (struct verdict){ .kind = VERDICT_DENY, .error = EACCES, .where = "default" };
		return;
	}
	chorus_put(&together, &all);
	*out = all;
}

void policy_decide(struct policy *p, const struct call *call, struct verdict *out)
{
	decide(p, call, false, out);
}

void policy_decide_answered(struct policy *p, const struct call *call, struct verdict *out)
{
	decide(p, call, true, out);
}

bool policy_guards(const struct policy *p, const struct call *call)
{
	struct verdict v;
	ruleset_decide(p->layer[0].rules, call, &v);
	return v.kind == VERDICT_DENY || v.kind == VERDICT_KILL;
}

/* An allow of LAYER beyond whose limit a person is asked, and that is beyond it. */
static bool asks_beyond(const struct layer *layer, const struct verdict *v)
{
	const struct rule *rule = v->rule;
	return v->kind == VERDICT_ALLOW && rule && rule->limit && layer->bucket && limit_beyond(rule) == VERDICT_ASK &&
	       !bucket_has(&layer->bucket[rule->limit_slot], rule->limit, rule->limit_period_s, clock_now_ns());
}

/* What is said of the operation BIT of an object, which is allowed within limits: ask where one of them asks beyond it, and no grant has answered. */
static struct verdict limit_asks(const struct decision *d, unsigned bit)
{
	for (size_t i = 1; i < d->policy->n_layers; i++) {
		struct verdict v[OP_COUNT];
		ruleset_decide_object(d->policy->layer[i].rules, d->call, d->object, v);
		if (asks_beyond(&d->policy->layer[i], &v[bit]))
			return policy_granted(d->policy, d->call, d->object, bit, v[bit].rule);
	}
	return d->each[bit];
}

bool policy_asks(struct policy *p, const struct call *call, uint32_t object, op_set op, const struct rule **only)
{
	struct decision d = { .policy = p, .call = call, .object = object };
	unsigned bit = (unsigned)__builtin_ctz(op);
	decide_object(&d);
	struct verdict v = d.each[bit].kind == VERDICT_ALLOW ? limit_asks(&d, bit) : d.each[bit];
	if (v.kind != VERDICT_ASK)
		return false;
	*only = narrow_rule(&v);
	return true;
}

const struct ruleset *policy_standing(const struct policy *p)
{
	return p->standing;
}

const struct ruleset *policy_layer(const struct policy *p, size_t index)
{
	return index < p->n_layers ? p->layer[index].rules : NULL;
}

op_set policy_asked(struct policy *p, const struct call *call, uint32_t object)
{
	struct decision d = { .policy = p, .call = call, .object = object };
	op_set ops = object_ops(call, object), asked = 0;
	decide_layers(&d, ops);
	for (; ops; ops &= (op_set)(ops - 1)) {
		unsigned bit = (unsigned)__builtin_ctz(ops);
		if (d.each[bit].kind == VERDICT_ASK)
			asked |= (op_set)(1u << bit);
	}
	return asked;
}

op_set policy_ops(const struct policy *p)
{
	op_set ops = 0;
	for (size_t i = 0; i < p->n_layers; i++)
		ops |= ruleset_ops(p->layer[i].rules);
	return ops;
}

unsigned policy_wants(const struct policy *p)
{
	unsigned wants = 0;
	for (size_t i = 0; i < p->n_layers; i++)
		wants |= ruleset_wants(p->layer[i].rules);
	return wants;
}

unsigned policy_wants_known(const struct policy *p)
{
	return policy_wants(p) | (p->standing ? ruleset_wants(p->standing) : 0);
}

bool policy_pins(const struct policy *p)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		if (ruleset_pins(p->layer[i].rules))
			return true;
	}
	return p->standing && ruleset_pins(p->standing);
}

bool policy_parts(const struct policy *p)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		if (ruleset_parts(p->layer[i].rules))
			return true;
	}
	return p->standing && ruleset_parts(p->standing);
}

bool policy_pins_object(const struct policy *p, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		if (ruleset_pins_object(p->layer[i].rules, dev, ino))
			return true;
	}
	return p->standing && ruleset_pins_object(p->standing, dev, ino);
}

bool policy_may_ask(const struct policy *p)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		if (ruleset_can(p->layer[i].rules, VERDICT_ASK))
			return true; /* review too: there is something to be shown */
	}
	return false;
}
