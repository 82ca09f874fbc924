// SPDX-License-Identifier: Apache-2.0
/*
 * Which rules cover a pattern: what matches all that it matches also matches one name it matches, and who matches
 * a name the index knows. A rule with conditions covers nothing for certain, so what is behind forks is passed over.
 */
#include <string.h>

#include "rules/index.h"

struct covering {
	const struct ruleset *rs;
	const struct rule *narrow;
	uint32_t pattern;
	bool (*each)(void *context, const struct rule *wide);
	void *context;
};

static char first_of(const struct glob_class *class)
{
	unsigned byte = 1;
	while (byte < 255 && (byte == '/' || !(class->bits[byte / 8] >> (byte % 8) & 1)))
		byte++;
	return (char)byte;
}

/* A name that G matches, behind what OUT holds already; returns its end. */
static size_t example(const struct glob *g, char *out, size_t at)
{
	for (uint16_t i = 0; i < g->n; i++) {
		const struct glob_token *t = &g->token[i];
		switch ((enum glob_op)t->op) {
		case GLOB_BYTE:
			out[at++] = (char)t->byte;
			break;
		case GLOB_SEP:
			out[at++] = g->sep;
			break;
		case GLOB_CLASS:
			out[at++] = first_of(&g->class[t->class]);
			break;
		case GLOB_ANY:
		case GLOB_STAR:
		case GLOB_ALL:
			out[at++] = 'x';
			break;
		case GLOB_DIRS:
			break;
		case GLOB_TAIL:
			i++;
			break;
		}
	}
	return at;
}

static bool tell(const struct covering *c, uint32_t rule)
{
	const struct rule *wide = &c->rs->rule[rule].pub;
	return rule_conditional(wide) || !rule_covers(wide, c->narrow, c->pattern) || c->each(c->context, wide);
}

static void seen(void *context, const struct term *t)
{
	const struct covering *c = context;
	for (;; t = &c->rs->index.term[t->next]) {
		if ((!t->fork && !tell(c, t->rule)) || !t->next)
			return;
	}
}

void rules_covering(const struct ruleset *rs, const struct rule *narrow, uint32_t index,
		    bool (*each)(void *context, const struct rule *wide), void *context)
{
	struct covering c = { rs, narrow, index, each, context };
	const struct pattern *p = &compiled(narrow)->pattern[index];
	struct object o = { .kind = p->kind };
	char name[GLOB_TOKENS + sizeof("memfd:")];
	size_t len = 0;
	if (p->kind == OBJECT_INET) {
		o.inet = (struct inet_endpoint){ .proto = p->inet.proto, .port = p->inet.port_lo };
		memcpy(o.inet.addr, p->inet.addr, sizeof(o.inet.addr));
	} else {
		const char *before = p->kind == OBJECT_MEMFD ? "memfd:" : p->kind == OBJECT_ABSTRACT || p->kind == OBJECT_SOCKET ? "" : "/";
		len = strlen(before);
		memcpy(name, before, len);
		len = example(&p->glob, name, len);
		o.name = (struct span){ name, (uint32_t)len };
	}
	if (index_walk(rs, &o, seen, &c))
		return;
	for (uint32_t i = 0; i < rs->n_rules && tell(&c, i); i++)
		;
}
