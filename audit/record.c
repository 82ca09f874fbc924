/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds one record in the caller's buffer.
 *
 * MUST: RECORD_TAIL bytes of the buffer are always left, so that what is open can be closed; once
 * something did not fit nothing more is written: broken stays broken.
 */
#include "audit/record.h"

#include <stdio.h>
#include <string.h>

#include "audit/escape.h"
#include "audit/record_put.h"
#include "audit/redact.h"

static void put(struct record *r, const char *text, size_t n)
{
	char *at = record_room(r, n);
	if (at)
		put_short(at, text, n);
}

static void put_one(struct record *r, char c)
{
	char *at = record_room(r, 1);
	if (at)
		*at = c;
}

static void put_escaped(struct record *r, const char *bytes, size_t n)
{
	if (r->broken)
		return;
	ssize_t len = escape(r->buf + r->len, r->cap - RECORD_TAIL - r->len, bytes, n);
	if (len < 0)
		r->broken = true;
	else
		r->len += (size_t)len;
}

static void put_string(struct record *r, const char *bytes, size_t n)
{
	put_one(r, '"');
	put_escaped(r, bytes, n);
	put_one(r, '"');
}

/* Rare: the value at AT, and those behind it, as commitments. */
static void put_redacted(struct record *r, const char *bytes, size_t n, size_t at, size_t len)
{
	char commitment[REDACT_LEN];
	size_t from = 0;
	put_one(r, '"');
	do {
		put_escaped(r, bytes + from, at - from);
		redact_commit(r->redactor, bytes + at, len, commitment);
		put(r, commitment, sizeof commitment);
		from = at + len;
	} while (!r->broken && redact_find_given(r->redactor, r->program, bytes, n, from, &at, &len));
	put_escaped(r, bytes + from, n - from);
	put_one(r, '"');
}

static void lead(struct record *r, const char *key)
{
	(void)record_lead(r, key, 0);
}

static void open_with(struct record *r, const char *key, bool list)
{
	lead(r, key);
	if (r->depth == RECORD_TAIL - 2) {
		r->broken = true;
		return;
	}
	put_one(r, list ? '[' : '{');
	r->depth++;
	r->lists = (r->lists & ~(1u << r->depth)) | (list ? 1u << r->depth : 0);
	r->first = true;
}

void record_begin(struct record *r, char *buf, size_t cap, const char *type)
{
	*r = (struct record){ .buf = buf, .cap = cap, .first = true };
	put_one(r, '{');
	record_word(r, "type", type);
}

void record_word(struct record *r, const char *key, const char *word)
{
	put_word(r, key, word);
}

void record_text(struct record *r, const char *key, const char *value)
{
	if (!value)
		return;
	lead(r, key);
	put_string(r, value, strlen(value));
}

void record_bytes(struct record *r, const char *key, struct span value)
{
	if (!value.bytes)
		return;
	size_t at, len;
	lead(r, key);
	if (r->redactor && redact_find_given(r->redactor, r->program, value.bytes, value.len, 0, &at, &len))
		put_redacted(r, value.bytes, value.len, at, len);
	else
		put_string(r, value.bytes, value.len);
}

#define BEHIND 512 /* numbers and words */

void record_fitting(struct record *r, const char *key, struct span value)
{
	const struct record before = *r;
	char name[32];
	record_bytes(r, key, value);
	if (before.broken || (!r->broken && r->cap - r->len > BEHIND))
		return;
	*r = before;
	snprintf(name, sizeof name, "%s_len", key);
	record_int(r, name, value.len);
}

void record_secret(struct record *r, struct span value)
{
	lead(r, NULL);
	if (r->redactor && value.len)
		put_redacted(r, value.bytes, value.len, 0, value.len);
	else
		put_string(r, value.bytes, value.len);
}

void record_item(struct record *r, struct span value)
{
	record_bytes(r, NULL, value);
}

void record_int(struct record *r, const char *key, int64_t value)
{
	put_int(r, key, value);
}

void record_plain(struct record *r, const char *text, size_t n)
{
	put(r, text, n);
	r->first = false;
}

void record_bool(struct record *r, const char *key, bool value)
{
	lead(r, key);
	put(r, value ? "true" : "false", value ? 4 : 5);
}

void record_list(struct record *r, const char *key)
{
	open_with(r, key, true);
}

void record_object(struct record *r, const char *key)
{
	open_with(r, key, false);
}

void record_close(struct record *r)
{
	if (!r->depth) {
		r->broken = true; /* a close too many is a mistake of the caller */
		return;
	}
	put_one(r, r->lists >> r->depth & 1 ? ']' : '}');
	r->depth--;
	r->first = false;
}

size_t record_finish(const struct record *r)
{
	if (r->broken || !r->len)
		return 0;
	char *o = r->buf + r->len;
	for (unsigned d = r->depth; d; d--)
		*o++ = r->lists >> d & 1 ? ']' : '}';
	*o++ = '}';
	return (size_t)(o - r->buf) - 1;
}
