// SPDX-License-Identifier: Apache-2.0
/* The object a rewrite leads to. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "rules/compiled.h"

static int name_target(const struct rewrite *to, const struct object *from, char *name, size_t *len)
{
	const char *rest = "";
	size_t rest_len = 0;
	if (to->subtree && from->name.bytes && from->name.len > to->strip) {
		rest = from->name.bytes + to->strip;
		rest_len = from->name.len - to->strip;
	}
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
	int r = name_target(w, from, name, len);
	to->name = (struct span){ name, (uint32_t)*len };
	return r;
}
