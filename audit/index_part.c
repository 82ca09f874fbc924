/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the part of the index for one segment: see index_part.h. */
#include "audit/index_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/escape.h"
#include "audit/field.h"
#include "audit/reader.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"

#define VERSION 4 /* 2: where a rewrite led is a name, too; 3: and what the kernel gave a bind; 4: a socket stands where its file does */

struct index_part {
	struct part_head head;
	struct values *values;
	struct bytes places, range, line; /* line: the last one */
	size_t *chunk;                    /* where the places of a chunk begin */
	size_t chunks;
	struct range now; /* of the present chunk */
	uint64_t end;     /* of the record before, in the present chunk */
	bool failed;      /* no memory, or too many records */
};

static const struct field present = { .kind = FIELD_WORD, .value = "" };

/* By the bytes it stands for: a name that is written in another way than ours is found all the same. */
uint32_t index_name_row(const char *text, size_t len)
{
	const struct field path = query_path(&(struct field){ .kind = FIELD_STRING, .value = text, .len = len });
	text = path.value;
	len = path.len;
	static const uint8_t key[crypto_shorthash_KEYBYTES];
	uint8_t hash[crypto_shorthash_BYTES];
	CLEANUP_FREE char *bytes = memchr(text, '\\', len) ? malloc(len) : NULL;
	ssize_t n = bytes ? unescape(bytes, text, len) : -1;
	crypto_shorthash(hash, (const uint8_t *)(n < 0 ? text : bytes), n < 0 ? len : (size_t)n, key);
	return ROW_NAMES + hash[0] % NAME_ROWS;
}

bool index_moves(const char *text, size_t len)
{
	static const char *const calls[] = { "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat" };
	struct field call;
	if (!memmem(text, len, "\"objects\":[", 11) || !field_find(text, len, "call", &call))
		return false;
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (field_is(&call, calls[i]))
			return true;
	return false;
}

static void note(struct index_part *p, enum query_key key, const struct field *f)
{
	uint32_t row = key == KEY_NAME ? index_name_row(f->value, f->len) : key;
	p->failed |= !values_note(p->values, row, (uint8_t)f->kind, f->value, f->len, (uint32_t)p->head.records);
}

static void note_objects(struct index_part *p, const struct field *objects)
{
	struct fields items, f;
	struct field item, one;
	fields_begin(&items, objects->value, objects->len);
	while (fields_next(&items, &item)) {
		if (item.kind != FIELD_OBJECT)
			continue;
		fields_begin(&f, item.value, item.len);
		while (fields_next(&f, &one))
			if (query_key_of(&one) == KEY_NAME)
				note(p, KEY_NAME, &one);
			else if (one.kind == FIELD_LIST && field_key(&one, "objects"))
				note_objects(p, &one);
	}
}

static void note_items(struct index_part *p, enum query_key key, const struct field *list)
{
	struct fields f;
	struct field one;
	fields_begin(&f, list->value, list->len);
	while (fields_next(&f, &one))
		note(p, key, &one);
}

static void widen(uint64_t range[2], uint64_t v)
{
	range[0] = v < range[0] ? v : range[0];
	range[1] = v > range[1] ? v : range[1];
}

static void note_field(struct index_part *p, const struct field *f)
{
	enum query_key key = query_key_of(f);
	uint64_t v;
	if (key == KEY_TIME && stamp_read(f->value, f->len, &v))
		widen(p->now.time, v);
	else if (key == KEY_SEQ && field_number(f, (int64_t *)&v) && (int64_t)v >= 0)
		widen(p->now.seq, v);
	else if (key == KEY_OP && f->kind == FIELD_LIST)
		note_items(p, key, f);
	else if (key == KEY_ANSWER)
		note(p, key, &present);
	else if (key != KEY_NONE && key != KEY_OP && key < KEY_VALUES)
		note(p, key, f);
	else if (key == KEY_NONE && f->kind == FIELD_LIST && field_key(f, "objects"))
		note_objects(p, f);
}

static void end_chunk(struct index_part *p)
{
	p->failed |= p->chunks && !bytes_put(&p->range, &p->now, sizeof p->now);
}

