/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/redirect.h"

#include <errno.h>

#include "policy/guard.h"
#include "policy/policy.h"
#include "supervisor/astray.h"
#include "supervisor/session.h"
#include "supervisor/table.h"
#include "supervisor/worker.h"

/*
 * The job's objects are others now. A person's or a helper's choice is no more than a grant: what the rules deny stays denied. A rule's own
 * choice needs no other rule, where no link leads on from there; but to usher's own files nothing leads.
 */
static int redirected(struct worker *w, bool answered)
{
	struct job *j = &w->job;
	struct call call;
	struct verdict v = { 0 };

	job_call(j, &call);
	if (policy_guards(w->session->policy, &call)) {
		j->verdict.kind = VERDICT_DENY;
		j->verdict.where = GUARD_NAME;
		return -EACCES;
	}
	if (!answered)
		return astray(j);
	policy_decide(w->session->policy, &call, &v);
	if (v.kind == VERDICT_ALLOW || v.kind == VERDICT_ASK)
		return 0;
	j->verdict = v;
	j->verdict.kind = VERDICT_DENY;
	return v.kind == VERDICT_DENY && v.error > 0 ? -v.error : -EACCES;
}

/* What could not be resolved there has still been led there: its record must not say that it stayed what was asked for. */
static void led_to(struct job *j, struct target *t, const struct object *to)
{
	if (to->kind == OBJECT_INET)
		t->inet = to->inet;
	else if (t->name.off == j->asked_name.off)
		t->name = j->rewritten;
	t->kind = to->kind;
}

int redirect(struct worker *w, const struct call *call, const char *answered_name)
{
	struct job *j = &w->job;
	struct object to = { 0 };
	size_t len = 0;

	if (!j->row->redirect)
		return -EPERM;
	const struct object *from = &call->object[j->verdict.object];
	int rc = answered_name ? object_answered(answered_name, from, w->path, &len, &to) : rule_rewrite(j->verdict.rule, from, w->path, &len, &to);
	if (rc < 0)
		return rc;
	if (to.kind != OBJECT_INET) {
		to.name = (struct span){ w->path, (uint32_t)len };
		j->rewritten = job_copy(j, w->path, len);
	}
	struct target *t = &j->target[j->verdict.object];
	j->redirected = true;
	j->redirected_index = j->verdict.object;
	j->asked_kind = t->kind;
	j->asked_name = t->name;
	j->asked_named = t->named;
	j->asked_inet = t->inet;
	j->led_by = answered_name ? NULL : j->verdict.rule;
	rc = j->row->redirect(j, j->verdict.object, &to);
	if (rc < 0)
		led_to(j, t, &to);
	return rc < 0 ? rc : redirected(w, answered_name != NULL);
}

int redirect_rest(struct worker *w, const struct call *call)
{
	struct job *j = &w->job;
	struct verdict answered = j->verdict, v = { 0 };
	struct call one = *call;

	one.n_objects = 1;
	for (uint32_t i = 0; i < call->n_objects; i++) {
		one.object[0] = call->object[i];
		policy_decide_answered(w->session->policy, &one, &v);
		if (v.kind == VERDICT_DENY) /* some of its operations are led elsewhere, and others not */
			return -EACCES;
		if (v.kind != VERDICT_REWRITE)
			continue;
		j->verdict.rule = v.rule;
		j->verdict.object = i;
		int rc = redirect(w, call, NULL);
		if (rc == 0)
			j->verdict = answered;
		return rc;
	}
	return 0;
}
