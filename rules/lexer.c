// SPDX-License-Identifier: Apache-2.0
/*
 * Bytes to words.
 *
 * MUST: time and memory are linear in the file (a word's expansion is bounded); bytes that
 * came from a variable or an escape stand for themselves and never become
 * wildcards; every error has its column.
 */
#include "rules/lexer.h"

#include <errno.h>
#include <string.h>

#include "rules/hex.h"

struct builder {
	struct lexer *lx;
	struct line *line;
	glob_unit *units;
	size_t n;
	size_t word_from;
	bool quoted;
	bool plain; /* reason=: no variables */
};

struct place lexer_place(const struct lexer *lx, size_t at)
{
	return source_place(lx->source, lx->line_number, lx->line_start, at);
}

static void complain(struct builder *b, size_t at, const char *message)
{
	struct place p = lexer_place(b->lx, at);
	findings_add(b->lx->found, DIAGNOSTIC_ERROR, &p, "%s", message);
	b->line->broken = true;
}

static bool at_end(const struct lexer *lx)
{
	return lx->at >= lx->source->len;
}

static char peek(const struct lexer *lx, size_t ahead)
{
	return lx->at + ahead < lx->source->len ? lx->source->text[lx->at + ahead] : '\n';
}

static void put(struct builder *b, glob_unit u)
{
	if (b->n == WORD_UNITS)
		complain(b, b->word_from, "the word is too long; at most 16,384 bytes were expected");
	if (b->n < WORD_UNITS)
		b->units[b->n] = u;
	if (b->n <= WORD_UNITS)
		b->n++;
}

static void hex_escape(struct builder *b)
{
	int hi = hex_digit(peek(b->lx, 2));
	int lo = hi < 0 ? -1 : hex_digit(peek(b->lx, 3));
	if (lo < 0 || hi * 16 + lo == 0) {
		complain(b, b->lx->at, "\"\\x\" takes two hexadecimal digits that are not 00");
		b->lx->at += 2;
		return;
	}
	put(b, (glob_unit)((hi * 16 + lo) | GLOB_LITERAL));
	b->lx->at += 4;
}

static void escape(struct builder *b)
{
	char c = peek(b->lx, 1);
	if (c == 'x') {
		hex_escape(b);
		return;
	}
	if (c == 'n' || c == 't')
		put(b, (glob_unit)((c == 'n' ? '\n' : '\t') | GLOB_LITERAL));
	else if (c != '\n' && strchr("\"\\*?[]{}$,!^-~", c))
		put(b, (glob_unit)((unsigned char)c | GLOB_LITERAL));
	else
		complain(b, b->lx->at, "unknown escape; \\\" \\\\ \\n \\t \\xHH, or a backslash before one of * ? [ ] { } $ , was expected");
	b->lx->at += c == '\n' ? 1 : 2;
}

/* Where usher was started without a directory: said once, not of each line. What the name stands for then is not used: the rules do not load. */
static const struct variable_value *without_directory(struct builder *b, size_t from, const char *name, size_t len)
{
	static const char nowhere[] = "/proc/self/no-directory";
	struct variables *v = b->lx->variables;
	glob_unit units[sizeof(nowhere)];
	size_t n = sizeof(nowhere) - 1;
	if (len != 3 || memcmp(name, "PWD", 3) != 0 || !v->arena)
		return NULL;
	for (size_t i = 0; i < n; i++)
		units[i] = (glob_unit)((unsigned char)nowhere[i] | GLOB_LITERAL);
	if (variables_set(v, v->arena, name, len, units, n) < 0)
		return NULL;
	struct place p = lexer_place(b->lx, from);
	findings_add(b->lx->found, DIAGNOSTIC_ERROR, &p,
		     "$PWD is not set: the working directory has no name (it was removed, or is out of sight); change to one that has");
	return variables_find(v, name, len);
}

