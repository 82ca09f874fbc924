// SPDX-License-Identifier: Apache-2.0
/* Where a rewrite leads: rewrite OP FROM -> TO. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/endpoint.h"
#include "rules/parser.h"

/* FROM is a literal name with all below it: the bytes of its name with the leading slash, 0 when it is not. */
static uint32_t subtree_of(const struct pattern *from)
{
	const struct glob *g = &from->glob;
	if (from->kind == OBJECT_INET)
		return 0;
	if (g->n == 1 && g->token[0].op == GLOB_ALL)
		return 1;
	return g->n == g->prefix + 2U && g->token[g->prefix].op == GLOB_TAIL ? g->prefix + 1U : 0;
}

static bool literal(const struct pattern *p)
{
	return p->kind != OBJECT_INET && p->glob.literal;
}

static struct endpoint_side side_of(const struct pattern *p)
{
	return (struct endpoint_side){ p->kind, p->kind == OBJECT_INET ? &p->inet : NULL };
}

static int check_family(struct parser *p, const struct word *w, op_set ops, const struct pattern *from, const struct pattern *to)
{
	const struct endpoint_side left = side_of(from), right = side_of(to);
	const char *wrong = endpoint_cannot_lead(ops, &left, &right);
	return wrong ? parser_fail(p, w->from, "%s", wrong) : 0;
}

static int name_target(struct parser *p, const struct word *w, const struct pattern *from, const struct pattern *to,
		       struct rewrite *out)
{
	uint32_t keep = subtree_of(to);
	bool absolute = to->kind != OBJECT_ABSTRACT;
	if (!literal(to) && !keep)
		return parser_fail(p, w->from, "what a rewrite leads to is one name, or NAME/** for a whole tree");
	if (keep && (from->kind != to->kind || !subtree_of(from)))
		return parser_fail(p, w->from, "NAME/** on the right of -> needs NAME/** on its left");
	char name[GLOB_TOKENS + 1];
	uint32_t len = 0;
	if (absolute)
		name[len++] = '/';
	for (uint32_t i = 0; i < to->glob.prefix && len < GLOB_TOKENS; i++)
		name[len++] = (char)to->glob.token[i].byte;
	out->kind = to->kind;
	out->subtree = keep != 0;
	/* The root has no name of its own to put in front. */
	if (keep && to->glob.n == 1)
		len = 0;
	out->len = len;
	out->name = arena_copy(&p->rs->arena, name, len);
	return out->name ? 0 : -ENOMEM;
}

static int inet_target(struct parser *p, const struct word *w, const struct pattern *from, const struct pattern *to,
		       struct rewrite *out)
{
	const struct inet_pattern *t = &to->inet;
	bool any_port = t->port_lo == 0 && t->port_hi == 65535;
	if ((t->prefix != 0 && t->prefix != 128) || (!any_port && t->port_lo != t->port_hi))
		return parser_fail(p, w->from, "what a rewrite leads to is one address and one port; '*' keeps what was asked for");
	if (from->kind != OBJECT_INET && (t->prefix == 0 || any_port))
		return parser_fail(p, w->from, "a unix endpoint has no address and port to keep; both were expected");
	out->kind = OBJECT_INET;
	out->inet = (struct inet_endpoint){ .port = t->port_lo, .proto = t->proto };
	memcpy(out->inet.addr, t->addr, sizeof(out->inet.addr));
	out->keep_addr = t->prefix == 0;
	out->keep_port = any_port;
	return 0;
}

int parse_target(struct parser *p, const struct word *w, op_set ops, const struct pattern *from, const struct rewrite **out)
{
	struct pattern_list list = { 0 };
	int r = parse_patterns(p, w, ops, &list);
	struct rewrite *to = r ? NULL : arena_alloc(&p->rs->arena, sizeof(*to));
	if (!r && !to)
		r = -ENOMEM;
	if (!r && list.n != 1)
		r = parser_fail(p, w->from, "what a rewrite leads to is one object, without {a,b}");
	if (!r && list.item->kind == OBJECT_MEMFD)
		r = parser_fail(p, w->from, "a rewrite cannot lead to a file without a name");
	if (!r)
		r = check_family(p, w, ops, from, list.item);
	if (!r && list.item->kind == OBJECT_INET)
		r = inet_target(p, w, from, list.item, to);
	else if (!r)
		r = name_target(p, w, from, list.item, to);
	free(list.item);
	*out = to;
	return r;
}
