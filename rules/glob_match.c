// SPDX-License-Identifier: Apache-2.0
/*
 * Running a pattern's program: all positions at once in a bit set, so that the
 * time is bounded by length times program and no input can make it blow up.
 */
#include "rules/glob.h"

#include <string.h>

#define WORDS ((GLOB_TOKENS + 64) / 64 + 1)

struct states {
	uint64_t word[WORDS];
};

struct machine {
	const struct glob_token *token;
	size_t n;
	const struct glob_class *class;
	size_t words;
};

static void set(struct states *s, size_t i)
{
	s->word[i / 64] |= UINT64_C(1) << (i % 64);
}

static bool has(const struct states *s, size_t i)
{
	return s->word[i / 64] >> (i % 64) & 1;
}

/* Adds state I and what is reached from it without a byte. START: at the beginning of a component. */
static void enter(const struct machine *m, struct states *s, size_t i, bool start)
{
	for (;; i++) {
		set(s, i);
		if (i >= m->n)
			return;
		uint8_t op = m->token[i].op;
		if (op != GLOB_STAR && op != GLOB_ALL && !(op == GLOB_DIRS && start))
			return;
	}
}

static bool in_class(const struct machine *m, const struct glob_token *t, uint8_t byte)
{
	return m->class[t->class].bits[byte / 8] >> (byte % 8) & 1;
}

/* Where token T leads on this byte: 0 nowhere, 1 on to the next, 2 stays. */
static int consume(const struct machine *m, const struct glob_token *t, uint8_t byte, bool sep)
{
	switch ((enum glob_op)t->op) {
	case GLOB_BYTE:
		return !sep && t->byte == byte;
	case GLOB_SEP:
	case GLOB_TAIL:
		return sep;
	case GLOB_ANY:
		return !sep;
	case GLOB_CLASS:
		return !sep && in_class(m, t, byte);
	case GLOB_STAR:
		return sep ? 0 : 2;
	case GLOB_ALL:
	case GLOB_DIRS:
		return 2;
	}
	return 0;
}

static bool step(const struct machine *m, const struct states *from, struct states *to, uint8_t byte, bool sep)
{
	bool any = false;
	memset(to->word, 0, m->words * sizeof(to->word[0]));
	for (size_t w = 0; w < m->words; w++) {
		for (uint64_t left = from->word[w]; left; left &= left - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(left);
			int how = i < m->n ? consume(m, &m->token[i], byte, sep) : 0;
			if (how)
				enter(m, to, how == 1 ? i + 1 : i, sep);
			any |= how != 0;
		}
	}
	return any;
}

static bool accepts(const struct machine *m, const struct states *s)
{
	if (has(s, m->n))
		return true;
	return m->n >= 2 && m->token[m->n - 2].op == GLOB_TAIL && has(s, m->n - 2);
}

static bool run(const struct machine *m, char sep, const char *name, size_t len)
{
	struct states a, b;
	struct states *now = &a, *next = &b;
	bool escaped = false;
	memset(now->word, 0, m->words * sizeof(now->word[0]));
	enter(m, now, 0, true);
	for (size_t i = 0; i < len; i++) {
		bool is_sep = name[i] == sep && !escaped;
		escaped = sep == ' ' && name[i] == '\\' && !escaped;
		if (!step(m, now, next, (uint8_t)name[i], is_sep))
			return false;
		struct states *swap = now;
		now = next;
		next = swap;
	}
	return accepts(m, now);
}

bool glob_match_part(const struct glob *g, const struct glob_token *tokens, size_t n, const char *name, size_t len)
{
	struct machine m = { tokens, n, g->class, n / 64 + 1 };
	return run(&m, g->sep, name, len);
}

/* By its first or last byte: most names are told from most patterns by one of them. */
static bool differs_at_ends(const struct glob *g, const char *name, size_t len)
{
	const struct glob_token *first = g->token, *last = g->token + g->n - 1;
	if (!g->n || !len)
		return false;
	return (first->op == GLOB_BYTE && first->byte != (uint8_t)name[0]) ||
	       (last->op == GLOB_BYTE && last->byte != (uint8_t)name[len - 1]);
}

bool glob_match(const struct glob *g, const char *name, size_t len)
{
	if (g->literal)
		return g->n == len && memcmp(g->literal, name, len) == 0;
	if (differs_at_ends(g, name, len))
		return false;
	if (g->sep == '/') {
		size_t check = g->prefix < len ? g->prefix : len;
		for (size_t i = 0; i < check; i++)
			if (g->token[i].byte != (uint8_t)name[i])
				return false;
		/* A prefix and all below it: the commonest pattern of all. */
		if (len > g->prefix && g->prefix + 2 == g->n && g->token[g->prefix].op == GLOB_TAIL)
			return name[g->prefix] == '/';
	}
	return glob_match_part(g, g->token, g->n, name, len);
}

bool glob_match_component(const struct glob *g, const struct glob_token *tokens, size_t n, const char *name,
			  size_t len)
{
	struct machine m = { tokens, n, g->class, 0 };
	size_t t = 0, i = 0, retry_t = n + 1, retry_i = 0;
	while (i < len) {
		if (t < n && tokens[t].op == GLOB_STAR) {
			retry_t = ++t;
			retry_i = i;
		} else if (t < n && consume(&m, &tokens[t], (uint8_t)name[i], false) == 1) {
			t++;
			i++;
		} else if (retry_t <= n) {
			t = retry_t;
			i = ++retry_i;
		} else {
			return false;
		}
	}
	while (t < n && tokens[t].op == GLOB_STAR)
		t++;
	return t == n;
}
