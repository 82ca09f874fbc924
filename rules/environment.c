// SPDX-License-Identifier: Apache-2.0
/* env keep, env drop, env set: which variables the first command gets. In one file the first statement that matches decides. */
#include <errno.h>
#include <string.h>

#include "rules/parser.h"

static struct env_statement *env_add(struct ruleset *rs)
{
	if (reserve((void **)&rs->env, &rs->room_env, rs->n_env + 1, sizeof(*rs->env)))
		return NULL;
	return &rs->env[rs->n_env++];
}

/* What no variable's name is, or nobody means by one: a keep or drop of it would do nothing, unsaid. */
static const char *no_name(const struct word *w)
{
	unsigned braces = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		braces += w->units[i] == '{';
		braces -= w->units[i] == '}' && braces;
		if (w->units[i] == '=')
			return "a name was expected, which has no '='; env set NAME=VALUE sets one";
		if (w->units[i] == ',' && !braces && !w->quoted)
			return "names are separated by blanks";
	}
	return NULL;
}

static int add_patterns(struct parser *p, const struct line *line, enum env_says says)
{
	for (size_t i = 2; i < line->n; i++) {
		const struct glob *glob;
		uint32_t n;
		const char *why = no_name(&line->word[i]);
		if (why)
			return parser_fail(p, line->word[i].from, "%s", why);
		int r = parse_globs(p, &line->word[i], 0, 0, &glob, &n);
		if (r)
			return r;
		struct env_statement *e = env_add(p->rs);
		if (!e)
			return -ENOMEM;
		*e = (struct env_statement){ .says = says, .glob = glob, .n = n };
	}
	return 0;
}

static int add_settings(struct parser *p, const struct line *line)
{
	for (size_t i = 2; i < line->n; i++) {
		const struct word *w = &line->word[i];
		const char *text = word_text(&p->rs->arena, w, 0);
		const char *equals = text ? strchr(text, '=') : NULL;
		if (!text)
			return -ENOMEM;
		if (!equals || equals == text)
			return parser_fail(p, w->from, "env set NAME=VALUE was expected; quotes go around the value");
		struct env_statement *e = env_add(p->rs);
		if (!e)
			return -ENOMEM;
		*e = (struct env_statement){ .says = ENV_SET, .setting = text };
	}
	return 0;
}

int parse_env(struct parser *p, const struct line *line)
{
	static const char *const known[] = { "keep", "drop", "set", NULL };
	static const char expected[] = "env keep NAME..., env drop NAME... or env set NAME=VALUE... was expected; names may be patterns";
	if (line->n < 2)
		return parser_fail(p, line->to, "%s", expected);
	const struct word *what = &line->word[1];
	bool keep = word_is(what, "keep"), drop = word_is(what, "drop");
	if (!keep && !drop && !word_is(what, "set"))
		return parser_fail_word(p, what->from, word_text(&p->scratch, what, 0), known, "%s", expected);
	if (line->n < 3)
		return parser_fail(p, line->to, "%s", expected);
	if (keep || drop)
		return add_patterns(p, line, keep ? ENV_KEEP : ENV_DROP);
	return add_settings(p, line);
}

static bool speaks_of(const struct env_statement *e, const char *name, size_t len)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (glob_match(&e->glob[i], name, len))
			return true;
	return false;
}

enum env_says ruleset_env(const struct ruleset *rs, const char *name, size_t len)
{
	for (uint32_t i = 0; i < rs->n_env; i++)
		if (rs->env[i].says != ENV_SET && speaks_of(&rs->env[i], name, len))
			return rs->env[i].says;
	return ENV_SILENT;
}

const char *ruleset_env_setting(const struct ruleset *rs, size_t index)
{
	for (uint32_t i = 0; i < rs->n_env; i++)
		if (rs->env[i].says == ENV_SET && !index--)
			return rs->env[i].setting;
	return NULL;
}
