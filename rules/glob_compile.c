// SPDX-License-Identifier: Apache-2.0
/*
 * Pattern text to program. What is written:
 *   *  any bytes of one component   **  any bytes   ?  one byte   [a-z] [!a-z]  one byte of a class
 * and ** as a whole component stands for any number of components, none included.
 */
#include "rules/glob.h"

#include <errno.h>
#include <string.h>

#define CLASSES 64

struct compiler {
	const glob_unit *units;
	size_t n;
	size_t at;
	char sep;
	struct glob_error *wrong;
	struct glob_token token[GLOB_TOKENS + 2];
	size_t tokens;
	struct glob_class class[CLASSES];
	size_t classes;
};

/* The tables are large, and what is not in use is not written. */
static void begin(struct compiler *c, const glob_unit *units, size_t n, char sep)
{
	c->units = units;
	c->n = n;
	c->at = 0;
	c->sep = sep;
	c->wrong = NULL;
	c->tokens = 0;
	c->classes = 0;
}

static int fail(struct compiler *c, size_t at, const char *message)
{
	*c->wrong = (struct glob_error){ message, at };
	return 1;
}

static bool meta(const struct compiler *c, size_t at, char what)
{
	return at < c->n && c->units[at] == (glob_unit)what;
}

/* An argument list writes a blank inside an argument as backslash blank: no separator. */
static bool separator(const struct compiler *c, size_t at)
{
	if (at >= c->n || (char)(c->units[at] & 0xff) != c->sep)
		return false;
	if (c->sep == '/')
		return true;
	size_t slashes = 0;
	while (slashes < at && (c->units[at - 1 - slashes] & 0xff) == '\\')
		slashes++;
	return slashes % 2 == 0;
}

static int push(struct compiler *c, enum glob_op op, uint8_t byte)
{
	if (c->tokens >= GLOB_TOKENS)
		return fail(c, c->at, "the pattern is longer than any path; at most 4,096 bytes were expected");
	c->token[c->tokens++] = (struct glob_token){ .op = (uint8_t)op, .byte = byte };
	return 0;
}

static bool last_is(const struct compiler *c, enum glob_op op)
{
	return c->tokens && c->token[c->tokens - 1].op == op;
}

/* ** as a whole component: where it begins and ends decides what it means. */
static int globstar_component(struct compiler *c, size_t end)
{
	bool more = end < c->n;
	bool twice = last_is(c, GLOB_DIRS);
	c->at = more ? end + 1 : end;
	if (more)
		return twice ? 0 : push(c, GLOB_DIRS, 0);
	c->tokens -= twice;
	if (last_is(c, GLOB_SEP))
		c->token[c->tokens - 1].op = GLOB_TAIL;
	return push(c, GLOB_ALL, 0);
}

static int stars(struct compiler *c)
{
	size_t from = c->at, end = from;
	while (meta(c, end, '*'))
		end++;
	if (end - from > 2)
		return fail(c, from + 2, "more than two '*' in a row; '*' (one component) or '**' (any depth) was expected");
	bool starts = from == 0 || separator(c, from - 1);
	bool ends = end >= c->n || separator(c, end);
	if (end - from == 2 && starts && ends)
		return globstar_component(c, end);
	c->at = end;
	return push(c, end - from == 2 ? GLOB_ALL : GLOB_STAR, 0);
}

static void class_add(struct glob_class *class, unsigned lo, unsigned hi)
{
	for (unsigned b = lo; b <= hi; b++)
		class->bits[b / 8] |= (uint8_t)(1U << (b % 8));
}

static int class_body(struct compiler *c, size_t open, struct glob_class *class)
{
	size_t at = open + 1;
	bool negated = meta(c, at, '!') || meta(c, at, '^');
	at += negated;
	size_t first = at;
	while (at < c->n && (at == first || !meta(c, at, ']'))) {
		unsigned lo = c->units[at] & 0xff, hi = lo;
		if (separator(c, at))
			return fail(c, at, "a separator inside [...]; bytes of one component were expected");
		if (meta(c, at + 1, '-') && at + 2 < c->n && !meta(c, at + 2, ']')) {
			hi = c->units[at + 2] & 0xff;
			at += 2;
		}
		if (hi < lo)
			return fail(c, at, "the range in [...] runs backwards; the lower byte was expected first");
		class_add(class, lo, hi);
		at++;
	}
	if (at >= c->n)
		return fail(c, open, "'[' without ']'; a closing ']' was expected, or \"\\[\" for the byte itself");
	if (negated)
		for (size_t i = 0; i < sizeof(class->bits); i++)
			class->bits[i] = (uint8_t)~class->bits[i];
	c->at = at + 1;
	return 0;
}

