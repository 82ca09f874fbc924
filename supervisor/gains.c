/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: what may be done by a name is what policy_decide() says of it and, where that is less than to allow it, of every name that a
 * rule leads there; where such a name cannot be told it is taken to exist at the new name, and not at the old one.
 */
#include "supervisor/gains.h"

#include <errno.h>
#include <limits.h>

#include "policy/policy.h"
#include "rules/device.h"
#include "rules/ruleset.h"
#include "supervisor/file.h"
#include "supervisor/session.h"

#define OPS_KEPT ((op_set)(OP_READ | OP_MODIFY | OP_DELETE | OP_ATTR | OP_STAT))
#define OPS_REACH ((op_set)(OP_CONNECT | OP_SEND))

static struct verdict decided(struct job *j, struct call *call, op_set ops, struct span name)
{
	struct verdict v = { 0 };

	call->object[0].ops = ops;
	call->object[0].name = name;
	policy_decide(j->session->policy, call, &v);
	return v;
}

static enum verdict_kind decide(struct job *j, struct call *call, op_set ops, struct span name)
{
	return decided(j, call, ops, name).kind;
}

/* Whether NAME, asked for as ONE's object is, is led to where that object lies. */
static bool goes_there(struct job *j, const struct call *one, struct span name)
{
	char there[PATH_MAX];
	struct call asked = *one;
	struct object goal;
	struct verdict v = { 0 };
	size_t len;

	asked.object[0].name = name;
	asked.object[0].identified = false; /* another object, or none, has that name */
	policy_decide(j->session->policy, &asked, &v);
	return v.kind == VERDICT_REWRITE && rule_rewrite(v.rule, &asked.object[0], there, &len, &goal) == 0 && span_equal(goal.name, one->object[0].name);
}

/* Whether RULE leads some name to ONE's object; UNTOLD where only the object is known, and not which names are led to it. */
static bool leads_there(struct job *j, const struct call *one, const struct rule *rule, bool untold)
{
	char name[PATH_MAX];
	struct rule_pattern p;
	struct span goal;
	size_t len;

	for (uint32_t i = 0; rule_pattern(rule, i, &p); i++) {
		if (p.kind == one->object[0].kind && rule_rewritten(rule, i, one->object[0].name, name, &len) > 0 &&
		    goes_there(j, one, (struct span){ name, (uint32_t)len }))
			return true;
	}
	return untold && rule_leads_to(rule, &goal) && span_equal(goal, one->object[0].name);
}

static bool led_there(struct job *j, const struct call *one, bool untold)
{
	const struct ruleset *layer;
	const struct rule *r;

	for (size_t i = 0; (layer = policy_layer(j->session->policy, i)); i++) {
		for (size_t n = 0; (r = ruleset_rule(layer, n)); n++) {
			if (r->kind == VERDICT_REWRITE && (r->ops & one->object[0].ops) && leads_there(j, one, r, untold))
				return true;
		}
	}
	return false;
}

/* What is made of OP, one operation, by NAME. */
static enum verdict_kind by_name(struct job *j, struct call *call, op_set op, struct span name, bool untold)
{
	enum verdict_kind kind = decide(j, call, op, name);

	return kind != VERDICT_ALLOW && file_may_rewrite(j) && led_there(j, call, untold) ? VERDICT_ALLOW : kind;
}

/* Those of OPS that TO gives and FROM does not. */
static op_set more(struct job *j, struct call *call, op_set ops, struct span from, struct span to)
{
	op_set got = 0;

	/* Nothing is gained where all was allowed. */
	if (decide(j, call, ops, from) == VERDICT_ALLOW)
		return 0;
	for (op_set left = ops; left; left &= (op_set)(left - 1)) {
		op_set op = (op_set)(left & -left);
		enum verdict_kind before = by_name(j, call, op, from, false);
		if (before != VERDICT_ALLOW && verdict_compare(before, by_name(j, call, op, to, true)) > 0)
			got |= op;
	}
	return got;
}

