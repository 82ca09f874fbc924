/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every operation on every object is decided by all layers together before
 * the strictest of the operations is taken: an operation that no layer speaks of is
 * denied even where its neighbour is allowed. The guard layer's allow is no opinion.
 */
#include "policy/policy.h"

#include <errno.h>
#include <stdatomic.h>

#include "policy/grants.h"
#include "policy/layers.h"
#include "policy/limits.h"
#include "policy/policy_state.h"

struct grants *policy_grants(const struct policy *p)
{
	return p->grants;
}

const char *policy_grants_file(const struct policy *p)
{
	return p->grants_file;
}

void call_single(const struct call *call, uint32_t index, op_set op, struct call *out)
{
	*out = (struct call){ .syscall = call->syscall, .by = call->by, .n_objects = 1, .argv = call->argv,
			      .flags = call->flags };
	out->object[0] = call->object[index];
	out->object[0].ops = op;
}

static enum log_level log_merge(enum log_level a, enum log_level b)
{
	if (a == LOG_ALERT || b == LOG_ALERT)
		return LOG_ALERT;
	return a == LOG_NONE && b == LOG_NONE ? LOG_NONE : LOG_NORMAL;
}

/* B joins A: the stricter decides, of equals the first; what either wants written is written. */
static void verdict_join(struct verdict *a, const struct verdict *b)
{
	bool stack = a->stack || b->stack;
	enum log_level log = log_merge(a->log, b->log);
	if (verdict_compare(b->kind, a->kind) > 0)
		*a = *b;
	a->stack = stack;
	a->log = log;
}

/* What nobody speaks of: stat is open, all else is closed. */
static void decide_default(const struct call *one, struct verdict *v)
{
	*v = (struct verdict){ .kind = one->object[0].ops == OP_STAT ? VERDICT_ALLOW : VERDICT_DENY,
			       .error = EACCES, .where = "default" };
}

static struct counter *after_of(const struct policy *p, const struct rule *rule)
{
	for (size_t i = 0; i < p->n_after; i++) {
		if (p->after[i].rule == rule)
			return &p->after[i];
	}
	return NULL;
}

void policy_favour(struct policy *p, const struct rule *rule)
{
	struct counter *c = rule && rule->after ? after_of(p, rule) : NULL;
	if (c)
		atomic_fetch_add(&c->count, 1);
}

/* The standing grants on one operation. NONE unless they answer. */
static void answer_standing(const struct policy *p, const struct call *one, struct verdict *v)
{
	*v = (struct verdict){ .kind = VERDICT_NONE };
	if (!p->standing)
		return;
	ruleset_decide(p->standing, one, v);
	if (v->kind == VERDICT_ASK || v->kind == VERDICT_REWRITE)
		v->kind = VERDICT_NONE;
}

static void answer_by_grant(const struct policy *p, const struct call *one, struct verdict *v)
{
	const struct grant *g = grants_find(p->grants, one, 0, one->object[0].ops);
	enum verdict_kind kind = g ? g->kind : VERDICT_NONE;
	const char *where = g ? g->where : NULL;
	struct verdict standing;
	answer_standing(p, one, &standing);
	if (verdict_compare(standing.kind, kind) > 0) {
		kind = standing.kind;
		where = standing.where;
	}
	if (kind == VERDICT_NONE)
		return;
	v->kind = kind;
	v->where = where;
}

/* An ask that needs nobody: within its limit=, past its after=, or granted. */
static void settle_ask(const struct policy *p, const struct layer *layer, const struct call *one, struct verdict *v)
{
	const struct rule *rule = v->rule;
	if (rule && rule->after) {
		struct counter *c = after_of(p, rule);
		if (c && atomic_load(&c->count) >= rule->after)
			v->kind = VERDICT_ALLOW;
	}
	if (rule && rule->limit && v->kind == VERDICT_ASK && layer->bucket &&
	    bucket_has(&layer->bucket[rule->limit_slot], rule->limit, rule->limit_period_s, clock_now_ns()))
		v->kind = VERDICT_ALLOW;
	if (v->kind == VERDICT_ASK)
		answer_by_grant(p, one, v);
}

/* All layers on one operation on one object. */
static void decide_one(const struct policy *p, const struct call *one, struct verdict *out)
{
	struct verdict best = { .kind = VERDICT_NONE, .log = LOG_NONE };
	const struct layer *from = NULL;
	for (size_t i = 0; i < p->n_layers; i++) {
		struct verdict v;
		ruleset_decide(p->layer[i].rules, one, &v);
		if (v.kind == VERDICT_NONE || (i == 0 && v.kind == VERDICT_ALLOW))
			continue;
		if (verdict_compare(v.kind, best.kind) > 0)
			from = &p->layer[i];
		verdict_join(&best, &v);
	}
	if (best.kind == VERDICT_NONE)
		decide_default(one, &best);
	if (best.kind == VERDICT_ASK)
		settle_ask(p, from, one, &best);
	if (!best.error)
		best.error = EACCES;
	*out = best;
}

void policy_decide(struct policy *p, const struct call *call, struct verdict *out)
{
	struct verdict best = { .kind = VERDICT_NONE, .log = LOG_NONE };
	for (uint32_t i = 0; i < call->n_objects && i < CALL_OBJECTS; i++) {
		for (unsigned ops = call->object[i].ops; ops; ops &= ops - 1) {
			struct call one;
			struct verdict v;
			call_single(call, i, (op_set)(ops & -ops), &one);
			decide_one(p, &one, &v);
			v.object = i;
			verdict_join(&best, &v);
		}
	}
	if (best.kind == VERDICT_NONE) /* a call that names no object and needs nothing: nothing allows it */
		best = (struct verdict){ .kind = VERDICT_DENY, .error = EACCES, .where = "default" };
	*out = best;
}

bool policy_asks(struct policy *p, const struct call *call, uint32_t object, op_set op)
{
	struct call one;
	struct verdict v;
	call_single(call, object, op, &one);
	decide_one(p, &one, &v);
	return v.kind == VERDICT_ASK;
}

const struct ruleset *policy_layer(const struct policy *p, size_t index)
{
	return index < p->n_layers ? p->layer[index].rules : NULL;
}

op_set policy_ops(const struct policy *p)
{
	op_set ops = 0;
	for (size_t i = 0; i < p->n_layers; i++)
		ops |= ruleset_ops(p->layer[i].rules);
	return ops;
}

bool policy_may_ask(const struct policy *p)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		if (ruleset_can(p->layer[i].rules, VERDICT_ASK))
			return true;
	}
	return false;
}
