// SPDX-License-Identifier: Apache-2.0
/*
 * MUST: no form is empty (it would stand for every name); an own name is matched by none.
 */
#include "rules/others.h"

#include <string.h>

void others_put(struct others *o, const char *text, size_t len, glob_unit literal)
{
	for (size_t i = 0; i < len; i++) {
		if (o->n == VARIABLE_UNITS)
			o->full = true;
		else
			o->units[o->n++] = (glob_unit)((unsigned char)text[i] | literal);
	}
}

void others_form(struct others *o, const char *text, size_t len)
{
	others_put(o, ",", o->forms++ > 0, 0);
	others_put(o, text, len, GLOB_LITERAL);
}

struct branching {
	struct others *o;
	const struct own_names *own;
	const char *dir;
	size_t dir_len;
};

/* Begins another form: the directory and NAME. */
static void form(const struct branching *b, const char *name, size_t len)
{
	others_form(b->o, b->dir, b->dir_len);
	others_put(b->o, name, len, GLOB_LITERAL);
}

static bool begins(const struct own_names *own, size_t i, const char *name, size_t len)
{
	return own->len[i] >= len && memcmp(own->name[i], name, len) == 0;
}

/* Whether one of the first BEFORE names begins with NAME[0..len) as well. */
static bool seen(const struct own_names *own, size_t before, const char *name, size_t len)
{
	for (size_t i = 0; i < before; i++)
		if (own->len[i] && begins(own, i, name, len))
			return true;
	return false;
}

/* What begins with NAME[0..len) and then leaves all of the own names. */
static void branch(const struct branching *b, const char *name, size_t len)
{
	const struct own_names *own = b->own;
	char next[OWN_NAMES];
	size_t n = 0;
	bool whole = false;
	for (size_t i = 0; i < OWN_NAMES; i++) {
		if (!own->len[i] || !begins(own, i, name, len))
			continue;
		whole |= own->len[i] == len;
		if (own->len[i] > len)
			next[n++] = own->name[i][len];
	}
	if (len && !whole)
		form(b, name, len);
	form(b, name, len);
	others_put(b->o, n ? "[!" : "?", n ? 2 : 1, 0);
	others_put(b->o, next, n, GLOB_LITERAL);
	others_put(b->o, n ? "]*" : "*", n ? 2 : 1, 0);
}

void others_but(struct others *o, const char *dir, size_t dir_len, const struct own_names *own, size_t most)
{
	const struct branching b = { o, own, dir, dir_len };

	for (size_t i = 0; i < OWN_NAMES; i++) {
		size_t last = own->len[i] > most ? most - 1 : own->len[i];

		for (size_t len = 0; own->len[i] && len <= last; len++)
			if (!seen(own, i, own->name[i], len))
				branch(&b, own->name[i], len);
	}
}

bool others_try(struct others *o, const char *dir, size_t dir_len, const struct own_names *own, size_t most)
{
	size_t n = o->n, forms = o->forms;

	others_but(o, dir, dir_len, own, most);
	if (!o->full && o->n < VARIABLE_UNITS)
		return true;
	o->n = n;
	o->forms = forms;
	o->full = false;
	return false;
}
