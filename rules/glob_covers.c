// SPDX-License-Identifier: Apache-2.0
/*
 * Whether one pattern matches all that another does: the wide one's program is run over
 * the narrow one's tokens instead of bytes. For lint, never for a decision.
 *
 * MUST: never says yes wrongly. A token of many bytes is taken only by a token that
 * takes all of them and stays.
 */
#include <string.h>

#include "rules/glob.h"

#define STATES (GLOB_TOKENS + 3)

struct cover {
	const struct glob *wide;
	const struct glob *narrow;
	bool at[STATES];
	bool next[STATES];
};

static void enter(const struct cover *c, bool *set, size_t i, bool start)
{
	for (;; i++) {
		set[i] = true;
		if (i >= c->wide->n)
			return;
		uint8_t op = c->wide->token[i].op;
		if (op != GLOB_STAR && op != GLOB_ALL && !(op == GLOB_DIRS && start))
			return;
	}
}

static bool class_has(const struct glob *g, const struct glob_token *t, uint8_t byte)
{
	return g->class[t->class].bits[byte / 8] >> (byte % 8) & 1;
}

static int take_byte(const struct cover *c, const struct glob_token *w, uint8_t byte)
{
	if (w->op == GLOB_BYTE)
		return w->byte == byte;
	if (w->op == GLOB_CLASS)
		return class_has(c->wide, w, byte);
	return w->op == GLOB_STAR ? 2 : w->op == GLOB_ANY;
}

/* 0: W does not take all of T, 1: takes it and is done, 2: takes it and stays. */
static int take(const struct cover *c, const struct glob_token *w, const struct glob_token *t)
{
	if (w->op == GLOB_ALL || w->op == GLOB_DIRS)
		return 2;
	switch ((enum glob_op)t->op) {
	case GLOB_BYTE:
		return take_byte(c, w, t->byte);
	case GLOB_SEP:
	case GLOB_TAIL:
		return w->op == GLOB_SEP || w->op == GLOB_TAIL;
	case GLOB_ANY:
		return w->op == GLOB_STAR ? 2 : w->op == GLOB_ANY;
	case GLOB_CLASS:
		if (w->op == GLOB_CLASS)
			return memcmp(&c->wide->class[w->class], &c->narrow->class[t->class], sizeof(struct glob_class)) == 0;
		return w->op == GLOB_STAR ? 2 : w->op == GLOB_ANY;
	case GLOB_STAR:
		return w->op == GLOB_STAR ? 2 : 0;
	case GLOB_ALL:
	case GLOB_DIRS:
		return 0;
	}
	return 0;
}

static bool accepts(const struct cover *c)
{
	size_t n = c->wide->n;
	return c->at[n] || (n >= 2 && c->wide->token[n - 2].op == GLOB_TAIL && c->at[n - 2]);
}

static bool step(struct cover *c, const struct glob_token *t)
{
	bool start = t->op == GLOB_SEP || t->op == GLOB_TAIL || t->op == GLOB_DIRS;
	bool any = false;
	memset(c->next, 0, c->wide->n + 1U);
	for (size_t i = 0; i < c->wide->n; i++) {
		int how = c->at[i] ? take(c, &c->wide->token[i], t) : 0;
		if (how)
			enter(c, c->next, how == 1 ? i + 1 : i, start);
		any |= how != 0;
	}
	memcpy(c->at, c->next, c->wide->n + 1U);
	return any;
}

static bool covers(const struct glob *wide, const struct glob *narrow)
{
	struct cover c = { .wide = wide, .narrow = narrow };
	enter(&c, c.at, 0, true);
	for (size_t i = 0; i < narrow->n; i++) {
		/* The narrow pattern may end before its last globstar: the wide one must accept there as well. */
		if (narrow->token[i].op == GLOB_TAIL && !accepts(&c))
			return false;
		if (!step(&c, &narrow->token[i]))
			return false;
	}
	return accepts(&c);
}

bool glob_covers(const struct glob *wide, const struct glob *narrow)
{
	size_t same = wide->prefix < narrow->prefix ? wide->prefix : narrow->prefix;
	for (size_t i = 0; i < same; i++)
		if (wide->token[i].byte != narrow->token[i].byte)
			return false;
	if (wide->literal && (!narrow->literal || wide->n != narrow->n))
		return false;
	return covers(wide, narrow);
}
