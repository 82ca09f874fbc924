// SPDX-License-Identifier: Apache-2.0
/* One rule: VERDICT OPERATION PATTERN... [OPTION...], rewrite with FROM -> TO. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/parser.h"

static int parse_ops(struct parser *p, const struct word *w, op_set *out)
{
	char list[WORD_LIST];
	char *text = word_text(&p->scratch, w, 0);
	if (!text)
		return -ENOMEM;
	*out = 0;
	for (char *at = text, *part; (part = strsep(&at, ","));) {
		op_set ops = op_parse(part, strlen(part));
		if (!*part)
			return parser_fail(p, w->from + (size_t)(part - text), "an operation was expected; several are joined by commas, and no blank: read,write");
		if (!ops)
			return parser_fail_word(p, w->from + (size_t)(part - text), part, op_words(), "not an operation; %s was expected",
						list_words(list, op_words()));
		*out |= ops;
	}
	if ((*out & OPS_NET) && (*out & OPS_FILE))
		return parser_fail(p, w->from, "operations on files and on endpoints need rules of their own");
	if ((*out & OP_SOCKET) && *out != OP_SOCKET)
		return parser_fail(p, w->from, "socket speaks of kinds of sockets, the other operations of names and endpoints: it needs a rule of its own");
	return 0;
}

/* The rule as written, continued lines joined by one blank. */
static const char *rule_text(struct parser *p, const struct line *line)
{
	const char *from = p->lexer->source->text + line->from;
	size_t n = line->to - line->from, len = 0;
	char *text = arena_alloc(&p->rs->arena, n + 1);
	for (size_t i = 0; text && i < n; i++) {
		if (from[i] == '\\' && i + 1 < n && from[i + 1] == '\n') {
			for (i += 2; i < n && (from[i] == ' ' || from[i] == '\t');)
				i++;
			if (len && text[len - 1] != ' ')
				text[len++] = ' ';
			if (i >= n)
				break;
		}
		text[len++] = from[i];
	}
	return text;
}

static size_t find_arrow(const struct line *line)
{
	size_t i = 0;
	while (i < line->n && !word_is(&line->word[i], "->"))
		i++;
	return i;
}

/* Behind an option's value stands a word that cannot be a pattern: the rest of the value, which no quotes keep together. */
static bool goes_on(const struct line *line, size_t i, op_set ops)
{
	const struct word *w = &line->word[i], *before = &line->word[i - 1];
	if (i < 3 || (ops & OP_SOCKET) || !is_option(before) || is_flag_word(before) || before->quoted || !w->n || w->units[0] > 0x7f || !isalpha(w->units[0]))
		return false;
	for (uint32_t k = 0; k < w->n; k++)
		if (w->units[k] == ':')
			return false; /* tcp:..., memfd:... */
	return true;
}

/* One word of a rule: an option, or a pattern. */
static int parse_word(struct parser *p, const struct word *w, struct compiled_rule *rule, struct conditions *when, struct pattern_list *list)
{
	const char *meant = NULL;
	if (is_option(w))
		return parse_option(p, w, rule, when);
	int r = rule->pub.ops == OP_SOCKET ? 0 : option_meant(p, w, &meant);
	if (meant)
		r = parser_fail(p, w->from, "neither a pattern nor an option (did you mean '%s'?)", meant);
	return r ? r : parse_patterns(p, w, rule->pub.ops, list);
}

static int parse_words(struct parser *p, const struct line *line, struct compiled_rule *rule, struct conditions *when,
		       struct pattern_list *list)
{
	size_t arrow = find_arrow(line);
	int bad = 0;
	for (size_t i = 2; i < line->n; i++) {
		const struct word *w = &line->word[i];
		if (i == arrow || i == arrow + 1)
			continue;
		bool option = is_option(w);
		if (!option && goes_on(line, i, rule->pub.ops))
			return parser_fail(p, w->from, "neither a pattern nor an option; quotes go around a value with blanks in it");
		int r = parse_word(p, w, rule, when, list);
		if (r < 0)
			return r;
		if (!r && i > arrow && !option)
			r = parser_fail(p, w->from, "only options follow what a rewrite leads to");
		bad |= r;
	}
	return bad;
}

static int parse_rewrite(struct parser *p, const struct line *line, struct compiled_rule *rule,
			 const struct pattern_list *list)
{
	size_t arrow = find_arrow(line);
	bool rewrites = rule->pub.kind == VERDICT_REWRITE;
	if (!rewrites && arrow < line->n)
		return parser_fail(p, line->word[arrow].from, "'->' belongs to rewrite");
	if (!rewrites)
		return 0;
	if (rule->pub.ops == OP_SOCKET)
		return parser_fail(p, line->from, "a socket cannot be made into one of another kind; allow, deny, ask or kill was expected");
	if (arrow + 1 >= line->n)
		return parser_fail(p, line->word[line->n - 1].to, "rewrite OPERATION FROM -> TO was expected");
	for (uint32_t i = 0; i < list->n; i++) {
		int r = parse_target(p, &line->word[arrow + 1], rule->pub.ops, &list->item[i], &rule->to);
		if (r)
			return r;
	}
	if (rule->to && rule->to->subtree && list->n > 1)
		return parser_fail(p, line->word[arrow + 1].from, "NAME/** on the right of -> needs exactly one pattern on its left");
	return 0;
}

