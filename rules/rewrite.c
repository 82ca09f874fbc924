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

/* One address and one port; the socket's protocol stays, but for a connect that leads from a unix socket to TCP. */
static int answered_inet(const char *text, const struct object *from, struct object *to)
{
	struct glob_error wrong;
	struct inet_pattern p;
	if (endpoint_parse(text, &wrong, &p) != 0 || p.prefix != 128 || p.port_lo != p.port_hi)
		return -EINVAL;
	if (from->kind == OBJECT_INET ? p.proto != from->inet.proto : p.proto != PROTO_TCP || from->ops != OP_CONNECT)
		return -EINVAL;
	to->kind = OBJECT_INET;
	to->inet = (struct inet_endpoint){ .port = p.port_lo, .proto = p.proto };
	memcpy(to->inet.addr, p.addr, sizeof(to->inet.addr));
	return 0;
}

/* A path or an abstract name. Of an internet socket only a connect of TCP leads there. */
static int answered_name(enum object_kind kind, const char *text, const struct object *from, char *name, size_t *len, struct object *to)
{
	if (from->kind == OBJECT_INET && (from->inet.proto != PROTO_TCP || from->ops != OP_CONNECT))
		return -EINVAL;
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

int object_answered(const char *text, const struct object *from, char *name, size_t *len, struct object *to)
{
	*to = (struct object){ .ops = from->ops };
	*len = 0;
	if (from->kind == OBJECT_FILE || from->kind == OBJECT_MEMFD)
		return answered_name(OBJECT_FILE, text, from, name, len, to);
	if (from->kind == OBJECT_SOCKET)
		return -EINVAL;
	if (!strncmp(text, "unix:@", 6))
		return answered_name(OBJECT_ABSTRACT, text + 6, from, name, len, to);
	if (!strncmp(text, "unix:/", 6))
		return answered_name(OBJECT_UNIX, text + 5, from, name, len, to);
	if (text[0] == '/' && from->kind == OBJECT_UNIX)
		return answered_name(OBJECT_UNIX, text, from, name, len, to);
	return answered_inet(text, from, to);
}
