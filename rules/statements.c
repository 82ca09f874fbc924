// SPDX-License-Identifier: Apache-2.0
/* The lines of a file: rules, and set, default, include, env, expect. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "rules/parser.h"

int parser_fail(struct parser *p, size_t at, const char *format, ...)
{
	char message[512];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	struct place place = lexer_place(p->lexer, at);
	findings_add(p->found, DIAGNOSTIC_ERROR, &place, "%s", message);
	return 1;
}

int parser_fail_word(struct parser *p, size_t at, const char *word, const char *const *known, const char *format, ...)
{
	const char *meant = word ? suggest(word, known) : NULL;
	char message[512];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return meant ? parser_fail(p, at, "%s (did you mean '%.*s'?)", message, (int)strcspn(meant, "="), meant) :
		       parser_fail(p, at, "%s", message);
}

static int parse_set(struct parser *p, const struct line *line)
{
	const struct word *w = line->word;
	if (line->n != 4 || !word_is(&w[2], "="))
		return parser_fail(p, w[0].from, "set NAME = VALUE was expected, with blanks around '=' and quotes around blanks");
	char *name = word_text(&p->scratch, &w[1], 0);
	if (!name)
		return -ENOMEM;
	for (size_t i = 0; i < w[1].n || i == 0; i++)
		if (!variable_byte(name[i], i == 0))
			return parser_fail(p, w[1].from, "not a name; letters, digits and '_' were expected");
	/* A name that no object has: /proc/self is never canonical. */
	static const char nothing[] = "/proc/self/no-project";
	glob_unit none[sizeof(nothing)];
	const glob_unit *value = w[3].units;
	size_t n = w[3].n;
	while (n > 1 && (value[n - 1] & 0xff) == '/')
		n--;
	/* Started in the root directory, a built-in set must not take the whole system for the project. */
	if (p->builtin && n == 1 && (value[0] & 0xff) == '/') {
		for (n = 0; nothing[n]; n++)
			none[n] = (glob_unit)((unsigned char)nothing[n] | GLOB_LITERAL);
		value = none;
	}
	int r = variables_set(p->variables, &p->rs->arena, name, w[1].n, value, n);
	return r == -ENOSPC ? parser_fail(p, w[1].from, "too many variables; at most 256 were expected") : r;
}

/* The file that includes has the say over what it includes; among equals the first. */
static int set_default(struct ruleset *rs, enum verdict_kind kind, const char *where, uint32_t depth)
{
	if (rs->otherwise_where && rs->otherwise_depth <= depth)
		return 0;
	rs->otherwise = kind;
	rs->otherwise_where = where;
	rs->otherwise_depth = depth;
	return 0;
}

static int parse_default(struct parser *p, const struct line *line)
{
	static const enum verdict_kind kinds[] = { VERDICT_DENY, VERDICT_ASK, VERDICT_ALLOW };
	if (line->n != 2)
		return parser_fail(p, line->n > 2 ? line->word[2].from : line->to, "default deny, default ask or default allow was expected");
	if (p->default_where)
		return parser_fail(p, line->word[0].from, "a second default; %s gives one already", p->default_where);
	for (size_t i = 0; i < 3; i++) {
		if (!word_is(&line->word[1], verdict_name(kinds[i])))
			continue;
		struct place at = lexer_place(p->lexer, line->from);
		const char *where = arena_printf(&p->rs->arena, "%s:%u", at.file, at.line);
		p->default_where = where;
		return where ? set_default(p->rs, kinds[i], where, p->depth) : -ENOMEM;
	}
	return parser_fail(p, line->word[1].from, "deny, ask or allow was expected");
}

static int keep_file(struct parser *p, const struct source *s)
{
	struct ruleset *rs = p->rs;
	int r = reserve((void **)&rs->file, &rs->room_files, rs->n_files + 1, sizeof(*rs->file));
	if (!r)
		rs->file[rs->n_files++] = (struct ruleset_file){ .path = s->name, .text = s->text, .len = s->len };
	return r;
}

/* A relative name is looked for beside the file that includes it. */
static const char *beside(struct parser *p, const char *name)
{
	const char *slash = strrchr(p->file->name, '/');
	if (name[0] == '/' || strncmp(name, "builtin:", 8) == 0 || !slash)
		return arena_copy(&p->rs->arena, name, strlen(name));
	return arena_printf(&p->rs->arena, "%.*s%s", (int)(slash - p->file->name) + 1, p->file->name, name);
}

static bool cycle(struct parser *p, const struct word *w, const char *name)
{
	for (const struct inclusion *i = p->file; i; i = i->by) {
		if (strcmp(i->name, name) != 0)
			continue;
		char chain[400];
		size_t n = 0;
		for (const struct inclusion *j = p->file; j && n < sizeof(chain); j = j == i ? NULL : j->by)
			n += (size_t)snprintf(chain + n, sizeof(chain) - n, " <- %s", j->name);
		parser_fail(p, w->from, "includes itself: %s%s", name, chain);
		return true;
	}
	return false;
}