static bool any_condition(const struct conditions *c)
{
	return c->has_by || c->has_tree || c->has_argv || c->has_env || c->has_sha256 || c->has_trusted || c->has_own || c->has_vacant || c->has_uid ||
	       c->has_depth || c->has_makes;
}

static unsigned wanted(const struct conditions *c)
{
	return (c->has_by ? WANTS_BY : 0U) | (c->has_tree ? WANTS_TREE : 0U) | (c->has_uid ? WANTS_UID : 0U) |
	       (c->has_depth ? WANTS_DEPTH : 0U) | (c->has_env ? WANTS_ENV : 0U) | (c->has_sha256 ? WANTS_SHA256 : 0U) |
	       (c->has_trusted ? WANTS_TRUSTED : 0U) | (c->has_own ? WANTS_OWN : 0U) | (c->has_vacant ? WANTS_VACANT : 0U) |
	       (c->has_argv ? WANTS_ARGV : 0U);
}

/* Whether RULE does more with an address than to allow it: raw sockets would get round that. */
static bool restricts(const struct compiled_rule *rule, const struct pattern_list *list)
{
	bool address = false;
	for (uint32_t i = 0; i < list->n; i++)
		address |= list->item[i].kind == OBJECT_INET;
	return address && (rule->pub.kind != VERDICT_ALLOW || rule->pub.limit || rule->pub.loopback);
}

static int store(struct parser *p, struct compiled_rule *rule, const struct conditions *when,
		 const struct pattern_list *list)
{
	struct ruleset *rs = p->rs;
	struct pattern *patterns = arena_alloc(&rs->arena, list->n * sizeof(*patterns));
	struct conditions *kept = any_condition(when) ? arena_alloc(&rs->arena, sizeof(*kept)) : NULL;
	if (!patterns || (any_condition(when) && !kept))
		return -ENOMEM;
	memcpy(patterns, list->item, list->n * sizeof(*patterns));
	if (kept)
		*kept = *when;
	rule->pattern = patterns;
	rule->n_patterns = list->n;
	rule->when = kept;
	rule->index = rs->n_rules;
	int r = reserve((void **)&rs->rule, &rs->room_rules, rs->n_rules + 1, sizeof(*rs->rule));
	if (r)
		return r;
	rs->rule[rs->n_rules++] = *rule;
	rs->ops |= rule->pub.ops;
	rs->can |= 1U << rule->pub.kind;
	rs->wants |= wanted(when) | (rule->pub.loopback ? WANTS_LOOPBACK : 0U);
	rs->firm |= rule->pub.firm;
	if (!rs->restricts && restricts(rule, list))
		rs->restricts = rs->n_rules; /* one past it */
	if (rule->pub.limit) {
		rs->limit_slots++;
		rs->can |= 1U << rule->pub.otherwise;
	}
	if (rule->pub.kind == VERDICT_ASK)
		rs->can |= 1U << rule->pub.otherwise;
	return 0;
}

static int describe(struct parser *p, const struct line *line, struct compiled_rule *rule)
{
	struct place at = lexer_place(p->lexer, line->from);
	rule->pub.file = at.file;
	rule->pub.line = at.line;
	rule->column = at.column;
	rule->pub.where = arena_printf(&p->rs->arena, "%s:%u", at.file, at.line);
	rule->pub.text = rule_text(p, line);
	rule->builtin = p->builtin;
	rule->depth = p->depth;
	return rule->pub.where && rule->pub.text ? 0 : -ENOMEM;
}

int parse_rule(struct parser *p, const struct line *line, enum verdict_kind kind)
{
	struct compiled_rule rule = { .pub = { .kind = kind } };
	struct conditions when = { 0 };
	struct pattern_list list = { .each = kind == VERDICT_DENY || kind == VERDICT_KILL || kind == VERDICT_ASK };
	if (p->rs->n_rules >= RULES_MAX)
		return parser_fail(p, line->from, "too many rules; at most 200,000 were expected");
	if (line->n < 2)
		return parser_fail(p, line->to, "an operation was expected behind '%s'", verdict_name(kind));
	int r = parse_ops(p, &line->word[1], &rule.pub.ops);
	if (!r)
		r = parse_words(p, line, &rule, &when, &list);
	if (!r && !list.n)
		r = parser_fail(p, line->to, "a pattern was expected: what is ruled on");
	if (!r)
		r = parse_rewrite(p, line, &rule, &list);
	rule.pattern = list.item;
	rule.n_patterns = list.n;
	if (!r)
		r = check_options(p, line, &rule, 2);
	if (!r)
		r = finish_edit(p, line->from, &when, &rule);
	if (!r)
		r = describe(p, line, &rule);
	if (!r)
		r = store(p, &rule, &when, &list);
	free(list.item);
	return r;
}
