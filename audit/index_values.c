/* SPDX-License-Identifier: Apache-2.0 */
/* Values and their records: see index_values.h. */
#include "audit/index_values.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

struct value {
	uint64_t hash;
	size_t text; /* its place in the arena: the kind, then the text */
	uint32_t len;
	uint32_t row;
	uint32_t next; /* the record after the last that has it; 0: none has */
	struct bytes list;
};

struct values {
	struct value *value;
	size_t n, cap;
	uint32_t *slot; /* by hash: number of a value plus one */
	size_t slots;
	struct bytes arena;
	uint8_t seed[crypto_shorthash_KEYBYTES]; /* names are chosen by others */
};

static bool grow(struct bytes *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 8;
	while (cap < b->len + more)
		cap *= 2;
	if (cap == b->cap)
		return true;
	uint8_t *at = realloc(b->at, cap);
	if (!at)
		return false;
	b->at = at;
	b->cap = cap;
	return true;
}

bool bytes_put(struct bytes *b, const void *data, size_t n)
{
	if (!grow(b, n))
		return false;
	if (n)
		memcpy(b->at + b->len, data, n);
	b->len += n;
	return true;
}

bool bytes_number(struct bytes *b, uint64_t v)
{
	if (!grow(b, 10))
		return false;
	for (; v >= 0x80; v >>= 7)
		b->at[b->len++] = (uint8_t)(v | 0x80);
	b->at[b->len++] = (uint8_t)v;
	return true;
}

bool index_number(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
	uint64_t v = 0;
	for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
		uint8_t b = *(*p)++;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*out = v;
			return true;
		}
	}
	return false;
}

int values_new(struct values **out)
{
	struct values *v = calloc(1, sizeof *v);
	if (!v)
		return -ENOMEM;
	randombytes_buf(v->seed, sizeof v->seed);
	*out = v;
	return 0;
}

void values_free(struct values *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n; i++)
		free(v->value[i].list.at);
	free(v->value);
	free(v->slot);
	free(v->arena.at);
	free(v);
}

static bool more_slots(struct values *v)
{
	size_t slots = v->slots ? 2 * v->slots : 4096;
	uint32_t *slot = calloc(slots, sizeof *slot);
	if (!slot)
		return false;
	for (size_t i = 0; i < v->n; i++) {
		size_t at = v->value[i].hash & (slots - 1);
		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(v->slot);
	v->slot = slot;
	v->slots = slots;
	return true;
}

static struct value *add(struct values *v, uint64_t hash, uint32_t row, uint8_t kind, const char *text, size_t len)
{
	if (v->n == v->cap) {
		size_t cap = v->cap ? 2 * v->cap : 1024;
		struct value *grown = realloc(v->value, cap * sizeof *grown);
		if (!grown)
			return NULL;
		v->value = grown;
		v->cap = cap;
	}
	size_t at = v->arena.len;
	if (!bytes_put(&v->arena, &kind, 1) || !bytes_put(&v->arena, text, len))
		return NULL;
	v->value[v->n] = (struct value){ .hash = hash, .text = at, .len = (uint32_t)len + 1, .row = row };
	return &v->value[v->n++];
}

static struct value *find(struct values *v, uint32_t row, uint8_t kind, const char *text, size_t len)
{
	uint64_t hash;
	_Static_assert(sizeof hash == crypto_shorthash_BYTES, "the hash is one number");
	if (2 * v->n >= v->slots && !more_slots(v))
		return NULL;
	crypto_shorthash((uint8_t *)&hash, (const uint8_t *)text, len, v->seed);
	hash ^= ((uint64_t)row << 8 | kind) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = hash & (v->slots - 1);
	for (; v->slot[at]; at = (at + 1) & (v->slots - 1)) {
		struct value *one = &v->value[v->slot[at] - 1];
		const uint8_t *known = v->arena.at + one->text;
		if (one->hash == hash && one->row == row && one->len == len + 1 && known[0] == kind && !memcmp(known + 1, text, len))
			return one;
	}
	struct value *one = add(v, hash, row, kind, text, len);
	if (one)
		v->slot[at] = (uint32_t)v->n;
	return one;
}

bool values_note(struct values *v, uint32_t row, uint8_t kind, const char *text, size_t len, uint32_t record)
{
	struct value *one = find(v, row, kind, text, len);
	if (!one || (one->next != record + 1 && !bytes_number(&one->list, record - one->next)))
		return false;
	one->next = record + 1;
	return true;
}

/* --- rows --- */

static int by_row(const void *a, const void *b)
{
	const struct value *x = *(struct value *const *)a, *y = *(struct value *const *)b;
	return x->row != y->row ? (x->row < y->row ? -1 : 1) : x < y ? -1 : x > y;
}

static bool put_entry(const struct values *v, const struct value *one, struct bytes *row)
{
	return bytes_number(row, one->len) && bytes_put(row, v->arena.at + one->text, one->len) &&
	       bytes_number(row, one->list.len) && bytes_put(row, one->list.at, one->list.len);
}

static int put_rows(const struct values *v, struct value **order, struct bytes *row, row_fn put, void *context)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < v->n;) {
		uint32_t number = order[i]->row;
		row->len = 0;
		for (; i < v->n && order[i]->row == number; i++)
			if (!put_entry(v, order[i], row))
				return -ENOMEM;
		rc = put(context, number, row->at, row->len);
	}
	return rc;
}

int values_rows(struct values *v, row_fn put, void *context)
{
	struct bytes row = { 0 };
	struct value **order = malloc((v->n + 1) * sizeof *order);
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++)
		order[i] = &v->value[i];
	qsort(order, v->n, sizeof *order, by_row);
	int rc = put_rows(v, order, &row, put, context);
	free(row.at);
	free(order);
	return rc;
}