static void put_variable(struct builder *b, size_t from, const char *name, size_t len)
{
	const struct variable_value *v = variables_find(b->lx->variables, name, len);
	if (!v)
		v = without_directory(b, from, name, len);
	if (!v) {
		char message[160];
		snprintf(message, sizeof(message),
			 "$%.*s is not set; HOME, PWD, TMPDIR, USER, UID or a name given by 'set' was expected",
			 len > 64 ? 64 : (int)len, name);
		complain(b, from, message);
		return;
	}
	for (size_t i = 0; i < v->n && b->n <= WORD_UNITS; i++)
		put(b, v->units[i]);
}

static void variable(struct builder *b)
{
	struct lexer *lx = b->lx;
	size_t from = lx->at;
	bool braces = peek(lx, 1) == '{';
	lx->at += braces ? 2 : 1;
	size_t name = lx->at;
	while (!at_end(lx) && variable_byte(peek(lx, 0), lx->at == name))
		lx->at++;
	size_t len = lx->at - name;
	if (!len || (braces && peek(lx, 0) != '}')) {
		complain(b, from, "'$' without a name; $NAME or ${NAME} was expected, or \"\\$\" for the byte itself");
		return;
	}
	put_variable(b, from, lx->source->text + name, len);
	if (braces)
		lx->at++;
}

/* ~/ means $HOME/ at the beginning of a word and after = or : (by=~/bin/x, unix:~/socket). */
static bool tilde(struct builder *b)
{
	struct lexer *lx = b->lx;
	glob_unit last = b->n && b->n <= WORD_UNITS ? b->units[b->n - 1] : '=';
	if (!strchr("/ \t\n\"", peek(lx, 1)) || (last != '=' && last != ':'))
		return false;
	put_variable(b, lx->at, "HOME", 4);
	lx->at++;
	return true;
}

static bool starts_reason(const struct builder *b)
{
	static const char key[] = "reason=";
	if (b->n != sizeof(key) - 1)
		return false;
	for (size_t i = 0; i < b->n; i++)
		if (b->units[i] != (glob_unit)key[i])
			return false;
	return true;
}

/* One byte that means the same inside and outside quotes. */
static void common(struct builder *b)
{
	char c = peek(b->lx, 0);
	if (c == '$' && !b->plain) {
		variable(b);
		return;
	}
	if (c == '~' && !b->plain && tilde(b))
		return;
	put(b, (unsigned char)c);
	b->lx->at++;
}

