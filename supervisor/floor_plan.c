/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exec needs every layer's consent, so the most restrictive single layer bounds them all. A layer
 * whose default lets programs be run, or asked about, anywhere bounds nothing. Of the others the
 * literal beginnings of the patterns, as the rule language has read them, are what the command may run.
 *
 * The kernel's grants stick to directories and files, not to names. What the command may remove and make again
 * (a build directory, a program that is compiled anew) is therefore granted by the directory above that stays.
 */
#include "supervisor/floor_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"

/* The system's own dynamic loaders come with the programs that name them. */
static const char *const loaders[] = { "/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32" };

const char *floor_plan_next(const struct floor_plan *plan, const char *previous)
{
	const char *next = previous ? previous + strlen(previous) + 1 : plan->text;

	return next && next < plan->text + plan->size ? next : NULL;
}

static bool holds(const struct floor_plan *plan, const char *name, size_t len)
{
	for (const char *n = NULL; (n = floor_plan_next(plan, n));) {
		if (strlen(n) == len && memcmp(n, name, len) == 0)
			return true;
	}
	return false;
}

static int add(struct floor_plan *plan, const char *name, size_t len)
{
	if (holds(plan, name, len))
		return 0;
	char *more = calloc(1, plan->size + len + 1);
	if (!more)
		return -ENOMEM;
	if (plan->text)
		memcpy(more, plan->text, plan->size);
	memcpy(more + plan->size, name, len);
	free(plan->text);
	plan->text = more;
	plan->size += len + 1;
	return 0;
}

void floor_plan_done(struct floor_plan *plan)
{
	free(plan->text);
	*plan = (struct floor_plan){ 0 };
}

/* Whether LAYER lets a program run, or be asked about, under a name that no rule can mean in particular. */
static bool open_everywhere(const struct ruleset *layer)
{
	struct call call = { .syscall = "execve", .n_objects = 1 };
	struct verdict verdict = { 0 };

	call.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_EXEC, .name = SPAN_LITERAL("/\1\1/\1") };
	ruleset_decide(layer, &call, &verdict);
	return verdict.kind != VERDICT_DENY && verdict.kind != VERDICT_KILL;
}

/* Whether the rules could ever let NAME be made or removed. */
static bool may_change(const struct policy *policy, const char *name, size_t len, op_set op)
{
	struct call call = { .syscall = "unlink", .n_objects = 1 };
	const struct ruleset *layer;
	bool spoken = false;

	call.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = op, .name = { name, (uint32_t)len } };
	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		struct verdict verdict = { 0 };
		ruleset_decide(layer, &call, &verdict);
		if (verdict.kind == VERDICT_DENY || verdict.kind == VERDICT_KILL)
			return false;
		/* The first layer guards usher: its silence allows nothing. */
		spoken |= i > 0 && verdict.kind != VERDICT_NONE;
	}
	return spoken;
}

/* The length of the directory that holds NAME, 1 for "/". */
static size_t above(const char *name, size_t len)
{
	while (len > 1 && name[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : len;
}

/* Whether the file system, too, lets this user exchange what NAME is. When in doubt it does. */
static bool exchangeable(const char *name, size_t len)
{
	CLEANUP_FREE char *parent = strndup(name, above(name, len));

	return !parent || faccessat(AT_FDCWD, parent, W_OK, AT_EACCESS) == 0 || errno == ENOENT;
}

/* The length of the part of NAME that stays what it is. */
static size_t lasting(const struct policy *policy, const char *name, size_t len)
{
	while (len > 1 && (may_change(policy, name, len, OP_DELETE) || may_change(policy, name, len, OP_CREATE)) &&
	       exchangeable(name, len))
		len = above(name, len);
	return len;
}

struct planning {
	const struct policy *policy;
	const struct ruleset *layer;
	struct floor_plan *plan;
};

/* NAME, absolute, or what lasts of it. */
static int add_lasting(const struct planning *p, const char *name, size_t len)
{
	return add(p->plan, len ? name : "/", len ? lasting(p->policy, name, len) : 1);
}

static int add_rule(const struct planning *p, const struct rule *rule)
{
	struct rule_pattern of;
	struct span to;
	int rc = rule_leads_to(rule, &to) ? add_lasting(p, to.bytes, to.len) : 0;

	/* A file without a name is granted by no directory. */
	for (uint32_t i = 0; rc == 0 && rule_pattern(rule, i, &of); i++) {
		if (of.kind == OBJECT_FILE)
			rc = add_lasting(p, of.prefix, of.prefix_len);
	}
	return rc;
}

static int add_layer(const struct planning *p)
{
	const struct rule *rule;

	for (size_t i = 0; (rule = ruleset_rule(p->layer, i)); i++) {
		if (!(rule->ops & OP_EXEC) || rule->kind == VERDICT_DENY || rule->kind == VERDICT_KILL)
			continue;
		int rc = add_rule(p, rule);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_loaders(struct floor_plan *plan)
{
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		if (access(loaders[i], F_OK) != 0)
			continue;
		int rc = add(plan, loaders[i], strlen(loaders[i]));
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Fewer names stand for more programs only when one of them is "/"; otherwise any restricted layer will do. */
int floor_plan_make(const struct policy *policy, struct floor_plan *out)
{
	const struct ruleset *layer;
	int rc = 0;

	*out = (struct floor_plan){ 0 };
	for (size_t i = 0; policy && rc == 0 && (layer = policy_layer(policy, i)); i++) {
		if (open_everywhere(layer))
			continue;
		rc = add_layer(&(struct planning){ policy, layer, out });
		if (rc == 0 && !holds(out, "/", 1)) {
			rc = add_loaders(out);
			if (rc < 0)
				floor_plan_done(out);
			return rc;
		}
		floor_plan_done(out);
	}
	return rc < 0 ? rc : add(out, "/", 1);
}
