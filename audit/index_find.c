/* SPDX-License-Identifier: Apache-2.0 */
/* Finds by the index which records are wanted: see index.h. They are bits, one for each record of a part. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/escape.h"
#include "audit/field.h"
#include "audit/index_state.h"
#include "rules/cleanup.h"

/* More than one of so many records is read faster in order. */
#define PAYS 4

/* --- rows --- */

struct entry {
	struct field value;
	const uint8_t *list, *end;
};

/* The next entry at *p: 1, 0 at the end, or -EIO. */
static int next_entry(const uint8_t **p, const uint8_t *end, struct entry *out)
{
	uint64_t len, list;
	if (*p == end)
		return 0;
	if (!index_number(p, end, &len) || !len || len > (uint64_t)(end - *p))
		return -EIO;
	out->value = (struct field){ .kind = (enum field_kind)(*p)[0], .value = (const char *)*p + 1, .len = len - 1 };
	*p += len;
	if (!index_number(p, end, &list) || list > (uint64_t)(end - *p))
		return -EIO;
	out->list = *p;
	*p += list;
	out->end = *p;
	return 1;
}

static int mark(const struct part *p, const struct entry *e, uint64_t *bits)
{
	const uint8_t *at = e->list;
	uint64_t next = 0, gap;
	while (at < e->end) {
		if (!index_number(&at, e->end, &gap) || gap >= p->head.records - next)
			return -EIO;
		next += gap;
		bits[next / 64] |= UINT64_C(1) << next % 64;
		next++;
	}
	return 0;
}

/* What is looked for in a row: what answers word I of Q, or one value. */
struct sought {
	const struct query *q;
	size_t i;
	const char *text;
	size_t len;
};

static bool is_sought(const struct sought *s, const struct field *value)
{
	if (s->q)
		return query_value(s->q, s->i, value);
	const struct field path = query_path(value);
	return path.len == s->len && !memcmp(path.value, s->text, s->len);
}

static int mark_row(struct index *x, const struct part *p, uint32_t row, const struct sought *s, uint64_t *bits)
{
	const uint8_t *at, *end;
	struct entry e;
	int rc = index_store_row(x->store, p->segment, row, &at, &end);
	if (rc != 0)
		return rc;
	while ((rc = next_entry(&at, end, &e)) == 1)
		if (is_sought(s, &e.value) && (rc = mark(p, &e, bits)) != 0)
			return rc;
	return rc;
}

/* The row where the name stands that is BYTES and no pattern. */
static uint32_t row_of_literal(const char *bytes)
{
	size_t n = strlen(bytes), cap = n * ESCAPE_GROWTH;
	CLEANUP_FREE char *text = malloc(cap + 1);
	ssize_t len = text ? escape(text, cap, bytes, n) : -1;
	return len < 0 ? 0 : index_name_row(text, (size_t)len);
}

static int mark_names(struct index *x, const struct part *p, const struct sought *s, uint64_t *bits)
{
	const char *literal = query_literal(s->q, s->i);
	uint32_t row = literal ? row_of_literal(literal) : 0;
	if (row)
		return mark_row(x, p, row, s, bits);
	int rc = 0;
	for (row = ROW_NAMES; rc == 0 && row < ROW_NAMES + NAME_ROWS; row++)
		rc = mark_row(x, p, row, s, bits);
	return rc;
}

/* Whole chunks, by the range of their times or numbers. */
static int mark_ranges(struct index *x, const struct part *p, enum query_key key, const struct sought *s, uint64_t *bits)
{
	const uint8_t *at, *end;
	uint64_t low, high, n = (p->head.records + CHUNK_RECORDS - 1) / CHUNK_RECORDS;
	int rc = index_store_row(x->store, p->segment, ROW_RANGES, &at, &end);
	if (rc != 0 || (uint64_t)(end - at) != n * sizeof(struct range))
		return -EIO;
	query_range(s->q, s->i, &low, &high);
	for (uint64_t c = 0; c < n; c++) {
		struct range r;
		memcpy(&r, at + c * sizeof r, sizeof r);
		const uint64_t *has = key == KEY_TIME ? r.time : r.seq;
		if (has[0] > high || has[1] < low || has[0] > has[1])
			continue;
		size_t first = c * (CHUNK_RECORDS / 64), last = first + CHUNK_RECORDS / 64;
		for (size_t w = first; w < last && w < part_words(p); w++)
			bits[w] = ~UINT64_C(0);
	}
	return 0;
}

