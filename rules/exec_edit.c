// SPDX-License-Identifier: Apache-2.0
/*
 * args= and argv0= of rewrite exec: what becomes of the arguments. ** as a word of its own stands for those that the
 * program gave: where argv= is words and then **, for those behind the words.
 */
#include <errno.h>
#include <string.h>

#include "rules/parser.h"

static struct exec_edit *edit_of(struct parser *p, struct compiled_rule *rule)
{
	if (!rule->edit)
		rule->edit = arena_alloc(&p->rs->arena, sizeof(*rule->edit));
	rule->pub.edit = rule->edit;
	return rule->edit;
}

static bool blank(glob_unit u)
{
	return u == ' ' || u == '\t';
}

static bool is_backslash(glob_unit u)
{
	return (u & 0xff) == '\\';
}

/* The end of the word that begins at AT: a blank that no backslash stands before and no variable brought. */
static uint32_t word_end(const struct word *w, uint32_t at)
{
	while (at < w->n && !blank(w->units[at]))
		at += is_backslash(w->units[at]) && at + 1 < w->n ? 2 : 1;
	return at;
}

static bool stands_for_given(const struct word *w, uint32_t from, uint32_t to)
{
	return to - from == 2 && w->units[from] == '*' && w->units[from + 1] == '*';
}

static int add_word(struct parser *p, const struct word *w, uint32_t from, uint32_t to, struct words *list, char **out)
{
	for (uint32_t i = from; i < to; i++) {
		if (w->units[i] == '*')
			return parser_fail(p, w->from, "only ** as a word of its own stands for arguments; \"\\*\" is the byte itself");
		if (is_backslash(w->units[i]) && i + 1 < to)
			i++;
		*(*out)++ = (char)(w->units[i] & 0xff);
	}
	*(*out)++ = '\0';
	list->count++;
	return 0;
}

int parse_args(struct parser *p, const struct word *w, size_t skip, struct compiled_rule *rule)
{
	struct exec_edit *e = edit_of(p, rule);
	char *out = e ? arena_alloc(&p->rs->arena, w->n + 2U) : NULL;

	if (!out)
		return -ENOMEM;
	struct words *list = &e->before;
	list->bytes = out;
	e->args = true;
	for (uint32_t at = (uint32_t)skip, to; at < w->n; at = to) {
		to = word_end(w, at);
		if (to == at) {
			to++;
			continue;
		}
		if (!stands_for_given(w, at, to)) {
			int r = add_word(p, w, at, to, list, &out);
			if (r)
				return r;
			list->len = (uint32_t)(out - list->bytes);
			continue;
		}
		if (e->given)
			return parser_fail(p, w->from, "** stands for the arguments once");
		e->given = true;
		list = &e->after;
		list->bytes = out;
	}
	return 0;
}

int parse_argv0(struct parser *p, const char *value, struct compiled_rule *rule)
{
	struct exec_edit *e = edit_of(p, rule);

	if (!e)
		return -ENOMEM;
	e->argv0 = value;
	return 0;
}

/* Words at the beginning of G, which is literal words and then **; UINT32_MAX when it is something else. */
static uint32_t leading_words(const struct glob *g)
{
	uint32_t words = 1;

	if (g->n == 1 && g->token[0].op == GLOB_ALL)
		return 0;
	if (g->n != g->prefix + 2U || g->token[g->prefix].op != GLOB_TAIL)
		return UINT32_MAX;
	for (uint32_t i = 0; i < g->prefix; i++) {
		if (g->token[i].byte == '\\' && g->token[i].op == GLOB_BYTE)
			i++;
		else if (g->token[i].op == GLOB_SEP)
			words++;
	}
	return words;
}

int finish_edit(struct parser *p, size_t at, const struct conditions *when, struct compiled_rule *rule)
{
	struct exec_edit *e = rule->edit;

	if (!e || !e->given || !when->has_argv)
		return 0;
	for (uint32_t i = 0; i < when->n_argv; i++) {
		uint32_t words = leading_words(&when->argv[i]);

		if (words == UINT32_MAX || (i && words != e->skip))
			return parser_fail(p, at, "** of args= needs argv= to be words and then **, as in argv=\"push --force **\" args=\"push **\"");
		e->skip = words;
	}
	return 0;
}
