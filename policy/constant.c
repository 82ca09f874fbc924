/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: yes is said only where policy_decide() would say the same of every object there is, for every
 * caller, and nobody wants a record of it: but that the guard's own refusals are then not told apart (policy_refuses) or
 * are the caller's to keep (policy_allows).
 */
#include "policy/constant.h"

#include <errno.h>
#include <string.h>

#include "policy/policy.h"

/* What OP is done to: files, or sockets with a path. */
static enum object_kind kind_of(op_set op)
{
	return op & OPS_NET ? OBJECT_UNIX : OBJECT_FILE;
}

static bool speaks_of(const struct rule *r, enum object_kind kind)
{
	struct rule_pattern p;
	for (uint32_t i = 0; rule_pattern(r, i, &p); i++)
		if (p.kind == kind || (kind == OBJECT_FILE && p.kind == OBJECT_MEMFD))
			return true;
	return false;
}

/* A bare globstar is every path there is and what has none. */
static bool is_catch_all(const struct rule *r, enum object_kind kind)
{
	struct rule_pattern p;
	if (rule_conditional(r))
		return false;
	for (uint32_t i = 0; rule_pattern(r, i, &p); i++)
		if (p.kind == kind && p.tree && p.prefix_len <= 1)
			return true;
	return false;
}

/* The first rule of LAYER that names OP on files, NULL when none does. */
static const struct rule *first_of(const struct ruleset *layer, op_set op)
{
	const struct rule *r;
	for (size_t i = 0; (r = ruleset_rule(layer, i)); i++)
		if ((r->ops & op) && speaks_of(r, kind_of(op)))
			return r;
	return NULL;
}

int policy_refuses(const struct policy *p, op_set op)
{
	const struct ruleset *layer;
	const char *where;
	int error = 0;
	/* Layer 0 is the guard. Of equal verdicts the first layer's is given; a record that one layer wants is written. */
	for (size_t i = 1; (layer = policy_layer(p, i)); i++) {
		const struct rule *r = first_of(layer, op);
		if (!r && ruleset_default(layer, &where) == VERDICT_NONE)
			continue;
		if (!r || r->kind != VERDICT_DENY || r->log != LOG_NONE || r->evidence || !is_catch_all(r, kind_of(op)))
			return 0;
		error = error ? error : r->error ? r->error : EACCES;
	}
	return error;
}

static bool plainly_allows(const struct rule *r, bool silent)
{
	return r->kind == VERDICT_ALLOW && !r->limit && !(silent && (r->log != LOG_NONE || r->evidence || r->review));
}

enum { LAYER_REFUSES = -1, LAYER_SILENT, LAYER_ALLOWS };

/* What LAYER makes of OP on all files, or sockets: rules on some may stand before the one on all when they say nothing else. */
static int layer_allows(const struct ruleset *layer, op_set op, bool silent, const char **where)
{
	const struct rule *r;
	for (size_t i = 0; (r = ruleset_rule(layer, i)); i++) {
		if (!(r->ops & op) || !speaks_of(r, kind_of(op)))
			continue;
		*where = r->where;
		if (!plainly_allows(r, silent))
			return LAYER_REFUSES;
		if (is_catch_all(r, kind_of(op)))
			return LAYER_ALLOWS;
	}
	enum verdict_kind otherwise = ruleset_default(layer, where);
	if (otherwise == VERDICT_NONE)
		return LAYER_SILENT;
	return otherwise == VERDICT_ALLOW && !silent ? LAYER_ALLOWS : LAYER_REFUSES;
}

bool policy_allows(const struct policy *p, op_set op, bool silent, const char **where)
{
	const struct ruleset *layer;
	const char *here = NULL;
	bool allowed = false;
	for (size_t i = 1; (layer = policy_layer(p, i)); i++) {
		int says = layer_allows(layer, op, silent, &here);
		if (where)
			*where = here;
		if (says == LAYER_REFUSES)
			return false;
		allowed = allowed || says == LAYER_ALLOWS;
	}
	if (where)
		*where = NULL;
	return allowed;
}

const char *policy_closed(const struct policy *p, size_t index, size_t *len)
{
	const struct ruleset *guard = policy_layer(p, 0);
	const struct rule *r;
	for (size_t n = 0; guard && (r = ruleset_rule(guard, n)); n++) {
		struct rule_pattern pat;
		for (uint32_t i = 0; r->kind == VERDICT_DENY && (r->ops & OP_READ) && rule_pattern(r, i, &pat); i++) {
			bool of_process = pat.prefix_len >= 6 && memcmp(pat.prefix, "/proc/", 6) == 0;
			if (pat.kind != OBJECT_FILE || !pat.exact || of_process || index--)
				continue;
			*len = pat.prefix_len;
			return pat.prefix;
		}
	}
	return NULL;
}

bool policy_limits(const struct policy *p, op_set op)
{
	const struct ruleset *layer;
	const struct rule *r;
	for (size_t l = 1; (layer = policy_layer(p, l)); l++) {
		for (size_t n = 0; (r = ruleset_rule(layer, n)); n++) {
			if (r->limit && (r->ops & op))
				return true;
		}
	}
	return false;
}

static bool is_below(struct span name, struct span dir)
{
	while (dir.len && dir.bytes[dir.len - 1] == '/')
		dir.len--;
	return name.len > dir.len && memcmp(name.bytes, dir.bytes, dir.len) == 0 && name.bytes[dir.len] == '/';
}

static bool may_mean_below(const struct rule_pattern *pat, struct span dir)
{
	struct span begins = { pat->prefix, pat->prefix_len };

	return is_below(begins, dir) || (!pat->exact && (span_equal(begins, dir) || is_below(dir, begins)));
}

bool policy_bounds_below(const struct policy *p, op_set op, struct span dir)
{
	const struct ruleset *layer;
	const struct rule *r;
	for (size_t l = 1; (layer = policy_layer(p, l)); l++) {
		for (size_t n = 0; (r = ruleset_rule(layer, n)); n++) {
			struct rule_pattern pat;
			for (uint32_t i = 0; r->kind != VERDICT_ALLOW && (r->ops & op) && rule_pattern(r, i, &pat); i++) {
				if (pat.kind == OBJECT_FILE && may_mean_below(&pat, dir))
					return true;
			}
		}
	}
	return false;
}

static bool concerns_stat(const struct rule *r)
{
	if (r->ops & OP_STAT)
		return r->kind != VERDICT_ALLOW || r->log != LOG_NONE || r->evidence || r->limit;
	/* A file whose name may be led elsewhere has to look like what it leads to. Endpoints and programs have no look. */
	return r->kind == VERDICT_REWRITE && (r->ops & ~(OP_EXEC | OPS_NET));
}

bool policy_mediates_stat(const struct policy *p)
{
	const struct ruleset *layer;
	for (size_t i = 0; (layer = policy_layer(p, i)); i++) {
		const struct rule *r;
		for (size_t n = 0; (r = ruleset_rule(layer, n)); n++)
			if (concerns_stat(r))
				return true;
	}
	return false;
}
