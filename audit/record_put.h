/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For record.c and record_call.c: fields written where they are called from. A key that is a literal has a known length there and becomes a
 * few moves; every call of a program is recorded, and its caller waits.
 */
#ifndef USHER_AUDIT_RECORD_PUT_H
#define USHER_AUDIT_RECORD_PUT_H

#include <string.h>

#include "audit/put.h"
#include "audit/record.h"

#define PUT_HERE static inline __attribute__((always_inline))

/* Where N bytes go, or NULL: they do not fit. */
static inline char *record_room(struct record *r, size_t n)
{
	if (r->broken)
		return NULL;
	if (r->cap < RECORD_TAIL || n > r->cap - RECORD_TAIL - r->len) {
		r->broken = true;
		return NULL;
	}
	char *at = r->buf + r->len;
	r->len += n;
	return at;
}

/* For words: a call of memcpy() takes longer than they do. */
static inline char *put_short(char *at, const char *text, size_t n)
{
	if (n > 16)
		return put_bytes(at, text, n);
	if (n >= 8) {
		put_bytes(at, text, 8);
		put_bytes(at + n - 8, text + n - 8, 8);
	} else if (n >= 4) {
		put_bytes(at, text, 4);
		put_bytes(at + n - 4, text + n - 4, 4);
	} else {
		for (size_t i = 0; i < n; i++)
			at[i] = text[i];
	}
	return at + n;
}

/* What comes before a value, a comma, and the key unless the value goes into a list, and room for MORE bytes: where they go, or NULL. */
PUT_HERE char *record_lead(struct record *r, const char *key, size_t more)
{
	bool comma = !r->first;
	size_t n = key ? strlen(key) : 0;
	char *at = record_room(r, comma + (key ? n + 3 : 0) + more);
	r->first = false;
	if (!at)
		return NULL;
	if (comma)
		*at++ = ',';
	if (!key)
		return at;
	*at++ = '"';
	at = __builtin_constant_p(n) ? put_bytes(at, key, n) : put_short(at, key, n);
	return put_literal(at, "\":");
}

/* record_word() */
PUT_HERE void put_word(struct record *r, const char *key, const char *word)
{
	size_t n = word ? strlen(word) : 0;
	char *at = n ? record_lead(r, key, n + 2) : NULL;
	if (!at)
		return;
	*at++ = '"';
	at = put_short(at, word, n);
	*at = '"';
}

/* record_int() */
PUT_HERE void put_int(struct record *r, const char *key, int64_t value)
{
	char text[24], *p = text;
	if (value < 0)
		*p++ = '-';
	p = put_number(p, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	size_t n = (size_t)(p - text);
	char *at = record_lead(r, key, n);
	if (at)
		put_short(at, text, n);
}

#endif
