/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: where a rule leads needs no other rule, but a link on from there is nobody's choice: the program itself may have laid it. What it leads to is
 * decided on as any object is. Below a tree that the rule leads to it is what the program could have asked for by another name, and is allowed if that is led there.
 */
#include "supervisor/astray.h"

#include <errno.h>
#include <limits.h>

#include "policy/policy.h"
#include "rules/ruleset.h"
#include "supervisor/session.h"

/* Whether ONE, a call on the name that is led to TO, would go there. */
static bool goes_there(const struct job *j, const struct call *one, struct span to)
{
	char name[PATH_MAX];
	struct object goal;
	struct verdict v = { 0 };
	size_t len;

	policy_decide(j->session->policy, one, &v);
	return v.kind == VERDICT_REWRITE && rule_rewrite(v.rule, &one->object[0], name, &len, &goal) == 0 && span_equal(goal.name, to);
}

/* Whether what RULE leads to O, by whatever its patterns call that, goes there by the rules. */
static bool led_there(const struct job *j, const struct call *one, const struct rule *rule)
{
	char name[PATH_MAX];
	struct call asked = *one;
	struct rule_pattern p;
	bool some = false;
	size_t len;

	asked.object[0].named = (struct span){ NULL, 0 };
	asked.object[0].identified = false;
	for (uint32_t i = 0; rule_pattern(rule, i, &p); i++) {
		int rc = rule_rewritten(rule, i, one->object[0].name, name, &len);
		if (rc == 0)
			continue;
		asked.object[0].name = (struct span){ name, (uint32_t)len };
		if (rc < 0 || !goes_there(j, &asked, one->object[0].name))
			return false;
		some = true;
	}
	return some;
}

static int refusal(struct job *j, uint32_t index)
{
	struct call one;
	struct verdict v = { 0 };

	job_call_alone(j, index, &one);
	policy_decide(j->session->policy, &one, &v);
	if (v.kind == VERDICT_ALLOW || led_there(j, &one, j->target[index].astray))
		return 0;
	int error = v.kind == VERDICT_DENY && v.error > 0 ? v.error : EACCES;
	j->verdict = v;
	j->verdict.kind = VERDICT_DENY;
	j->verdict.object = index;
	return -error;
}

int astray(struct job *j)
{
	for (uint32_t i = 0; i < j->n_targets; i++) {
		int rc = j->target[i].astray ? refusal(j, i) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}
