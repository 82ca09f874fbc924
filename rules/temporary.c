// SPDX-License-Identifier: Apache-2.0
/*
 * $TEMPORARY: $TMPDIR, /tmp and /var/tmp, as a pattern. Of one that $HOME lies in: what is in it beside the way to $HOME.
 * A home below /tmp, as containers and tests have them, is a home; a $TMPDIR that is the home itself is none of them.
 *
 * MUST: of a home that lies in one nothing is matched, neither what is in it nor the directories that lead there; what is no name of the home's may be
 * left out where it begins like one, which gives less.
 */
#include <errno.h>
#include <string.h>

#include "rules/others.h"

#define PLACES 3
#define FORMS 44U /* a word of builtin:agent's multiplies them by twenty, and 1,024 are what a word may have */

struct places {
	const char *dir[PLACES];
	size_t len[PLACES];
	size_t n;
};

/* Without the slashes at its end. */
static size_t length(const char *dir)
{
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	return len;
}

static bool same(const char *a, const char *b)
{
	return length(a) == length(b) && memcmp(a, b, length(a)) == 0;
}

static void add(struct places *p, const char *dir)
{
	size_t len = length(dir);

	if (!len)
		return; /* the root directory is no place for temporary files alone */
	for (size_t i = 0; i < p->n; i++)
		if (p->len[i] == len && memcmp(p->dir[i], dir, len) == 0)
			return;
	p->dir[p->n] = dir;
	p->len[p->n++] = len;
}

static bool leads_to(const char *dir, size_t len, const char *home)
{
	return home && strncmp(home, dir, len) == 0 && home[len] == '/' && home[len + 1];
}

/* The components of HOME (END bytes) behind the directory of LEN bytes. */
static size_t levels(const char *home, size_t end, size_t len)
{
	size_t n = 0;

	for (size_t i = len; i < end; i++)
		n += home[i] == '/';
	return n;
}

/* From the top down, so that it is what lies deep that is left out where a variable has no more room. */
static void put_beside(struct others *o, const char *home, size_t len)
{
	size_t end = length(home), last = o->forms + FORMS;
	size_t n = levels(home, end, len);
	for (size_t at = len + 1; at < end && o->forms < last; n--) {
		size_t share = (last - o->forms) / n;
		struct own_names own = { .name = { home + at }, .len = { strcspn(home + at, "/") } };

		if (!others_try(o, home, at, &own, share < 4 ? 1 : (share - 1) / 2))
			return;
		at += own.len[0] + 1;
	}
}

/* $TMPDIR, or /tmp where it says none, or says the home: what is in that is the home's. */
static const char *said(const struct ruleset_source *from, const char *home)
{
	const char *tmp = variables_given(from, "TMPDIR");

	if (!tmp || tmp[0] != '/')
		return "/tmp";
	return home && same(tmp, home) ? "/tmp" : tmp;
}

int temporary(struct variables *v, struct arena *a, const struct ruleset_source *from)
{
	const char *home = variables_given(from, "HOME");
	struct places p = { .n = 0 };
	struct others o = { .n = 0 };

	add(&p, said(from, home));
	add(&p, "/tmp");
	add(&p, "/var/tmp");
	others_put(&o, "{", 1, 0);
	size_t shortest = 0; /* of those that lead to the home, of which each lies in the next */
	for (size_t i = 0; i < p.n; i++) {
		if (!leads_to(p.dir[i], p.len[i], home))
			others_form(&o, p.dir[i], p.len[i]);
		else if (!shortest || p.len[i] < shortest)
			shortest = p.len[i];
	}
	if (shortest)
		put_beside(&o, home, shortest);
	others_put(&o, "}", 1, 0);
	if (o.full)
		return -ENAMETOOLONG;
	return variables_set(v, a, "TEMPORARY", sizeof("TEMPORARY") - 1, o.units, o.n);
}