static void call_on(const struct job *j, struct call *call, const struct stat *st)
{
	struct identity is = identity_of(st->st_mode, st->st_rdev, st->st_dev, st->st_ino);

	job_call(j, call);
	call->n_objects = 1;
	call->object[0] = (struct object){ .kind = OBJECT_FILE, .makes = makes_of(st->st_mode), .identified = true,
					  .dev = is.dev, .ino = is.ino, .nlink = st->st_nlink };
}

static void as_socket(struct call *call)
{
	call->object[0].kind = OBJECT_UNIX;
	call->object[0].inet.proto = PROTO_UNIX;
}

op_set gains(struct job *j, struct span from, struct span to, const struct stat *st, bool own)
{
	struct call call;

	call_on(j, &call, st);
	op_set got = more(j, &call, OPS_KEPT, from, to);
	if (!S_ISSOCK(st->st_mode))
		return got;
	as_socket(&call);
	call.object[0].own = own;
	return got | more(j, &call, OPS_REACH, from, to);
}

enum verdict_kind gains_decided(struct job *j, op_set ops, struct span name, const struct stat *st)
{
	struct call call;

	call_on(j, &call, st);
	if (ops & OPS_REACH)
		as_socket(&call);
	return decide(j, &call, ops, name);
}

bool gains_as_kind(struct job *j, const struct target *from, const struct target *to)
{
	struct stat st = target_known(from);

	return to->makes == makes_of(st.st_mode) || gains_decided(j, OP_CREATE, job_span(j, to->name), &st) == VERDICT_ALLOW;
}

enum verdict_kind gains_name(struct job *j, struct span from, struct span to, struct span above, const struct stat *st, bool *alarm)
{
	struct call call;

	call_on(j, &call, st);
	struct verdict there = decided(j, &call, OP_CREATE, to);
	*alarm = there.kind == VERDICT_ALLOW && there.log == LOG_ALERT && decided(j, &call, OP_CREATE, from).log != LOG_ALERT;
	if (there.kind == VERDICT_ALLOW)
		return VERDICT_ALLOW;
	enum verdict_kind made = by_name(j, &call, OP_CREATE, to, false);
	bool less = verdict_compare(made, by_name(j, &call, OP_CREATE, from, true)) > 0;
	call.object[0].makes = MAKES_DIRECTORY; /* what is above is none of a link's names */
	less = less && verdict_compare(made, by_name(j, &call, OP_CREATE, above, false)) > 0;
	return less ? made : VERDICT_ALLOW;
}

int gains_unreached(struct job *j, const struct target *t)
{
	struct target *reach = job_target(j, OBJECT_UNIX, OPS_REACH);
	if (!reach)
		return -EACCES;
	j->unasked = true;
	reach->inet.proto = PROTO_UNIX;
	reach->name = t->name;
	reach->exists = true;
	reach->dev = t->dev;
	reach->ino = t->ino;
	reach->nlink = t->nlink;
	reach->mode = t->mode;
	return 0;
}

/* CALL, which is on T alone, is not allowed: that is J's verdict. */
static int refused(struct job *j, const struct target *t, const struct call *call)
{
	struct verdict v = { 0 };

	policy_decide(j->session->policy, call, &v);
	int error = v.kind == VERDICT_DENY && v.error > 0 ? v.error : EACCES;
	j->verdict = v;
	j->verdict.kind = VERDICT_DENY;
	j->verdict.object = (uint32_t)(t - j->target);
	return -error;
}

int gains_led(struct job *j, struct target *t, struct span asked, op_set need)
{
	op_set left = need & (op_set)~t->ops;
	struct stat st = target_known(t);
	struct call call;

	t->ops |= need;
	call_on(j, &call, &st);
	call.object[0].identified = t->exists;
	for (; j->led_by && left; left &= (op_set)(left - 1)) {
		if (by_name(j, &call, (op_set)(left & -left), job_span(j, t->name), false) != VERDICT_ALLOW && !goes_there(j, &call, asked))
			return refused(j, t, &call);
	}
	return 0;
}
