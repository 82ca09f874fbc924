/* SPDX-License-Identifier: Apache-2.0 */
/* Making a policy: the guard, every file, their buckets and counters. */
#include "policy/layers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/grants.h"
#include "policy/guard.h"
#include "policy/standing.h"
#include "policy/trust.h"
#include "rules/cleanup.h"
#include "rules/findings.h"
#include "rules/rule.h"

static int layer_guard(const struct policy_options *o, struct layer *out)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int rc = guard_text(o, getpid(), &text, &len);
	if (rc < 0)
		return rc;
	struct diagnostics found = { 0 };
	rc = ruleset_parse_guard(GUARD_NAME, text, len, &found, &out->rules);
	if (rc > 0) /* our own text: a fault in usher, not in a file */
		rc = -EINVAL;
	if (rc < 0)
		diagnostics_print(&found, stderr, false);
	diagnostics_free(&found);
	return rc;
}

static int layer_buckets(struct layer *l)
{
	l->slots = ruleset_limit_slots(l->rules);
	if (!l->slots)
		return 0;
	l->bucket = calloc(l->slots, sizeof(*l->bucket));
	return l->bucket ? 0 : -ENOMEM;
}

static int count_after(struct policy *p)
{
	const struct rule *r;
	for (size_t l = 0; l < p->n_layers; l++) {
		for (size_t i = 0; (r = ruleset_rule(p->layer[l].rules, i)); i++) {
			if (r->after)
				return trust_new(&p->trust);
		}
	}
	return 0;
}

/* What a rule says that an answer for ever has no place for: it is none of a session's layers, which count and record. NULL: nothing. */
static const char *unkept(const struct rule *r)
{
	if (r->kind == VERDICT_REWRITE)
		return "a grant answers a question by allow, deny or kill; where a call is led says a rule file";
	if (r->limit)
		return "limit= counts in rule files; a grant answers each time";
	if (r->after || r->review)
		return "after= and review belong to the rule that asks; a grant answers it";
	return NULL;
}

/* What a grant cannot honour is an error, as in any rule. Returns 0, or 1 where there is something. */
static int check_standing(const char *path, const struct ruleset *rules, struct diagnostics *found)
{
	const struct rule *r;
	const char *states = ruleset_states(rules);
	int bad = states != NULL;
	if (states)
		findings_add(found, DIAGNOSTIC_ERROR, &(struct place){ .file = path }, "'%s' is for a rule file to say; a grant answers a question", states);
	for (size_t i = 0; (r = ruleset_rule(rules, i)); i++) {
		const char *why = unkept(r);
		struct place at = { r->file, r->line, rule_column(r), { r->text, (uint32_t)strlen(r->text) }, rule_column(r) - 1 };
		if (why)
			findings_add(found, DIAGNOSTIC_ERROR, &at, "%s", why);
		bad |= why != NULL;
	}
	return bad;
}

static int load_standing(struct policy *p, const struct policy_options *o, struct diagnostics *found)
{
	if (!o->grants_file)
		return 0;
	p->grants_file = strdup(o->grants_file);
	if (!p->grants_file)
		return -ENOMEM;
	if (access(o->grants_file, F_OK) < 0)
		return 0; /* out of this user's reach, or not there: no standing grants, and nobody in the tree can make one */
	struct ruleset_source source = { .path = o->grants_file, .variables = o->variables, .n_variables = o->n_variables };
	int rc = ruleset_load(&source, found, &p->standing);
	return rc ? rc : check_standing(p->grants_file, p->standing, found);
}

/* Every file is read even when one is broken, so that all findings are told. */
static int load_files(struct policy *p, const struct policy_options *o, struct diagnostics *found)
{
	int worst = 0;
	for (size_t i = 0; i < o->n_files; i++) {
		struct ruleset_source source = { .path = o->files[i], .variables = o->variables, .n_variables = o->n_variables, .tested = true };
		struct layer *l = &p->layer[p->n_layers];
		int rc = ruleset_load(&source, found, &l->rules);
		if (rc == 0) {
			p->n_layers++;
			rc = layer_buckets(l);
		}
		if (rc < 0 || (rc > 0 && worst == 0))
			worst = rc;
	}
	return worst;
}

static int policy_fill(struct policy *p, const struct policy_options *o, struct diagnostics *found)
{
	p->layer = calloc(o->n_files + 1, sizeof(*p->layer));
	if (!p->layer)
		return -ENOMEM;
	int rc = grants_new(&p->grants);
	if (o->grants_file)
		standing_place(o->grants_file);
	if (rc == 0)
		rc = layer_guard(o, &p->layer[0]);
	if (rc < 0)
		return rc;
	p->n_layers = 1;
	rc = load_files(p, o, found);
	int standing = load_standing(p, o, found);
	if (rc == 0 || (rc > 0 && standing < 0))
		rc = standing;
	return rc ? rc : count_after(p);
}

int policy_new(const struct policy_options *o, struct diagnostics *found, struct policy **out)
{
	struct policy *p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	int rc = policy_fill(p, o, found);
	if (rc != 0) {
		policy_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

int policy_guard_anew(struct policy *p, const struct policy_options *o)
{
	struct layer guard = { 0 };
	int rc = layer_guard(o, &guard);
	if (rc < 0)
		return rc;
	ruleset_free(p->layer[0].rules);
	p->layer[0].rules = guard.rules;
	return 0;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_layers; i++) {
		ruleset_free(p->layer[i].rules);
		free(p->layer[i].bucket);
	}
	if (p->standing)
		ruleset_free(p->standing);
	grants_free(p->grants);
	free(p->layer);
	trust_free(p->trust);
	free(p->grants_file);
	free(p);
}
