// SPDX-License-Identifier: Apache-2.0
/* What a table knows: its words in a list, and the one that was probably meant. */
#include <string.h>

#include "rules/parser.h"

#define WORD 24U

static size_t least(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;
	return m < c ? m : c;
}

/* How many bytes must change, come or go; neighbours that changed places count once. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t d[WORD + 1][WORD + 1];
	for (size_t i = 0; i <= na; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		for (size_t j = 1; j <= nb; j++) {
			size_t change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = least(change, d[i - 1][j] + 1, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1, d[i][j]);
		}
	}
	return d[na][nb];
}

const char *suggest(const char *word, const char *const *known)
{
	size_t n = strlen(word), best = n > 4 ? 3 : 2;
	const char *nearest = NULL;
	for (; n && n <= WORD && *known; known++) {
		size_t len = strcspn(*known, "=");
		size_t d = len <= WORD ? distance(word, n, *known, len) : best;
		if (d >= best)
			continue;
		best = d;
		nearest = *known;
	}
	return nearest;
}

const char *list_words(char out[WORD_LIST], const char *const *known)
{
	size_t n = 0;
	out[0] = '\0';
	for (size_t i = 0; known[i] && n < WORD_LIST; i++)
		n += (size_t)snprintf(out + n, WORD_LIST - n, "%s%s", i == 0 ? "" : known[i + 1] ? ", " : " or ", known[i]);
	return out;
}
