/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/show.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules/endpoint_text.h"

void text_start(struct text_buffer *t, char *buf, size_t cap)
{
	*t = (struct text_buffer){ .buf = buf, .cap = cap };
	buf[0] = '\0';
}

void text_add(struct text_buffer *t, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(t->buf + t->len, t->cap - t->len, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	t->len += (size_t)n;
	if (t->len >= t->cap)
		t->len = t->cap - 1;
}

enum blanks { BLANKS_PLAIN, BLANKS_ESCAPED };

/* One byte as at most four characters, not terminated. */
static size_t escape_byte(unsigned char c, enum blanks blanks, char out[4])
{
	static const char hex[] = "0123456789abcdef";
	if (c == '\\' || c == '\n' || c == '\t') {
		out[0] = '\\';
		out[1] = c == '\\' ? '\\' : c == '\n' ? 'n' : 't';
		return 2;
	}
	if ((c > 0x20 || (c == 0x20 && blanks == BLANKS_PLAIN)) && c < 0x7f) {
		out[0] = (char)c;
		return 1;
	}
	out[0] = '\\';
	out[1] = 'x';
	out[2] = hex[c >> 4];
	out[3] = hex[c & 15];
	return 4;
}

/* A blank at the end is escaped in any case: nobody would see it. */
static size_t escape_span(struct span in, enum blanks blanks, char *out, size_t cap)
{
	size_t need = 0, used = 0;
	bool full = cap == 0;
	for (uint32_t i = 0; i < in.len; i++) {
		char one[4];
		size_t n = escape_byte((unsigned char)in.bytes[i], i == in.len - 1 ? BLANKS_ESCAPED : blanks, one);
		need += n;
		full = full || used + n >= cap; /* whole escapes only */
		if (full)
			continue;
		memcpy(out + used, one, n);
		used += n;
	}
	if (cap > 0)
		out[used] = '\0';
	return need;
}

size_t show_escape(struct span in, char *out, size_t cap)
{
	return escape_span(in, BLANKS_PLAIN, out, cap);
}

static void add_bytes(struct text_buffer *t, struct span v, enum blanks blanks)
{
	escape_span(v, blanks, t->buf + t->len, t->cap - t->len);
	t->len += strlen(t->buf + t->len);
}

/* The largest part of V, from its start or its end, that takes at most MOST characters. */
static struct span part(struct span v, size_t most, enum blanks blanks, bool from_end)
{
	size_t used = 0;
	uint32_t n = 0;
	while (n < v.len) {
		char one[4];
		used += escape_byte((unsigned char)v.bytes[from_end ? v.len - 1 - n : n], blanks, one);
		if (used > most)
			break;
		n++;
	}
	return (struct span){ from_end ? v.bytes + (v.len - n) : v.bytes, n };
}

static void show(struct text_buffer *t, struct span v, size_t most, enum blanks blanks)
{
	if (!v.bytes)
		return;
	if (most == 0 || escape_span(v, blanks, NULL, 0) <= most) {
		add_bytes(t, v, blanks);
		return;
	}
	uint8_t hash[16];
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)v.bytes, v.len, NULL, 0);
	add_bytes(t, part(v, most / 2, blanks, false), blanks);
	text_add(t, " [...%u bytes, hash %02x%02x%02x%02x%02x%02x%02x%02x...] ", v.len, hash[0], hash[1], hash[2],
		 hash[3], hash[4], hash[5], hash[6], hash[7]);
	add_bytes(t, part(v, most / 2, blanks, true), blanks);
}

void text_show(struct text_buffer *t, struct span v, size_t most)
{
	show(t, v, most, BLANKS_PLAIN);
}

void text_word(struct text_buffer *t, struct span v, size_t most)
{
	show(t, v, most, BLANKS_ESCAPED);
}

void text_ops(struct text_buffer *t, op_set ops)
{
	const char *sep = "";
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (!(ops & (1u << bit)))
			continue;
		text_add(t, "%s%s", sep, op_name(bit));
		sep = "+";
	}
}

static void text_inet(struct text_buffer *t, const struct inet_endpoint *e)
{
	char text[ENDPOINT_TEXT_MAX];
	endpoint_text(e, text);
	text_add(t, "%s", text);
}

static void object(struct text_buffer *t, const struct object *o, size_t most, enum blanks blanks)
{
	switch (o->kind) {
	case OBJECT_INET:
		text_inet(t, &o->inet);
		return;
	case OBJECT_UNIX:
		text_add(t, "unix:");
		break;
	case OBJECT_ABSTRACT:
		text_add(t, "unix:@");
		break;
	case OBJECT_NONE:
	case OBJECT_FILE:
	case OBJECT_MEMFD:
	case OBJECT_SOCKET:
		break;
	}
	show(t, o->name, most, blanks);
}

void text_object(struct text_buffer *t, const struct object *o, size_t most)
{
	object(t, o, most, BLANKS_PLAIN);
}

void text_object_word(struct text_buffer *t, const struct object *o, size_t most)
{
	object(t, o, most, BLANKS_ESCAPED);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape behind a backslash. Returns the characters used, 0 when it is none. */
static size_t unescape_one(const char *p, char *out)
{
	if (*p == '\\' || *p == 'n' || *p == 't') {
		*out = *p == 'n' ? '\n' : *p == 't' ? '\t' : '\\';
		return 1;
	}
	if (*p != 'x' || hex_digit(p[1]) < 0 || hex_digit(p[2]) < 0)
		return 0;
	*out = (char)(hex_digit(p[1]) * 16 + hex_digit(p[2]));
	return 3;
}

long show_unescape(const char *text, char *out, size_t cap)
{
	size_t n = 0;
	while (*text) {
		if (n == cap || (unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
			return -1;
		if (*text != '\\') {
			out[n++] = *text++;
			continue;
		}
		size_t used = unescape_one(text + 1, &out[n++]);
		if (!used)
			return -1;
		text += used + 1;
	}
	return (long)n;
}

/* The byte that the escape at the end of TEXT stands for, or 0 where none is that of a byte beyond ASCII. */
static unsigned last_byte(const char *text, size_t len)
{
	size_t slashes = 0;
	unsigned byte;

	while (len >= 4 + slashes && text[len - 4 - slashes] == '\\')
		slashes++;
	if (slashes % 2 == 0 || text[len - 3] != 'x' || sscanf(text + len - 2, "%2x", &byte) != 1)
		return 0; /* two backslashes are one that is meant */
	return byte >= 0x80 ? byte : 0;
}

#define LETTER_MOST 4 /* bytes of UTF-8 */

void show_erase(char *text)
{
	size_t len = strlen(text);

	if (!len)
		return;
	if (!last_byte(text, len)) {
		text[len - 1] = '\0';
		return;
	}
	for (int n = 0; n < LETTER_MOST && last_byte(text, len); n++) {
		bool goes_on = last_byte(text, len) < 0xc0;
		len -= 4;
		if (!goes_on)
			break;
	}
	text[len] = '\0';
}

void show_clean(char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			*s = '?';
	}
}
