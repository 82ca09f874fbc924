// SPDX-License-Identifier: Apache-2.0
/* One verdict of two. */
#include "policy/join.h"

#include "rules/rule.h"

static enum log_level log_merge(enum log_level a, enum log_level b)
{
	if (a == LOG_ALERT || b == LOG_ALERT)
		return LOG_ALERT;
	return a == LOG_NONE && b == LOG_NONE ? LOG_NONE : LOG_NORMAL;
}

/* How much a person is to hear of what is allowed: to review it; by log=alert, or that what listens is heard by less than the others allow; or nothing. */
static int heard_of(const struct verdict *v)
{
	if (v->kind != VERDICT_ALLOW)
		return 0;
	return v->review ? 2 : v->rule && (v->rule->log == LOG_ALERT || v->rule->loopback);
}

const struct rule *narrow_rule(const struct verdict *v)
{
	return v->rule && v->rule->narrow ? v->rule : NULL;
}

/* Of two of a kind: whether B is the one to hear of, or asks for more than A. */
static bool says_more(const struct verdict *a, const struct verdict *b)
{
	if (a->kind == VERDICT_ALLOW)
		return heard_of(b) > heard_of(a);
	return a->kind == VERDICT_ASK && narrow_rule(b) && !narrow_rule(a);
}

enum verdict_kind rule_unanswered(const struct rule *rule)
{
	bool says = rule && (rule->otherwise == VERDICT_ALLOW || rule->otherwise == VERDICT_KILL);
	return says ? rule->otherwise : VERDICT_DENY;
}

/* The strictest of what is to happen unanswered, of WORST so far and of V where that asks. */
static enum verdict_kind join_unanswered(enum verdict_kind worst, const struct verdict *v)
{
	return v->kind == VERDICT_ASK && verdict_compare(v->unanswered, worst) > 0 ? v->unanswered : worst;
}

/* Of two rules that ask the one that has an answer hold for less; NULL: for once. */
static const struct rule *shorter(const struct rule *a, const struct rule *b)
{
	static const int lasts[] = { [REMEMBER_ONCE] = 0, [REMEMBER_TIME] = 1, [REMEMBER_TREE] = 2, [REMEMBER_SESSION] = 3 };
	if (!a || !b)
		return NULL;
	if (a->remember == REMEMBER_TIME && b->remember == REMEMBER_TIME)
		return b->remember_s < a->remember_s ? b : a;
	return lasts[b->remember] < lasts[a->remember] ? b : a;
}

/* The same of two verdicts, of which one may not ask. */
static const struct rule *join_keeps(const struct verdict *a, const struct verdict *b)
{
	if (a->kind == VERDICT_ASK && b->kind == VERDICT_ASK)
		return shorter(a->keeps, b->keeps);
	return a->kind == VERDICT_ASK ? a->keeps : b->keeps;
}

void verdict_join(struct verdict *a, const struct verdict *b)
{
	unsigned evidence = a->evidence | b->evidence;
	bool loopback = a->loopback || b->loopback;
	enum log_level log = log_merge(a->log, b->log);
	enum verdict_kind unanswered = join_unanswered(join_unanswered(VERDICT_NONE, a), b);
	const struct rule *keeps = join_keeps(a, b);
	int stricter = verdict_compare(b->kind, a->kind);
	if (stricter > 0 || (stricter == 0 && says_more(a, b)))
		*a = *b;
	a->unanswered = unanswered;
	a->keeps = keeps;
	a->evidence = evidence;
	a->loopback = loopback;
	a->log = log;
}

void chorus_add(struct chorus *c, const struct verdict *v)
{
	c->evidence |= v->evidence;
	c->log = log_merge(c->log, v->log);
	if (v->kind == VERDICT_ASK) {
		c->narrow = c->narrow || narrow_rule(v);
		c->keeps = c->unanswered == VERDICT_NONE ? v->keeps : shorter(c->keeps, v->keeps);
		c->unanswered = join_unanswered(c->unanswered, v);
	}
	if (heard_of(v) > heard_of(&c->heard))
		c->heard = *v;
}

void chorus_put(const struct chorus *c, struct verdict *all)
{
	if (c->heard.kind == VERDICT_ALLOW && all->kind == VERDICT_ALLOW) /* the rule, and the object, that a person is to hear of */
		*all = c->heard;
	all->log = c->log;
	all->evidence = c->evidence;
	all->narrow = c->narrow;
	all->unanswered = c->unanswered;
	all->keeps = c->keeps;
}
