// SPDX-License-Identifier: Apache-2.0
/* A ruleset from its file to its end, and what can be asked of it but the decision. */
#include "rules/ruleset.h"

#include <errno.h>
#include <string.h>

#include "rules/cleanup.h"
#include "rules/parser.h"

static int out_of_memory(const char *name, struct diagnostics *found)
{
	struct place at = { .file = name };
	findings_add(found, DIAGNOSTIC_ERROR, &at, "out of memory");
	return -ENOMEM;
}

/* SOURCE is parsed and compiled into RS. 0, 1 (errors in FOUND) or a negative errno. */
static int build(struct ruleset *rs, const struct source *source, const struct ruleset_source *from,
		 struct diagnostics *found)
{
	CLEANUP_FREE struct variables *variables = calloc(1, sizeof(*variables));
	size_t before = found->errors;
	struct inclusion file = { .name = source->name };
	struct parser p = { .rs = rs, .found = found, .variables = variables, .file = &file,
			    .builtin = strncmp(source->name, "builtin:", 8) == 0, .tested = from && from->tested };
	if (!variables)
		return -ENOMEM;
	int r = variables_import(variables, &rs->arena, from);
	if (!r)
		r = parse_source(&p, source);
	if (r)
		return r;
	if (p.error)
		return p.error;
	return found->errors > before ? 1 : 0;
}

static int finish(struct ruleset *rs, const char *name, int r, struct diagnostics *found, struct ruleset **out)
{
	if (!r)
		r = index_build(rs);
	if (r == -ENOMEM)
		out_of_memory(name, found);
	if (r)
		ruleset_free(rs);
	else
		*out = rs;
	return r;
}

static struct ruleset *fresh(void)
{
	struct ruleset *rs = calloc(1, sizeof(*rs));
	if (rs)
		rs->otherwise = VERDICT_NONE;
	return rs;
}

static int read_source(struct ruleset *rs, const char *path, struct diagnostics *found, struct source *out)
{
	struct place at = { .file = path };
	if (strncmp(path, "builtin:", 8) != 0)
		return source_read(&rs->arena, path, &at, found, out);
	const char *text = builtin_text(path + 8);
	const char *name = arena_copy(&rs->arena, path, strlen(path));
	if (!name)
		return -ENOMEM;
	if (!text) {
		findings_add(found, DIAGNOSTIC_ERROR, &at, "no built-in rules of that name; 'usher rules list' shows them");
		return -ENOENT;
	}
	*out = (struct source){ .name = name, .text = text, .len = strlen(text) };
	return 0;
}

int ruleset_load(const struct ruleset_source *source, struct diagnostics *found, struct ruleset **out)
{
	struct source text;
	struct ruleset *rs = fresh();
	*out = NULL;
	if (!rs)
		return out_of_memory(source->path, found);
	int r = read_source(rs, source->path, found, &text);
	if (!r)
		r = build(rs, &text, source, found);
	if (!r)
		r = names_resolve(rs, source);
	return finish(rs, source->path, r, found, out);
}

static int parse(const char *name, const char *text, size_t len, const struct ruleset_source *variables, bool pin,
		 struct diagnostics *found, struct ruleset **out)
{
	struct ruleset *rs = fresh();
	*out = NULL;
	if (!rs)
		return out_of_memory(name, found);
	struct source source = { .len = len };
	source.name = arena_copy(&rs->arena, name, strlen(name));
	source.text = arena_copy(&rs->arena, text, len);
	int r = source.name && source.text ? build(rs, &source, variables, found) : -ENOMEM;
	if (!r && pin)
		r = names_pin_linked(rs);
	return finish(rs, name, r, found, out);
}

int ruleset_parse(const char *name, const char *text, size_t len, const struct ruleset_source *variables,
		  struct diagnostics *found, struct ruleset **out)
{
	return parse(name, text, len, variables, false, found, out);
}

int ruleset_parse_guard(const char *name, const char *text, size_t len, struct diagnostics *found, struct ruleset **out)
{
	return parse(name, text, len, NULL, true, found, out);
}

