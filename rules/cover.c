// SPDX-License-Identifier: Apache-2.0
/* What a rule speaks of, for those who look at rules instead of calls. */
#include <string.h>

#include "rules/endpoint.h"

bool rule_pattern(const struct rule *rule, uint32_t index, struct rule_pattern *out)
{
	const struct compiled_rule *r = compiled(rule);
	if (index >= r->n_patterns)
		return false;
	const struct pattern *p = &r->pattern[index];
	*out = (struct rule_pattern){ .kind = p->kind, .alias = p->alias, .column = p->column };
	if (p->kind == OBJECT_INET) {
		out->inet = (struct inet_endpoint){ .port = p->inet.port_lo, .proto = p->inet.proto };
		memcpy(out->inet.addr, p->inet.addr, sizeof(out->inet.addr));
		out->inet_prefix = p->inet.prefix;
		out->inet_port_hi = p->inet.port_hi;
		out->inet_cut = p->inet.cut;
		out->exact = p->inet.prefix == 128 && p->inet.port_lo == p->inet.port_hi;
		return true;
	}
	bool slash = p->kind == OBJECT_FILE || p->kind == OBJECT_UNIX;
	uint32_t len = glob_literal_components(&p->glob);
	out->prefix = slash ? p->name : p->name + 1;
	out->prefix_len = len + slash;
	out->exact = p->glob.literal != NULL;
	out->tree = p->glob.n == len + 2 && p->glob.token[len].op == GLOB_TAIL;
	out->tree |= p->glob.n == 1 && p->glob.token[0].op == GLOB_ALL;
	return true;
}

bool rule_leads_to(const struct rule *rule, struct span *out)
{
	const struct rewrite *to = compiled(rule)->to;
	if (!to || to->kind != OBJECT_FILE)
		return false;
	*out = (struct span){ to->name, to->len };
	return true;
}

bool rule_program(const struct rule *rule, uint32_t index, struct span *out)
{
	const struct conditions *when = compiled(rule)->when;
	if (!when || index >= when->n_by + when->n_tree)
		return false;
	const struct glob *g = index < when->n_by ? &when->by[index] : &when->tree[index - when->n_by];
	*out = (struct span){ g->literal, g->literal ? g->n : 0 };
	return true;
}

bool rule_conditional(const struct rule *rule)
{
	return compiled(rule)->when != NULL;
}

bool rule_own(const struct rule *rule)
{
	return compiled(rule)->depth == 0 && !compiled(rule)->builtin;
}

bool rule_before(const struct rule *a, const struct rule *b)
{
	return compiled(a)->index < compiled(b)->index;
}

uint32_t rule_column(const struct rule *rule)
{
	return compiled(rule)->column;
}

static bool covers(const struct pattern *wide, const struct pattern *narrow)
{
	if (wide->kind != narrow->kind)
		return false;
	if (wide->kind == OBJECT_INET)
		return endpoint_covers(&wide->inet, &narrow->inet);
	return glob_covers(&wide->glob, &narrow->glob);
}

bool rule_covers(const struct rule *wide, const struct rule *narrow, uint32_t index)
{
	const struct compiled_rule *w = compiled(wide), *n = compiled(narrow);
	for (uint32_t i = 0; index < n->n_patterns && i < w->n_patterns; i++)
		if (covers(&w->pattern[i], &n->pattern[index]))
			return true;
	return false;
}

static bool one_address(const struct pattern *p)
{
	return p->kind == OBJECT_INET && p->inet.prefix == 128;
}

bool rule_names(const struct rule *rule, const struct rule *other, uint32_t index)
{
	const struct compiled_rule *r = compiled(rule), *o = compiled(other);
	for (uint32_t i = 0; index < o->n_patterns && i < r->n_patterns; i++)
		if (one_address(&r->pattern[i]) && covers(&r->pattern[i], &o->pattern[index]))
			return true;
	return false;
}

/* Whether A and B have an endpoint in common: the address of the narrower one is among those of the other. */
static bool meet(const struct pattern *a, const struct pattern *b)
{
	const struct pattern *wide = a->inet.prefix < b->inet.prefix ? a : b, *narrow = wide == a ? b : a;
	if (a->kind != OBJECT_INET || b->kind != OBJECT_INET || narrow->inet.port_lo > wide->inet.port_hi)
		return false;
	struct inet_endpoint e = { .proto = narrow->inet.proto, .port = narrow->inet.port_lo };
	memcpy(e.addr, narrow->inet.addr, sizeof(e.addr));
	if (e.port < wide->inet.port_lo)
		e.port = wide->inet.port_lo;
	return e.port <= narrow->inet.port_hi && endpoint_matches(&wide->inet, &e);
}

bool rule_beside_firm(const struct ruleset *rs, const struct rule *rule, uint32_t index)
{
	const struct compiled_rule *r = compiled(rule);
	bool refuses = rule->kind == VERDICT_DENY || rule->kind == VERDICT_KILL;
	if (!rs->firm || index >= r->n_patterns || (!refuses && !one_address(&r->pattern[index])))
		return false;
	for (uint32_t i = 0; i < rs->n_rules; i++) {
		const struct compiled_rule *f = &rs->rule[i];
		for (uint32_t k = 0; f->pub.firm && (f->pub.ops & rule->ops) && k < f->n_patterns; k++)
			if (meet(&f->pattern[k], &r->pattern[index]))
				return true;
	}
	return false;
}

bool rule_speaks(const struct rule *rule, const struct object *object)
{
	const struct compiled_rule *r = compiled(rule);
	for (uint32_t i = 0; i < r->n_patterns; i++)
		if (pattern_matches(&r->pattern[i], object, rule->ops))
			return true;
	return false;
}
