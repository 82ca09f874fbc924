// SPDX-License-Identifier: Apache-2.0
/*
 * {a,b}: one word that stands for several.
 *
 * MUST: the number of forms is bounded before any of them is stored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/parser.h"

#define FORMS 1024U
#define FORM_UNITS WORD_UNITS

struct expansion {
	struct parser *p;
	const struct word *w;
	form_fn each;
	void *context;
	uint32_t forms;
};

/* The '}' that closes the '{' at OPEN, or N. */
static size_t closing(const glob_unit *u, size_t n, size_t open)
{
	size_t depth = 0;
	for (size_t i = open; i < n; i++) {
		if (u[i] == '{')
			depth++;
		else if (u[i] == '}' && --depth == 0)
			return i;
	}
	return n;
}

static size_t find_open(const glob_unit *u, size_t n)
{
	size_t i = 0;
	while (i < n && u[i] != '{' && u[i] != '}')
		i++;
	return i;
}

static int expand(struct expansion *x, const glob_unit *u, size_t n);

/* u[0..open) + u[from..to) + u[close+1..n) */
static int with_choice(struct expansion *x, const glob_unit *u, size_t n, const size_t cut[4])
{
	size_t before = cut[0], len = cut[2] - cut[1], behind = n - cut[3] - 1;
	glob_unit *form = malloc((before + len + behind + 1) * sizeof(*form));
	if (!form)
		return -ENOMEM;
	memcpy(form, u, before * sizeof(*form));
	memcpy(form + before, u + cut[1], len * sizeof(*form));
	memcpy(form + before + len, u + cut[3] + 1, behind * sizeof(*form));
	int r = expand(x, form, before + len + behind);
	free(form);
	return r;
}

static int choices(struct expansion *x, const glob_unit *u, size_t n, size_t open)
{
	size_t close = closing(u, n, open), from = open + 1, depth = 0;
	if (close == n)
		return parser_fail(x->p, x->w->from, "'{' without '}'; {a,b} was expected, or \"\\{\" for the byte itself");
	for (size_t i = from; i <= close; i++) {
		if (i == close || (u[i] == ',' && depth == 0)) {
			int r = with_choice(x, u, n, (size_t[]){ open, from, i, close });
			if (r)
				return r;
			from = i + 1;
		}
		depth += u[i] == '{';
		depth -= u[i] == '}' && i != close;
	}
	return 0;
}

static int expand(struct expansion *x, const glob_unit *u, size_t n)
{
	size_t open = find_open(u, n);
	if (open < n && u[open] == '}')
		return parser_fail(x->p, x->w->from, "'}' without '{'; {a,b} was expected, or \"\\}\" for the byte itself");
	if (open < n)
		return choices(x, u, n, open);
	if (x->forms++ >= FORMS)
		return parser_fail(x->p, x->w->from, "{...} stands for too many forms; at most 1,024 were expected");
	return x->each(x->context, u, n);
}

int expand_braces(struct parser *p, const struct word *w, size_t skip, form_fn each, void *context)
{
	struct expansion x = { .p = p, .w = w, .each = each, .context = context };
	size_t opens = 0;
	for (size_t i = skip; i < w->n; i++)
		opens += w->units[i] == '{';
	if (opens > 64)
		return parser_fail(p, w->from, "too many {...} in one word; at most 64 were expected");
	return expand(&x, w->units + (skip < w->n ? skip : w->n), w->n > skip ? w->n - skip : 0);
}