/* The number of a class like ONE in the table, into which it goes where there is none; CLASSES: it has no room. */
static size_t class_number(struct compiler *c, const struct glob_class *one)
{
	size_t i = 0;

	while (i < c->classes && memcmp(&c->class[i], one, sizeof(*one)) != 0)
		i++;
	if (i == c->classes && i < CLASSES)
		c->class[c->classes++] = *one;
	return i;
}

static int class(struct compiler *c)
{
	size_t open = c->at;
	struct glob_class one = { 0 };
	int r = class_body(c, open, &one);
	if (r)
		return r;
	size_t number = class_number(c, &one);
	if (number == CLASSES)
		return fail(c, open, "too many [...] in one pattern; at most 64 different ones were expected");
	return push(c, GLOB_CLASS, (uint8_t)number);
}

static int one(struct compiler *c)
{
	if (meta(c, c->at, '*'))
		return stars(c);
	if (meta(c, c->at, '['))
		return class(c);
	if (meta(c, c->at, '?')) {
		c->at++;
		return push(c, GLOB_ANY, 0);
	}
	bool sep = separator(c, c->at);
	uint8_t byte = (uint8_t)(c->units[c->at] & 0xff);
	c->at++;
	return push(c, sep ? GLOB_SEP : GLOB_BYTE, byte);
}

/* Bytes that stand for themselves, up to one that may not: most of a pattern. */
static void ordinary(struct compiler *c)
{
	glob_unit u;
	while (c->at < c->n && c->tokens < GLOB_TOKENS && (u = c->units[c->at]) != '*' && u != '[' && u != '?' &&
	       (char)(u & 0xff) != c->sep) {
		c->token[c->tokens++] = (struct glob_token){ .op = GLOB_BYTE, .byte = (uint8_t)(u & 0xff) };
		c->at++;
	}
}

static int finish(struct arena *a, const struct compiler *c, struct glob *out)
{
	size_t prefix = 0;
	while (prefix < c->tokens && c->token[prefix].op <= GLOB_SEP)
		prefix++;
	struct glob_token *tokens = arena_alloc(a, (c->tokens + 1) * sizeof(*tokens));
	struct glob_class *classes = c->classes ? arena_alloc(a, c->classes * sizeof(*classes)) : NULL;
	if (!tokens || (c->classes && !classes))
		return -ENOMEM;
	memcpy(tokens, c->token, c->tokens * sizeof(*tokens));
	if (classes)
		memcpy(classes, c->class, c->classes * sizeof(*classes));
	*out = (struct glob){ .token = tokens, .class = classes, .n = (uint16_t)c->tokens,
			      .prefix = (uint16_t)prefix, .sep = c->sep };
	if (prefix < c->tokens)
		return 0;
	char literal[1 + GLOB_TOKENS];
	literal[0] = '/';
	for (size_t i = 0; i < c->tokens; i++)
		literal[1 + i] = (char)c->token[i].byte;
	const char *kept = arena_copy(a, literal, 1 + c->tokens);
	out->literal = kept ? kept + 1 : NULL;
	return kept ? 0 : -ENOMEM;
}

int glob_compile(struct arena *a, const glob_unit *units, size_t n, char sep, struct glob_error *wrong,
		 struct glob *out)
{
	struct compiler c;
	begin(&c, units, n, sep);
	c.wrong = wrong;
	int r = 0;
	for (ordinary(&c); !r && c.at < n; ordinary(&c))
		r = one(&c);
	return r ? r : finish(a, &c, out);
}

uint32_t glob_literal_components(const struct glob *g)
{
	if (g->literal)
		return g->n;
	if (g->prefix < g->n && g->token[g->prefix].op == GLOB_TAIL)
		return g->prefix;
	uint32_t n = g->prefix;
	while (n && g->token[n - 1].op != GLOB_SEP)
		n--;
	return n ? n - 1 : 0;
}

int glob_graft(struct arena *a, const glob_unit *units, size_t n, const struct glob *g, uint32_t whole, struct glob *out)
{
	size_t rest = g->n - whole, i = 0;
	struct compiler c;
	if (n + rest > GLOB_TOKENS)
		return 1;
	begin(&c, units, n, g->sep);
	for (; i < n; i++) {
		uint8_t byte = (uint8_t)(units[i] & 0xff);
		c.token[i] = (struct glob_token){ .op = byte == '/' ? GLOB_SEP : GLOB_BYTE, .byte = byte };
	}
	/* Grafted onto the root, what follows needs no separator before it. */
	size_t skip = !n && rest && g->token[whole].op == GLOB_SEP;
	if (!n && rest && g->token[whole].op == GLOB_TAIL)
		skip = 1;
	memcpy(c.token + n, g->token + whole + skip, (rest - skip) * sizeof(c.token[0]));
	c.tokens = n + rest - skip;
	int r = finish(a, &c, out);
	if (!r)
		out->class = g->class;
	return r;
}
