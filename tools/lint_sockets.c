// SPDX-License-Identifier: Apache-2.0
/*
 * What a raw socket sends no rule on addresses speaks of: who gives one beside rules that keep programs from addresses is told so, and
 * who gives one that another file withholds, too.
 */
#include <stdio.h>
#include <string.h>

#include "rules/socket_kinds.h"
#include "tools/rule_files.h"

static bool refuses(enum verdict_kind kind)
{
	return kind == VERDICT_DENY || kind == VERDICT_KILL;
}

static bool speaks(const struct rule *r, const char *kind)
{
	struct object o = { .kind = OBJECT_SOCKET, .ops = OP_SOCKET, .name = { kind, (uint32_t)strlen(kind) } };
	return (r->ops & OP_SOCKET) && rule_speaks(r, &o);
}

/* Whether LAYER refuses what none of its rules names, and where it says so. */
static bool withholds(const struct ruleset *layer, const char **where)
{
	const struct rule *r = ruleset_restricts(layer);
	enum verdict_kind otherwise = ruleset_default(layer, where);
	if (r)
		*where = r->where;
	return r || (otherwise != VERDICT_NONE && otherwise != VERDICT_ALLOW);
}

/* Whether some rule of LAYER names a kind that RULE gives. */
static bool names_some(const struct ruleset *layer, const struct rule *rule)
{
	const struct rule *r;
	const char *kind;
	for (unsigned k = 0; (kind = socket_example(k)); k++)
		for (size_t i = 0; speaks(rule, kind) && (r = ruleset_rule(layer, i)); i++)
			if (speaks(r, kind))
				return true;
	return false;
}

static const char *kind_past(const struct rule *rule)
{
	const char *kind;
	for (unsigned k = 0; (kind = socket_example(k)); k++)
		if (speaks(rule, kind) && socket_goes_past((struct span){ kind, (uint32_t)strlen(kind) }))
			return kind;
	return NULL;
}

bool check_sockets(const struct check *c, size_t layer, const struct rule *rule, char *out, size_t cap)
{
	const char *where = NULL, *by = NULL;
	if (!(rule->ops & OP_SOCKET) || refuses(rule->kind))
		return false;
	for (size_t i = 0; i < c->n_files; i++) {
		if (!withholds(c->layer[i], &where))
			continue;
		if (i != layer && !names_some(c->layer[i], rule)) {
			snprintf(out, cap, "has no effect: %s names no such socket, and so refuses it (%s)", c->files[i], where);
			return true;
		}
		by = by ? by : where;
	}
	const char *kind = by ? kind_past(rule) : NULL;
	if (kind)
		snprintf(out, cap, "what goes through such a socket (%s) is decided on by no rule on connect, bind or send: it goes past %s",
			 kind, by);
	return kind != NULL;
}