static void begin_chunk(struct index_part *p)
{
	size_t *chunk = realloc(p->chunk, (p->chunks + 1) * sizeof *chunk);
	end_chunk(p);
	p->failed |= !chunk;
	if (!chunk)
		return;
	p->chunk = chunk;
	p->chunk[p->chunks++] = p->places.len;
	p->now = (struct range){ { UINT64_MAX, 0 }, { UINT64_MAX, 0 } };
	p->end = 0;
}

static void take(struct index_part *p, const struct line *l)
{
	struct fields f;
	struct field one;
	if (p->head.records % CHUNK_RECORDS == 0)
		begin_chunk(p);
	p->failed |= p->head.records == PART_RECORDS_MAX || !bytes_number(&p->places, l->offset - p->end) ||
		     !bytes_number(&p->places, l->len);
	if (p->failed)
		return;
	p->end = l->offset + l->len;
	fields_begin(&f, l->bytes, l->len);
	while (fields_next(&f, &one))
		note_field(p, &one);
	if (index_moves(l->bytes, l->len))
		note(p, KEY_MOVE, &present);
	p->head.records++;
	p->head.last = l->offset;
	p->head.last_len = l->len;
	p->head.upto = p->end + l->ended;
	p->line.len = 0;
	p->failed |= !bytes_put(&p->line, l->bytes, l->len);
}

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * UINT64_C(1000000000) + (uint64_t)t->tv_nsec;
}

static void describe(struct part_head *h, const struct stat *st)
{
	h->version = VERSION;
	h->inode = st->st_ino;
	h->size = (uint64_t)st->st_size;
	h->modified = ns_of(&st->st_mtim);
	h->changed = ns_of(&st->st_ctim);
}

bool part_known(const struct part_head *h)
{
	return h->version == VERSION && h->records && h->records <= PART_RECORDS_MAX && h->last_len && h->upto > h->last;
}

bool part_fresh(const struct part_head *h, const struct stat *st)
{
	struct part_head now;
	describe(&now, st);
	return h->inode == now.inode && h->size == now.size && h->modified == now.modified && h->changed == now.changed;
}

static int read_segment(struct index_part *p, const char *dir, uint32_t segment)
{
	struct reader *r;
	struct line l;
	struct stat st;
	int rc = reader_open_at(dir, segment, 0, &r);
	if (rc != 0)
		return rc;
	rc = reader_stat(r, &st); /* before the first byte is read: what changes later makes the part stale */
	if (rc == 0) {
		describe(&p->head, &st);
		while (!p->failed && (rc = reader_next(r, &l)) == 1 && l.segment == segment)
			if (line_is_record(&l))
				take(p, &l);
	}
	reader_close(r);
	end_chunk(p);
	digest_of(&p->head.hash, p->line.at, p->line.len);
	if (p->head.records == PART_RECORDS_MAX)
		return -EFBIG;
	return rc < 0 ? rc : p->failed ? -ENOMEM : 0;
}

int index_part_make(const char *dir, uint32_t segment, struct index_part **out)
{
	struct index_part *p = calloc(1, sizeof *p);
	*out = NULL;
	if (!p)
		return -ENOMEM;
	randombytes_buf(p->head.nonce, sizeof p->head.nonce);
	int rc = values_new(&p->values);
	if (rc == 0)
		rc = read_segment(p, dir, segment);
	if (rc == 0 && p->head.records)
		*out = p;
	else
		index_part_free(p);
	return rc;
}

void index_part_free(struct index_part *p)
{
	if (!p)
		return;
	values_free(p->values);
	free(p->places.at);
	free(p->range.at);
	free(p->line.at);
	free(p->chunk);
	free(p);
}

const struct part_head *index_part_head(const struct index_part *p)
{
	return &p->head;
}

int index_part_rows(struct index_part *p, row_fn put, void *context)
{
	int rc = put(context, ROW_RANGES, p->range.at, p->range.len);
	if (rc == 0)
		rc = values_rows(p->values, put, context);
	for (size_t i = 0; rc == 0 && i < p->chunks; i++) {
		size_t end = i + 1 < p->chunks ? p->chunk[i + 1] : p->places.len;
		rc = put(context, ROW_PLACES + (uint32_t)i, p->places.at + p->chunk[i], end - p->chunk[i]);
	}
	return rc;
}
