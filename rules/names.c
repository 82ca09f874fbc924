// SPDX-License-Identifier: Apache-2.0
/*
 * What names lead to on this machine when the rules are loaded: the identity of literal
 * names that are forbidden, and the canonical form of beginnings that hold links.
 *
 * MUST: the only file of the floor that looks at the file system for names, at load only;
 * an identity or a link can make a deny match more; a link can make an allow match more only where
 * nobody but root could have laid it, outside the directories that the variables name.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/compiled.h"

static bool forbids(const struct compiled_rule *rule)
{
	return rule->pub.kind == VERDICT_DENY || rule->pub.kind == VERDICT_KILL;
}

static int add_pin(struct ruleset *rs, uint32_t rule, const struct stat *st)
{
	int r = reserve((void **)&rs->pin, &rs->room_pins, rs->n_pins + 1, sizeof(*rs->pin));
	if (!r)
		rs->pin[rs->n_pins++] = (struct pin){ .dev = st->st_dev, .ino = st->st_ino, .rule = rule };
	return r;
}

static int pin_pattern(struct ruleset *rs, const struct compiled_rule *rule, const struct pattern *p)
{
	struct stat st;
	char path[GLOB_TOKENS + 2] = "/";
	if (p->kind != OBJECT_FILE && p->kind != OBJECT_UNIX)
		return 0;
	if (!p->glob.literal || !p->glob.n)
		return 0;
	memcpy(path + 1, p->glob.literal, p->glob.n);
	path[1 + p->glob.n] = 0;
	return stat(path, &st) == 0 ? add_pin(rs, rule->index, &st) : 0;
}

int names_resolve(struct ruleset *rs, const struct ruleset_source *from)
{
	for (uint32_t i = 0; i < rs->n_rules; i++) {
		const struct compiled_rule *rule = &rs->rule[i];
		for (uint32_t p = 0; forbids(rule) && p < rule->n_patterns; p++) {
			int r = pin_pattern(rs, rule, &rule->pattern[p]);
			if (r)
				return r;
		}
	}
	return 0;
}
