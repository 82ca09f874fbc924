// SPDX-License-Identifier: Apache-2.0
/* The object a rewrite leads to. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "rules/compiled.h"

/* The part of the old name that stays: what is below the beginning of the pattern that matched. */
static struct span below(const struct compiled_rule *rule, const struct object *from)
{
	for (uint32_t i = 0; rule->to->subtree && i < rule->n_patterns; i++) {
		const struct pattern *p = &rule->pattern[i];
		if (!pattern_matches(p, from, 0))
			continue;
		uint32_t strip = p->glob.n == 1 ? 0 : p->glob.prefix + (from->kind != OBJECT_ABSTRACT);
		if (strip <= from->name.len)
			return (struct span){ from->name.bytes + strip, from->name.len - strip };
	}
	return SPAN_LITERAL("");
}

static int name_target(const struct compiled_rule *rule, const struct object *from, char *name, size_t *len)
{
	const struct rewrite *to = rule->to;
	struct span kept = below(rule, from);
	const char *rest = kept.bytes;
	size_t rest_len = kept.len;
	if (to->len + rest_len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(name, to->name, to->len);
	memcpy(name + to->len, rest, rest_len);
	*len = to->len + rest_len;
	if (!*len && to->kind != OBJECT_ABSTRACT)
		name[(*len)++] = '/';
	return 0;
}

int rule_rewrite(const struct rule *rule, const struct object *from, char *name, size_t *len, struct object *to)
{
	const struct rewrite *w = compiled(rule)->to;
	*to = *from;
	*len = 0;
	to->named = (struct span){ NULL, 0 };
	to->identified = false;
	to->kind = w->kind;
	if (w->kind == OBJECT_INET) {
		to->name = (struct span){ NULL, 0 };
		to->inet = w->inet;
		if (w->keep_addr)
			memcpy(to->inet.addr, from->inet.addr, sizeof(to->inet.addr));
		if (w->keep_addr)
			to->inet.scope = from->inet.scope;
		if (w->keep_port)
			to->inet.port = from->inet.port;
		return 0;
	}
	int r = name_target(compiled(rule), from, name, len);
	to->name = (struct span){ name, (uint32_t)*len };
	return r;
}
