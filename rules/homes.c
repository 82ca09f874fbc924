// SPDX-License-Identifier: Apache-2.0
/*
 * $OTHER_HOMES: /root and what lies in /home, and beside $HOME where that is another directory of homes, but for
 * those that $HOME, $PWD and $TMPDIR are in. "Every component but these" is written in the language of
 * patterns itself: for ab it is {[!a]*,a,a[!b]*,ab?*}.
 *
 * MUST: no form is empty (it would stand for every name); the own home is matched by none.
 */
#include <errno.h>
#include <string.h>

#include "rules/variables.h"

#define OWN 3

struct own {
	const char *name[OWN];
	size_t len[OWN];
};

struct homes {
	glob_unit units[VARIABLE_UNITS];
	size_t n;
	bool full;
	const char *dir; /* with its slash */
	size_t dir_len;
};

static void put(struct homes *h, const char *text, size_t len, glob_unit literal)
{
	for (size_t i = 0; i < len; i++) {
		if (h->n == VARIABLE_UNITS)
			h->full = true;
		else
			h->units[h->n++] = (glob_unit)((unsigned char)text[i] | literal);
	}
}

/* Begins another form: DIR and NAME. */
static void put_form(struct homes *h, const char *name, size_t len)
{
	put(h, ",", h->n > 1, 0);
	put(h, h->dir, h->dir_len, GLOB_LITERAL);
	put(h, name, len, GLOB_LITERAL);
}

static bool begins(const struct own *o, size_t i, const char *name, size_t len)
{
	return o->len[i] >= len && memcmp(o->name[i], name, len) == 0;
}

/* Whether one of the first BEFORE names begins with NAME[0..len) as well. */
static bool seen(const struct own *o, size_t before, const char *name, size_t len)
{
	for (size_t i = 0; i < before; i++)
		if (o->len[i] && begins(o, i, name, len))
			return true;
	return false;
}

/* What begins with NAME[0..len) and then leaves all of the own names. */
static void put_branch(struct homes *h, const struct own *o, const char *name, size_t len)
{
	char next[OWN];
	size_t n = 0;
	bool whole = false;
	for (size_t i = 0; i < OWN; i++) {
		if (!o->len[i] || !begins(o, i, name, len))
			continue;
		whole |= o->len[i] == len;
		if (o->len[i] > len)
			next[n++] = o->name[i][len];
	}
	if (len && !whole)
		put_form(h, name, len);
	put_form(h, name, len);
	put(h, n ? "[!" : "?", n ? 2 : 1, 0);
	put(h, next, n, GLOB_LITERAL);
	put(h, n ? "]*" : "*", n ? 2 : 1, 0);
}

static void own_names(const struct ruleset_source *from, const char *dir, size_t dir_len, struct own *out)
{
	static const char *const variables[OWN] = { "HOME", "PWD", "TMPDIR" };
	for (size_t i = 0; i < OWN; i++) {
		const char *value = variables_given(from, variables[i]);
		bool below = value && strncmp(value, dir, dir_len) == 0;
		out->name[i] = below ? value + dir_len : "";
		out->len[i] = strcspn(out->name[i], "/");
	}
}

static void put_homes(struct homes *h, const struct ruleset_source *from, const char *dir, size_t dir_len)
{
	struct own own;
	own_names(from, dir, dir_len, &own);
	h->dir = dir;
	h->dir_len = dir_len;
	bool any = false;
	for (size_t i = 0; i < OWN; i++) {
		for (size_t len = 0; own.len[i] && len <= own.len[i]; len++)
			if (!seen(&own, i, own.name[i], len))
				put_branch(h, &own, own.name[i], len);
		any |= own.len[i] > 0;
	}
	if (!any) {
		put_form(h, "", 0);
		put(h, "*", 1, 0);
	}
}

/* Whether NAME[0..len) is a directory that homes lie in, by its last component; /home itself apart. */
static bool keeps_homes(const char *name, size_t len)
{
	static const char *const names[] = { "/home", "/homes", "/users", "/Users" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);
		if (len >= n && memcmp(name + len - n, names[i], n) == 0)
			return len != 5 || memcmp(name, "/home", 5) != 0;
	}
	return false;
}

int other_homes(struct variables *v, struct arena *a, const struct ruleset_source *from)
{
	struct homes h = { .n = 0 };
	struct own root;
	const char *home = variables_given(from, "HOME");
	const char *slash = home ? strrchr(home, '/') : NULL;
	put(&h, "{", 1, 0);
	own_names(from, "/", 1, &root);
	bool mine = false;
	for (size_t i = 0; i < OWN; i++)
		mine |= root.len[i] == 4 && memcmp(root.name[i], "root", 4) == 0;
	if (!mine)
		put(&h, "/root", 5, GLOB_LITERAL);
	put_homes(&h, from, "/home/", 6);
	if (slash && keeps_homes(home, (size_t)(slash - home)))
		put_homes(&h, from, home, (size_t)(slash - home) + 1);
	put(&h, "}", 1, 0);
	if (h.full)
		return -ENAMETOOLONG;
	return variables_set(v, a, "OTHER_HOMES", sizeof("OTHER_HOMES") - 1, h.units, h.n);
}