static int read_included(struct parser *p, const struct word *w, const char *name, struct source *out)
{
	if (strncmp(name, "builtin:", 8) == 0) {
		const char *text = builtin_text(name + 8);
		if (!text)
			return parser_fail(p, w->from, "no built-in rules of that name; 'usher rules list' shows them");
		*out = (struct source){ .name = name, .text = text, .len = strlen(text) };
		return 0;
	}
	struct place at = lexer_place(p->lexer, w->from);
	int r = source_read(&p->rs->arena, name, &at, p->found, out);
	if (r < 0 && r != -ENOMEM && !p->error)
		p->error = r;
	return r < 0 && r != -ENOMEM ? 1 : r;
}

static int parse_include(struct parser *p, const struct line *line)
{
	if (line->n != 2)
		return parser_fail(p, line->word[0].from, "include FILE or include builtin:NAME was expected");
	const struct word *w = &line->word[1];
	char *given = word_text(&p->scratch, w, 0);
	const char *name = given ? beside(p, given) : NULL;
	struct source source;
	if (!name)
		return -ENOMEM;
	if (cycle(p, w, name))
		return 1;
	if (p->depth + 1 >= INCLUDE_DEPTH)
		return parser_fail(p, w->from, "includes nest deeper than %u files", INCLUDE_DEPTH);
	if (p->rs->n_files >= INCLUDE_FILES)
		return parser_fail(p, w->from, "more than %u files in all", INCLUDE_FILES);
	int r = read_included(p, w, name, &source);
	if (r)
		return r;
	struct inclusion file = { .by = p->file, .name = name };
	struct parser inner = { .rs = p->rs, .found = p->found, .variables = p->variables, .file = &file,
				.depth = p->depth + 1, .builtin = strncmp(name, "builtin:", 8) == 0, .tested = p->tested };
	r = parse_source(&inner, &source);
	if (inner.error && !p->error)
		p->error = inner.error;
	return r;
}

/* Only what stands before a value is said: so it can be looked for in any bytes without backtracking. */
static int parse_redact(struct parser *p, const struct line *line)
{
	struct ruleset *rs = p->rs;
	for (size_t i = 1; i < line->n || i == 1; i++) {
		const struct word *w = i < line->n ? &line->word[i] : NULL;
		size_t n = w ? w->n : 0, k = 0;
		while (k + 1 < n && (w->units[k] & GLOB_LITERAL ? w->units[k] != GLOB_LITERAL : !strchr("*?[{", (int)(w->units[k] & 0xff))))
			k++;
		if (n < 4 || k + 1 != n || w->units[k] != '*')
			return parser_fail(p, w ? w->from : line->to, "at least three bytes and then '*' for the value were expected, as in token=*");
		int r = reserve((void **)(void *)&rs->redact, &rs->room_redact, rs->n_redact + 1, sizeof(*rs->redact));
		char *text = r ? NULL : word_text(&rs->arena, w, 0);
		if (!text)
			return -ENOMEM;
		text[n - 1] = '\0';
		rs->redact[rs->n_redact++] = text;
	}
	return 0;
}

static const struct {
	const char *word;
	int (*parse)(struct parser *p, const struct line *line);
} statements[] = {
	{ "set", parse_set },       { "default", parse_default }, { "include", parse_include },
	{ "expect", parse_expect }, { "redact", parse_redact },   { "limit", parse_limit },
	{ "env", parse_env },
};

#define STATEMENTS (sizeof(statements) / sizeof(statements[0]))

/* What a rule begins with. */
static const enum verdict_kind kinds[] = { VERDICT_ALLOW, VERDICT_DENY, VERDICT_ASK, VERDICT_REWRITE, VERDICT_KILL };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int unknown_line(struct parser *p, const struct word *first)
{
	const char *known[KINDS + STATEMENTS + 1] = { NULL };
	char list[WORD_LIST];
	for (size_t i = 0; i < KINDS; i++)
		known[i] = verdict_name(kinds[i]);
	for (size_t i = 0; i < STATEMENTS; i++)
		known[KINDS + i] = statements[i].word;
	return parser_fail_word(p, first->from, word_text(&p->scratch, first, 0), known, "%s was expected", list_words(list, known));
}

static int parse_line(struct parser *p, const struct line *line)
{
	for (size_t i = 0; i < KINDS; i++)
		if (word_is(&line->word[0], verdict_name(kinds[i])))
			return parse_rule(p, line, kinds[i]);
	for (size_t i = 0; i < STATEMENTS; i++)
		if (word_is(&line->word[0], statements[i].word))
			return statements[i].parse(p, line);
	return unknown_line(p, &line->word[0]);
}

int parse_source(struct parser *p, const struct source *source)
{
	struct line line;
	struct lexer lexer = { .source = source, .variables = p->variables, .found = p->found, .arena = &p->scratch,
			       .line_number = 1, .tested = p->builtin && p->tested };
	size_t errors = p->found->errors;
	int r = keep_file(p, source);
	if (r || (!lexer.tested && source_check(source, p->found)))
		return r;
	p->lexer = &lexer;
	while (r >= 0 && (r = lexer_next(&lexer, &line)) > 0) {
		if (!line.broken)
			r = parse_line(p, &line);
		arena_reset(&p->scratch);
		/* A file with this many errors is no rule file: the rest would only repeat them. */
		if (p->found->errors - errors >= FINDINGS_KEPT)
			break;
	}
	arena_free(&p->scratch);
	p->lexer = NULL;
	return r < 0 ? r : 0;
}