static int mark_word(struct index *x, const struct part *p, const struct query *q, size_t i, uint64_t *bits)
{
	struct sought s = { .q = q, .i = i };
	enum query_key key = query_word_key(q, i);
	if (key >= KEY_VALUES)
		return mark_ranges(x, p, key, &s, bits);
	return key == KEY_NAME ? mark_names(x, p, &s, bits) : mark_row(x, p, key, &s, bits);
}

/* --- what is wanted --- */

static int want_bits(const struct part *p, uint64_t **bits)
{
	if (!*bits)
		*bits = calloc(part_words(p), sizeof **bits);
	return *bits ? 0 : -ENOMEM;
}

/* Bits that answer each word that narrows. *narrowed: there is one. */
static int narrow(struct index *x, struct part *p, const struct query *q, bool *narrowed)
{
	int rc = want_bits(p, &p->want);
	CLEANUP_FREE uint64_t *word = malloc(part_words(p) * sizeof *word);
	if (rc != 0 || !word)
		return -ENOMEM;
	*narrowed = false;
	memset(p->want, 0, part_words(p) * sizeof *p->want);
	for (uint64_t i = 0; i < p->head.records; i += 64)
		p->want[i / 64] = p->head.records - i >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (p->head.records - i)) - 1;
	for (size_t i = 0; rc == 0 && i < query_words(q); i++) {
		if (query_word_key(q, i) == KEY_NONE)
			continue;
		*narrowed = true;
		memset(word, 0, part_words(p) * sizeof *word);
		rc = mark_word(x, p, q, i, word);
		for (size_t w = 0; w < part_words(p); w++)
			p->want[w] &= word[w];
	}
	return rc;
}

int index_want(struct index *x, const char *text, size_t len)
{
	struct sought s = { .text = text, .len = len };
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		struct part *p = &x->part[i];
		if (p->indexed && (rc = want_bits(p, &p->want)) == 0)
			rc = mark_row(x, p, index_name_row(text, len), &s, p->want);
	}
	return rc;
}

static int want_moves(struct index *x, struct part *p, const struct sought *name)
{
	const struct sought any = { .text = "" };
	CLEANUP_FREE uint64_t *named = calloc(part_words(p), sizeof *named);
	bool asked = p->moves != NULL;
	int rc = want_bits(p, &p->moves) == 0 && want_bits(p, &p->want) == 0 && named ? 0 : -ENOMEM;
	if (rc == 0 && !asked)
		rc = mark_row(x, p, KEY_MOVE, &any, p->moves);
	if (rc == 0)
		rc = mark_row(x, p, index_name_row(name->text, name->len), name, named);
	for (size_t w = 0; rc == 0 && w < part_words(p); w++)
		p->want[w] |= named[w] & p->moves[w];
	return rc;
}

int index_want_moves(struct index *x, const char *text, size_t len)
{
	struct sought s = { .text = text, .len = len };
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++)
		if (x->part[i].indexed)
			rc = want_moves(x, &x->part[i], &s);
	return rc;
}

int index_select(struct index *x, const struct query *q, index_fn each, void *context)
{
	uint64_t records = 0, wanted = 0;
	bool narrowed = false;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		struct part *p = &x->part[i];
		if (!p->indexed)
			continue;
		rc = narrow(x, p, q, &narrowed);
		records += p->head.records;
		for (size_t w = 0; rc == 0 && w < part_words(p); w++)
			wanted += (uint64_t)__builtin_popcountll(p->want[w]);
	}
	if (rc != 0)
		return rc;
	return narrowed && wanted <= records / PAYS ? index_lines(x, each, context) : 1;
}