static void quoted(struct builder *b)
{
	struct lexer *lx = b->lx;
	size_t from = lx->at++;
	b->quoted = true;
	while (!at_end(lx) && peek(lx, 0) != '"' && peek(lx, 0) != '\n') {
		if (peek(lx, 0) == '\\')
			escape(b);
		else
			common(b);
	}
	if (at_end(lx) || peek(lx, 0) == '\n') {
		complain(b, from, "a quote that is not closed on this line; a closing '\"' was expected");
		return;
	}
	lx->at++;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool stands_for_itself(char c)
{
	return (unsigned char)c > ' ' && c != '"' && c != '\\' && c != '$' && c != '~' && c != '='; /* reason= ends with it */
}

/* Most of a file. */
static void ordinary(struct builder *b)
{
	struct lexer *lx = b->lx;
	const char *text = lx->source->text;
	size_t at = lx->at;
	while (at < lx->source->len && b->n < WORD_UNITS && stands_for_itself(text[at]))
		b->units[b->n++] = (unsigned char)text[at++];
	lx->at = at;
}

static void word_bytes(struct builder *b)
{
	struct lexer *lx = b->lx;
	for (;;) {
		b->plain = b->plain || starts_reason(b);
		ordinary(b);
		char c = peek(lx, 0);
		if (at_end(lx) || blank(c) || c == '\n')
			return;
		if (c == '\\' && peek(lx, 1) == '\n')
			return;
		if (c == '"') {
			quoted(b);
		} else if (c == '\\') {
			complain(b, lx->at, "a backslash outside quotes; it belongs into \"...\", or at the very end of a line that goes on");
			lx->at++;
		} else {
			common(b);
		}
	}
}

/* Room for one more word: the array doubles at 8, 16, 32, ... */
static bool reserve_word(struct lexer *lx, struct line *line)
{
	if (line->n && (line->n < 8 || (line->n & (line->n - 1))))
		return true;
	struct word *more = arena_alloc(lx->arena, (line->n ? line->n * 2 : 8) * sizeof(*more));
	if (!more)
		return false;
	if (line->n)
		memcpy(more, line->word, line->n * sizeof(*more));
	line->word = more;
	return true;
}

static int add_word(struct builder *b)
{
	struct lexer *lx = b->lx;
	struct line *line = b->line;
	b->n = 0;
	b->quoted = false;
	b->plain = false;
	b->word_from = lx->at;
	word_bytes(b);
	if (line->n >= LINE_WORDS) {
		if (!line->broken)
			complain(b, b->word_from, "too many words in one rule; at most 4,096 were expected");
		return 0;
	}
	size_t n = b->n < WORD_UNITS ? b->n : WORD_UNITS;
	glob_unit *units = arena_alloc(lx->arena, (n + 1) * sizeof(*units));
	if (!units || !reserve_word(lx, line))
		return -ENOMEM;
	memcpy(units, b->units, n * sizeof(*units));
	line->word[line->n++] = (struct word){ .units = units, .n = (uint32_t)n, .from = (uint32_t)b->word_from,
					       .to = (uint32_t)lx->at, .quoted = b->quoted };
	return 0;
}

/* AT may be one beyond the end: a backslash there goes on with nothing. */
static size_t line_end(const struct source *s, size_t at)
{
	if (at >= s->len)
		return s->len;
	const char *end = memchr(s->text + at, '\n', s->len - at);
	return end ? (size_t)(end - s->text) : s->len;
}

/* Skips blanks, continued line ends and a comment. Returns true when a word follows. */
static bool skip(struct lexer *lx)
{
	for (;;) {
		if (at_end(lx) || peek(lx, 0) == '\n')
			return false;
		if (blank(peek(lx, 0))) {
			lx->at++;
		} else if (peek(lx, 0) == '\\' && peek(lx, 1) == '\n') {
			lx->at += 2;
		} else if (peek(lx, 0) == '#') {
			lx->at = line_end(lx->source, lx->at);
		} else {
			return true;
		}
	}
}

/* Moves past the line end and keeps count of lines. */
static void advance(struct lexer *lx)
{
	if (!at_end(lx))
		lx->at++;
	for (size_t i = lx->line_start; (i = line_end(lx->source, i)) < lx->at && i < lx->source->len; i++)
		lx->line_number++;
	lx->line_start = lx->at;
}

static bool expects(const struct lexer *lx)
{
	static const char word[] = "expect ";
	const size_t n = sizeof(word) - 1;
	return lx->source->len - lx->at > n && memcmp(lx->source->text + lx->at, word, n) == 0;
}

int lexer_next(struct lexer *lx, struct line *out)
{
	glob_unit units[WORD_UNITS];
	struct builder b = { .lx = lx, .line = out, .units = units };
	if (lx->line_start != lx->at)
		advance(lx);
	while (!at_end(lx)) {
		lx->first_end = line_end(lx->source, lx->at);
		if (lx->tested && expects(lx)) {
			lx->at = lx->first_end;
			advance(lx);
			continue;
		}
		*out = (struct line){ .from = (uint32_t)lx->at };
		while (skip(lx)) {
			if (!out->n)
				out->from = (uint32_t)lx->at;
			int r = add_word(&b);
			if (r)
				return r;
			out->to = (uint32_t)lx->at;
		}
		if (out->n || out->broken)
			return 1;
		advance(lx);
	}
	return 0;
}

bool word_is(const struct word *w, const char *text)
{
	if (!w->n || w->units[0] != (glob_unit)(unsigned char)text[0]) /* most words */
		return false;
	size_t n = strlen(text);
	if (w->n != n || w->quoted)
		return false;
	for (size_t i = 0; i < n; i++)
		if (w->units[i] != (glob_unit)(unsigned char)text[i])
			return false;
	return true;
}

char *word_text(struct arena *a, const struct word *w, size_t skip_units)
{
	size_t n = w->n > skip_units ? w->n - skip_units : 0;
	char *text = arena_alloc(a, n + 1);
	for (size_t i = 0; text && i < n; i++)
		text[i] = (char)(w->units[skip_units + i] & 0xff);
	return text;
}