void ruleset_free(struct ruleset *rs)
{
	if (!rs)
		return;
	index_free(&rs->index);
	free(rs->rule);
	free(rs->file);
	free(rs->expect);
	free(rs->env);
	free(rs->pin);
	free(rs->redact);
	arena_free(&rs->arena);
	free(rs);
}

uint32_t ruleset_limit_slots(const struct ruleset *rs)
{
	return rs->limit_slots;
}

bool ruleset_can(const struct ruleset *rs, enum verdict_kind kind)
{
	return rs->can >> kind & 1 || (rs->otherwise == kind && kind != VERDICT_NONE);
}

const struct rule *ruleset_restricts(const struct ruleset *rs)
{
	return rs->restricts ? &rs->rule[rs->restricts - 1].pub : NULL;
}

op_set ruleset_ops(const struct ruleset *rs)
{
	return rs->ops;
}

bool ruleset_silent(const struct ruleset *rs)
{
	for (size_t i = 0; i < LIMIT_KINDS; i++)
		if (rs->limit[i])
			return false;
	return !rs->n_rules && !rs->n_expect && !rs->n_env && !rs->n_redact && rs->otherwise == VERDICT_NONE;
}

const char *ruleset_states(const struct ruleset *rs)
{
	for (size_t i = 0; i < LIMIT_KINDS; i++)
		if (rs->limit[i])
			return "limit";
	if (rs->n_env || rs->n_redact)
		return rs->n_env ? "env" : "redact";
	return rs->otherwise != VERDICT_NONE ? "default" : NULL;
}

unsigned ruleset_wants(const struct ruleset *rs)
{
	return rs->wants;
}

bool ruleset_pins(const struct ruleset *rs)
{
	return rs->n_pins > 0;
}

bool ruleset_parts(const struct ruleset *rs)
{
	bool parts = false;
	for (uint32_t i = 0; i < rs->n_pins && !parts; i++)
		parts = rs->pin[i].parting != 0;
	return parts;
}

enum verdict_kind ruleset_default(const struct ruleset *rs, const char **where)
{
	*where = rs->otherwise_where;
	return rs->otherwise;
}

size_t ruleset_files(const struct ruleset *rs, const struct ruleset_file **out)
{
	*out = rs->file;
	return rs->n_files;
}

const struct rule *ruleset_rule(const struct ruleset *rs, size_t index)
{
	return index < rs->n_rules ? &rs->rule[index].pub : NULL;
}

const char *ruleset_redact(const struct ruleset *rs, size_t index)
{
	return index < rs->n_redact ? rs->redact[index] : NULL;
}

const struct expectation *ruleset_expectation(const struct ruleset *rs, size_t index)
{
	return index < rs->n_expect ? &rs->expect[index] : NULL;
}

static bool named_by(const struct compiled_rule *rule, const struct object *o, op_set op)
{
	bool hit = false;
	for (uint32_t i = 0; i < rule->n_patterns && !hit; i++)
		hit = pattern_matches(&rule->pattern[i], o, op);
	return hit;
}

op_set pin_parting(const struct pin *pin, const struct compiled_rule *rule, const struct object *object)
{
	return pin->parting && !named_by(rule, object, 0) ? pin->parting : 0;
}

/* The operations for which a pin of RULE speaks of O. */
static op_set pinned(const struct ruleset *rs, const struct compiled_rule *rule, const struct object *o)
{
	for (uint32_t i = 0; o->identified && i < rs->n_pins; i++)
		if (rs->pin[i].rule == rule->index && rs->pin[i].dev == o->dev && rs->pin[i].ino == o->ino)
			return rule->pub.ops | pin_parting(&rs->pin[i], rule, o);
	return 0;
}

bool rule_matches(const struct ruleset *rs, const struct rule *rule, const struct call *call, uint32_t object, op_set op)
{
	const struct compiled_rule *r = compiled(rule);
	const struct object *o = &call->object[object];
	bool hit = (pinned(rs, r, o) & op) || ((rule->ops & op) && named_by(r, o, rule->ops & op));
	return hit && conditions_hold(r->when, call, &call->object[object], 0);
}
