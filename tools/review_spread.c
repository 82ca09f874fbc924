/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: fewer than ENOUGH directories of one length are none by which files are spread, nor are those that are counted as people do: 1, 2, 10.
 */
#include "tools/review_spread.h"

#include <ctype.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 4
#define LONGEST 2 /* letters; three are words too often */
#define VALUES 256
/* In the place of a number of letters: the directories that came and went in one, and each of these by its name. */
#define PASSED 0
#define BY_NAME SIZE_MAX

struct spread {
	char *parent;
	size_t letters;
	bool seen[VALUES];
	size_t n;
	bool upper, lower, padded;
};

static int by_parent(const void *a, const void *b)
{
	const struct spread *x = a, *y = b;

	if (x->letters != y->letters)
		return x->letters < y->letters ? -1 : 1;
	return strcmp(x->parent, y->parent);
}

static void free_spread(void *of)
{
	struct spread *s = of;

	free(s->parent);
	free(s);
}

bool review_spread_is(const char *name, size_t n)
{
	bool upper = false, lower = false;

	for (size_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)name[i]))
			return false;
		upper |= isupper((unsigned char)name[i]);
		lower |= islower((unsigned char)name[i]);
	}
	return n && n <= LONGEST && !(upper && lower);
}

static struct spread *spread_of(struct review_spread *of, const char *parent, size_t n)
{
	struct spread *s = calloc(1, sizeof(*s)), **at = NULL;

	if (s) {
		*s = (struct spread){ .parent = strdup(parent), .letters = n };
		at = s->parent ? tsearch(s, &of->tree, by_parent) : NULL;
	}
	if (!at)
		of->failed = true;
	if (s && (!at || *at != s))
		free_spread(s);
	return at ? *at : NULL;
}

void review_spread_add(struct review_spread *of, const char *parent, const char *name, size_t n)
{
	struct spread *s = spread_of(of, parent, n);
	char digits[LONGEST + 1] = "";

	if (!s)
		return;
	memcpy(digits, name, n);
	unsigned long value = strtoul(digits, NULL, 16);
	s->n += !s->seen[value];
	s->seen[value] = true;
	s->padded |= n > 1 && name[0] == '0';
	for (size_t i = 0; i < n; i++) {
		s->upper |= isupper((unsigned char)name[i]);
		s->lower |= islower((unsigned char)name[i]);
	}
}

static bool is_spread(const struct spread *s)
{
	return s->n >= ENOUGH && (s->upper || s->lower || s->padded);
}

const struct lot_letter *review_spread_find(const struct review_spread *of, const char *parent, size_t n)
{
	static const struct lot_letter small = { "[0-9a-f]", "0123456789abcdef" }, large = { "[0-9A-F]", "0123456789ABCDEF" },
				       any = { "[0-9a-fA-F]", "0123456789abcdefABCDEF" };
	struct spread key = { .parent = (char *)parent, .letters = n };
	struct spread **at = tfind(&key, &of->tree, by_parent);

	if (!at || !is_spread(*at))
		return NULL;
	if ((*at)->upper == (*at)->lower)
		return &any;
	return (*at)->upper ? &large : &small;
}

void review_spread_passed(struct review_spread *of, const char *parent, const char *name, size_t n)
{
	size_t len = strlen(parent);
	char *whole = malloc(len + n + 2);

	if (!whole) {
		of->failed = true;
		return;
	}
	memcpy(whole, parent, len);
	whole[len] = '/';
	memcpy(whole + len + 1, name, n);
	whole[len + 1 + n] = '\0';
	struct spread *one = spread_of(of, whole, BY_NAME), *all = spread_of(of, parent, PASSED);
	free(whole);
	if (one && all && !one->n) {
		one->n = 1;
		all->n++;
	}
}

bool review_spread_passes(const struct review_spread *of, const char *parent)
{
	struct spread key = { .parent = (char *)parent, .letters = PASSED };
	struct spread **at = tfind(&key, &of->tree, by_parent);

	return at && (*at)->n >= ENOUGH;
}

void review_spread_free(struct review_spread *of)
{
	tdestroy(of->tree, free_spread);
}
