/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a record's text: the strict JSON that record.h writes (printable ASCII, no blanks between tokens). Works in
 * place, without memory of its own; safe on any bytes.
 */
#ifndef USHER_AUDIT_FIELD_H
#define USHER_AUDIT_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind { FIELD_NONE = 0, FIELD_STRING, FIELD_NUMBER, FIELD_WORD, FIELD_LIST, FIELD_OBJECT };

struct field {
	const char *key; /* as written, not terminated; NULL in a list */
	size_t key_len;
	enum field_kind kind;
	const char *value; /* a string without its quotes, still escaped; a list or object with its brackets */
	size_t len;
};

/* Walks over the members of an object or the items of a list. */
struct fields {
	const char *at;
	const char *end;
	bool object;
	bool first;
	bool bad; /* the text was not well formed */
};

/* TEXT is a whole object or list. */
void fields_begin(struct fields *f, const char *text, size_t len);
/* The next one, or false at the end (then see bad). What is nested is checked as it is passed over. */
bool fields_next(struct fields *f, struct field *out);

/* The member KEY of the object TEXT. */
bool field_find(const char *text, size_t len, const char *key, struct field *out);

bool field_key(const struct field *f, const char *key);
bool field_is(const struct field *f, const char *text);
bool field_number(const struct field *f, int64_t *out);
/* The bytes of a string, unescaped, into OUT (at least f->len bytes): their number, or -1. */
long field_bytes(const struct field *f, char *out);

/* Whether TEXT is one well-formed object from end to end. */
bool field_valid(const char *text, size_t len);

#endif
