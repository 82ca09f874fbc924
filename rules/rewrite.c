// SPDX-License-Identifier: Apache-2.0
/* The object a rewrite leads to. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "rules/compiled.h"
#include "rules/endpoint.h"

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

int rule_rewritten(const struct rule *rule, uint32_t index, struct span to, char *name, size_t *len)
{
	const struct rewrite *w = compiled(rule)->to;
	struct rule_pattern p;
	if (!w || !w->subtree || !rule_pattern(rule, index, &p) || !p.tree)
		return 0;
	if (to.len < w->len || memcmp(to.bytes, w->name, w->len) != 0 || (to.len > w->len && to.bytes[w->len] != '/'))
		return 0;
	size_t above = p.prefix_len > 1 ? p.prefix_len : 0, rest = to.len - w->len;
	if (above + rest >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(name, p.prefix, above);
	memcpy(name + above, to.bytes + w->len, rest);
	*len = above + rest;
	if (!*len)
		name[(*len)++] = '/';
	return 1;
}

/* A path or an abstract name. */
static int answered_name(enum object_kind kind, const char *text, char *name, size_t *len, struct object *to)
{
	*len = strlen(text);
	if (!*len || (kind != OBJECT_ABSTRACT && text[0] != '/'))
		return -EINVAL;
	if (*len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(name, text, *len);
	to->kind = kind;
	to->name = (struct span){ name, (uint32_t)*len };
	return 0;
}

static int answered_socket(const char *text, const struct object *from, char *name, size_t *len, struct object *to)
{
	struct glob_error wrong;
	if (!strncmp(text, "unix:@", 6))
		return answered_name(OBJECT_ABSTRACT, text + 6, name, len, to);
	if (!strncmp(text, "unix:/", 6))
		return answered_name(OBJECT_UNIX, text + 5, name, len, to);
	if (text[0] == '/' && from->kind == OBJECT_UNIX)
		return answered_name(OBJECT_UNIX, text, name, len, to);
	to->kind = OBJECT_INET;
	return endpoint_parse_one(text, &wrong, &to->inet) ? -EINVAL : 0;
}

static struct inet_pattern pattern_of(const struct inet_endpoint *e)
{
	struct inet_pattern p = { .proto = e->proto, .prefix = 128, .port_lo = e->port, .port_hi = e->port };
	memcpy(p.addr, e->addr, sizeof(p.addr));
	return p;
}

int object_answered(const char *text, const struct object *from, char *name, size_t *len, struct object *to)
{
	*to = (struct object){ .ops = from->ops };
	*len = 0;
	if (from->kind == OBJECT_FILE || from->kind == OBJECT_MEMFD)
		return answered_name(OBJECT_FILE, text, name, len, to);
	int rc = from->kind == OBJECT_SOCKET ? -EINVAL : answered_socket(text, from, name, len, to);
	if (rc < 0)
		return rc;
	const struct inet_pattern asked = pattern_of(&from->inet), answered = pattern_of(&to->inet);
	return endpoint_cannot_lead(from->ops, &(struct endpoint_side){ from->kind, &asked }, &(struct endpoint_side){ to->kind, &answered }) ? -EINVAL : 0;
}
