// SPDX-License-Identifier: Apache-2.0
/*
 * NAME=VALUE behind a rule: found in the table, read, and held to the whole rule.
 *
 * MUST: an option that the rule's verdict or operations cannot honour is an error; so is one
 * that is given twice.
 */
#include <errno.h>
#include <string.h>

#include "rules/options.h"

static bool is_flag(const struct option *o)
{
	return o->name[o->len - 1] != '=';
}

static bool names(const struct word *w, const struct option *o)
{
	if (w->n < o->len || (is_flag(o) && w->n != o->len))
		return false;
	for (size_t i = 0; i < o->len; i++)
		if (w->units[i] != (glob_unit)(unsigned char)o->name[i])
			return false;
	return true;
}

bool is_flag_word(const struct word *w)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (is_flag(&options[i]) && word_is(w, options[i].name))
			return true;
	return false;
}

/* How many letters and digits W begins with. */
static uint32_t letters(const struct word *w)
{
	uint32_t n = 0;
	while (n < w->n && ((w->units[n] >= 'a' && w->units[n] <= 'z') || (w->units[n] >= '0' && w->units[n] <= '9')))
		n++;
	return n;
}

/* A flag, or letters and digits, then '=': an option, known or not. */
bool is_option(const struct word *w)
{
	if (w->n && w->units[0] == '/') /* most words */
		return false;
	uint32_t n = letters(w);
	return is_flag_word(w) || (n && n < w->n && w->units[n] == '=');
}

static const struct option *find(const struct word *w)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (names(w, &options[i]))
			return &options[i];
	return NULL;
}

static void option_names(const char *known[OPTIONS + 1])
{
	for (size_t i = 0; i < OPTIONS; i++)
		known[i] = options[i].name;
	known[OPTIONS] = NULL;
}

int option_meant(struct parser *p, const struct word *w, const char **out)
{
	const char *known[OPTIONS + 1];
	*out = NULL;
	if (w->quoted || letters(w) < w->n) /* most words */
		return 0;
	const char *word = word_text(&p->scratch, w, 0);
	option_names(known);
	*out = word ? suggest(word, known) : NULL;
	return word ? 0 : -ENOMEM;
}

static int unknown_option(struct parser *p, const struct word *w)
{
	const char *known[OPTIONS + 1];
	char list[WORD_LIST];
	char *word = word_text(&p->scratch, w, 0);
	if (word)
		word[strcspn(word, "=")] = '\0';
	option_names(known);
	for (size_t i = 0; word && i < OPTIONS; i++)
		if (strcmp(word, options[i].name) == 0)
			return parser_fail(p, w->from, "%s takes no value", word);
	return parser_fail_word(p, w->from, word, known, "unknown option; %s was expected", list_words(list, known));
}

int parse_option(struct parser *p, const struct word *w, struct compiled_rule *rule, struct conditions *when)
{
	const struct option *o = find(w);
	if (!o)
		return unknown_option(p, w);
	if (!(o->verdicts & V(rule->pub.kind)))
		return parser_fail(p, w->from, "%s belongs to %s, not to %s", o->name, o->where, verdict_name(rule->pub.kind));
	struct option_target t = { .p = p, .w = w, .skip = o->len, .name = o->name, .rule = rule, .when = when };
	t.value = word_text(&p->rs->arena, w, t.skip);
	return t.value ? o->parse(&t) : -ENOMEM;
}

static uint32_t bit_of(const struct option *o)
{
	return 1U << (o - options);
}

int check_options(struct parser *p, const struct line *line, const struct compiled_rule *rule, uint32_t from)
{
	uint32_t seen = 0;
	for (size_t i = from; i < line->n; i++) {
		const struct word *w = &line->word[i];
		const struct option *o = is_option(w) ? find(w) : NULL;
		if (!o)
			continue;
		if (seen & bit_of(o))
			return parser_fail(p, w->from, "%s is given twice; {a,b} takes several values", o->name);
		seen |= bit_of(o);
		const char *wrong = o->misplaced ? o->misplaced(rule) : NULL;
		if (wrong)
			return parser_fail(p, w->from, "%s %s", o->name, wrong);
		if (strcmp(o->name, "log=") == 0 && rule->pub.log == LOG_NONE && rule->pub.kind == VERDICT_ASK)
			return parser_fail(p, w->from, "a question is always recorded; log=none belongs to allow, rewrite, deny and kill");
	}
	return 0;
}
