/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a record's text. MUST: never reads at or behind its end, whatever the bytes; recursion is bounded.
 */
#include "audit/field.h"

#include <string.h>

#include "audit/escape.h"

#define DEPTH_MAX 16

static const char *skip_value(const char *p, const char *end, unsigned depth, enum field_kind *kind);

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether one of eight bytes is a quote, a backslash, or not printable: each sets the highest bit of its byte, or of one above it. */
static bool is_special(uint64_t eight)
{
	uint64_t quote = eight ^ EACH('"'), backslash = eight ^ EACH('\\'), del = eight ^ EACH(0x7f);
	return ((quote - EACH(1)) | (backslash - EACH(1)) | (del - EACH(1)) | (eight - EACH(0x20)) | eight) & EACH(0x80);
}

/* Passes over bytes that stand for themselves, eight at a time; those that are left over are for the caller. */
static const char *skip_plain(const char *p, const char *end)
{
	uint64_t eight;
	for (; end - p >= (ptrdiff_t)sizeof eight; p += sizeof eight) {
		memcpy(&eight, p, sizeof eight);
		if (is_special(eight))
			break;
	}
	return p;
}

/* The last byte of the escape whose backslash stands at P, or NULL: what no JSON reader takes is no record. */
static const char *skip_escape(const char *p, const char *end)
{
	if (++p == end || !*p || !strchr("\"\\/bfnrtu", *p))
		return NULL;
	if (*p != 'u')
		return p;
	for (unsigned i = 0; i < 4; i++)
		if (++p == end || !*p || !strchr("0123456789abcdefABCDEF", *p))
			return NULL;
	return p;
}

/* Behind the closing quote of the string that begins at P, or NULL. */
static const char *skip_string(const char *p, const char *end)
{
	if (p == end || *p != '"')
		return NULL;
	for (p = skip_plain(p + 1, end); p < end && *p != '"'; p = skip_plain(p + 1, end)) {
		if (*p < 0x20 || *p > 0x7e)
			return NULL;
		if (*p == '\\' && !(p = skip_escape(p, end)))
			return NULL;
	}
	return p < end ? p + 1 : NULL;
}

static const char *skip_number(const char *p, const char *end)
{
	if (p < end && *p == '-')
		p++;
	const char *from = p;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > from && (*from != '0' || p == from + 1) ? p : NULL;
}

static const char *skip_word(const char *p, const char *end)
{
	static const char *const words[] = { "true", "false", "null" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(end - p) >= n && !memcmp(p, words[i], n))
			return p + n;
	}
	return NULL;
}

static const char *skip_members(const char *p, const char *end, unsigned depth)
{
	bool object = *p == '{';
	char close = object ? '}' : ']';
	enum field_kind kind;
	p++;
	if (p < end && *p == close)
		return p + 1;
	while (p) {
		if (object) {
			p = skip_string(p, end);
			if (!p || p == end || *p++ != ':')
				return NULL;
		}
		p = skip_value(p, end, depth + 1, &kind);
		if (!p || p == end)
			return NULL;
		if (*p == close)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
	return NULL;
}

static const char *skip_value(const char *p, const char *end, unsigned depth, enum field_kind *kind)
{
	if (p == end || depth > DEPTH_MAX)
		return NULL;
	switch (*p) {
	case '"':
		*kind = FIELD_STRING;
		return skip_string(p, end);
	case '{':
		*kind = FIELD_OBJECT;
		return skip_members(p, end, depth);
	case '[':
		*kind = FIELD_LIST;
		return skip_members(p, end, depth);
	case 't':
	case 'f':
	case 'n':
		*kind = FIELD_WORD;
		return skip_word(p, end);
	default:
		*kind = FIELD_NUMBER;
		return skip_number(p, end);
	}
}

void fields_begin(struct fields *f, const char *text, size_t len)
{
	*f = (struct fields){ .at = text, .end = text + len, .first = true };
	if (len < 2 || !((text[0] == '{' && text[len - 1] == '}') || (text[0] == '[' && text[len - 1] == ']'))) {
		f->bad = true;
		return;
	}
	f->object = text[0] == '{';
	f->at++;
	f->end--;
}

static bool fail(struct fields *f)
{
	f->bad = true;
	return false;
}

bool fields_next(struct fields *f, struct field *out)
{
	const char *p = f->at, *end = f->end;
	if (f->bad || (f->first && p == end))
		return false;
	if (!f->first) {
		if (p == end)
			return false;
		if (*p++ != ',')
			return fail(f);
	}
	*out = (struct field){ 0 };
	if (f->object) {
		const char *key = p;
		p = skip_string(p, end);
		if (!p || p == end || *p != ':')
			return fail(f);
		out->key = key + 1;
		out->key_len = (size_t)(p - key) - 2;
		p++;
	}
	const char *value = p;
	p = skip_value(p, end, 1, &out->kind);
	if (!p)
		return fail(f);
	bool string = out->kind == FIELD_STRING;
	out->value = value + string;
	out->len = (size_t)(p - value) - (string ? 2 : 0);
	f->first = false;
	f->at = p;
	return true;
}

bool field_find(const char *text, size_t len, const char *key, struct field *out)
{
	struct fields f;
	fields_begin(&f, text, len);
	while (fields_next(&f, out))
		if (field_key(out, key))
			return true;
	*out = (struct field){ 0 };
	return false;
}

bool field_key(const struct field *f, const char *key)
{
	return f->key && strlen(key) == f->key_len && !memcmp(f->key, key, f->key_len);
}

bool field_is(const struct field *f, const char *text)
{
	return f->kind != FIELD_NONE && strlen(text) == f->len && !memcmp(f->value, text, f->len);
}

bool field_number(const struct field *f, int64_t *out)
{
	if (f->kind != FIELD_NUMBER || f->len > 19)
		return false;
	bool minus = f->value[0] == '-';
	uint64_t v = 0;
	for (size_t i = minus; i < f->len; i++)
		v = v * 10 + (uint64_t)(f->value[i] - '0');
	if (v > INT64_MAX)
		return false;
	*out = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

long field_bytes(const struct field *f, char *out)
{
	return f->kind == FIELD_STRING ? unescape(out, f->value, f->len) : -1;
}

bool field_valid(const char *text, size_t len)
{
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one))
		;
	return !f.bad && f.object;
}
