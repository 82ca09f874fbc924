/* SPDX-License-Identifier: Apache-2.0 */
/* A small difference of two texts, for a person who is asked whether one may take the other's place. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/cleanup.h"
#include "supervisor/facts_file.h"

#define LINES_MAX 2000  /* of each text */
#define MIDDLE_MAX 300  /* lines that differ and are compared each with each */

struct lines {
	struct span at[LINES_MAX];
	size_t n;
};

struct writer {
	char *out;
	size_t cap;
	size_t used;
	bool full;
};

static bool is_text(struct span s)
{
	return !s.len || !memchr(s.bytes, '\0', s.len);
}

static bool split(struct span s, struct lines *l)
{
	const char *at = s.bytes, *end = s.bytes + s.len;

	for (l->n = 0; at < end; l->n++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		if (l->n == LINES_MAX)
			return false;
		if (!stop)
			stop = end;
		l->at[l->n] = (struct span){ at, (uint32_t)(stop - at) };
		at = stop + 1;
	}
	return true;
}

static bool same(struct span a, struct span b)
{
	return a.len == b.len && memcmp(a.bytes, b.bytes, a.len) == 0;
}

static void put(struct writer *w, char sign, struct span line)
{
	if (w->full || w->used + line.len + 2 > w->cap - 8) {
		w->full = true;
		return;
	}
	w->out[w->used++] = sign;
	memcpy(w->out + w->used, line.bytes, line.len);
	w->used += line.len;
	w->out[w->used++] = '\n';
}

/* Longest common subsequence of the middles: LENGTH[i][j] for what is left from i and j on. */
static uint16_t *common(const struct lines *a, const struct lines *b, size_t from, size_t na, size_t nb)
{
	uint16_t *length = calloc((na + 1) * (nb + 1), sizeof(*length));

	for (size_t i = length ? na : 0; i-- > 0;) {
		for (size_t k = nb; k-- > 0;) {
			uint16_t *at = &length[i * (nb + 1) + k];
			uint16_t down = at[nb + 1], right = at[1];
			*at = same(a->at[from + i], b->at[from + k]) ? (uint16_t)(at[nb + 2] + 1) : down > right ? down : right;
		}
	}
	return length;
}

static void middle(struct writer *w, const struct lines *a, const struct lines *b, size_t from, size_t na, size_t nb)
{
	bool small = na <= MIDDLE_MAX && nb <= MIDDLE_MAX;
	CLEANUP_FREE uint16_t *length = small ? common(a, b, from, na, nb) : NULL;
	size_t i = 0, k = 0;

	while (i < na || k < nb) {
		if (length && i < na && k < nb && same(a->at[from + i], b->at[from + k])) {
			put(w, ' ', a->at[from + i++]);
			k++;
		} else if (i < na && (k == nb || !length || length[(i + 1) * (nb + 1) + k] >= length[i * (nb + 1) + k + 1])) {
			put(w, '-', a->at[from + i++]);
		} else {
			put(w, '+', b->at[from + k++]);
		}
	}
}

size_t fact_diff(struct span old, struct span new, char *out, size_t cap)
{
	CLEANUP_FREE struct lines *a = malloc(sizeof(*a));
	CLEANUP_FREE struct lines *b = malloc(sizeof(*b));
	struct writer w = { .out = out, .cap = cap };
	size_t head = 0, tail = 0;

	if (!a || !b || cap < 64 || !is_text(old) || !is_text(new) || !split(old, a) || !split(new, b))
		return 0;
	while (head < a->n && head < b->n && same(a->at[head], b->at[head]))
		head++;
	while (tail < a->n - head && tail < b->n - head && same(a->at[a->n - 1 - tail], b->at[b->n - 1 - tail]))
		tail++;
	if (head == a->n && head == b->n)
		return (size_t)snprintf(out, cap, "the same text");
	if (head)
		put(&w, ' ', a->at[head - 1]);
	middle(&w, a, b, head, a->n - head - tail, b->n - head - tail);
	if (tail)
		put(&w, ' ', a->at[a->n - tail]);
	if (w.full) {
		memcpy(out + w.used, "...\n", 4);
		w.used += 4;
	}
	return w.used ? w.used - 1 : 0;
}
