/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as the inside of a JSON string, and back: see escape.h for the form and its promise. */
#include "audit/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rules/hex.h"

#define RAW_BASE 0xef00u /* U+EF00 + byte stands for a byte that is not UTF-8 */

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

static bool is_raw(uint32_t cp)
{
	return cp >= RAW_BASE + 0x80 && cp <= RAW_BASE + 0xff;
}

/* The character at S in valid UTF-8 (no overlong form, no surrogate): its length with *cp set, else 0. */
static size_t utf8_read(const unsigned char *s, size_t n, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n < len)
		return 0;
	uint32_t c = s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (!is_tail(s[i]))
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || is_raw(c))
		return 0;
	*cp = c;
	return len;
}

static char *put_unit(char *out, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";
	out[0] = '\\';
	out[1] = 'u';
	for (int i = 0; i < 4; i++)
		out[2 + i] = hex[unit >> (12 - 4 * i) & 0xf];
	return out + 6;
}

static char *put_character(char *out, uint32_t cp)
{
	if (cp < 0x10000)
		return put_unit(out, cp);
	cp -= 0x10000;
	return put_unit(put_unit(out, 0xd800 | cp >> 10), 0xdc00 | (cp & 0x3ff));
}

static char *put_ascii(char *out, unsigned char c)
{
	char letter = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : c == '"' ? '"' : c == '\\' ? '\\' : 0;
	if (!letter)
		return put_unit(out, c);
	out[0] = '\\';
	out[1] = letter;
	return out + 2;
}

/* What stands for the byte or character at S, into ONE: its length; *used bytes were taken. */
static size_t escape_one(char one[2 * ESCAPE_GROWTH], const unsigned char *s, size_t n, size_t *used)
{
	uint32_t cp;
	*used = 1;
	if (s[0] < 0x80)
		return (size_t)(put_ascii(one, s[0]) - one);
	size_t len = utf8_read(s, n, &cp);
	if (!len)
		return (size_t)(put_unit(one, RAW_BASE + s[0]) - one);
	*used = len;
	return (size_t)(put_character(one, cp) - one);
}

#define EACH_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

/* Whether some byte of WORD is below N (at most 128), for bytes below 128. */
static uint64_t some_below(uint64_t word, unsigned n)
{
	return (word - EACH_BYTE(n)) & ~word;
}

/* Whether none of eight bytes needs an escape. May say no too often. */
static bool eight_plain(uint64_t word)
{
	uint64_t odd = word | some_below(word, 0x20) | some_below(word ^ EACH_BYTE('"'), 1) |
		       some_below(word ^ EACH_BYTE('\\'), 1) | some_below(word ^ EACH_BYTE(0x7f), 1);
	return !(odd & EACH_BYTE(0x80));
}

#define PIECE 16
typedef unsigned char piece __attribute__((vector_size(PIECE)));

/* Copies sixteen bytes when none of them needs an escape. */
static bool copy_sixteen(char *out, const unsigned char *s)
{
	piece v;
	uint64_t odd[2];
	memcpy(&v, s, sizeof v);
	piece needs = (piece)(v < 0x20) | (piece)(v > 0x7e) | (piece)(v == '"') | (piece)(v == '\\');
	memcpy(odd, &needs, sizeof odd);
	if (odd[0] | odd[1])
		return false;
	memcpy(out, &v, sizeof v);
	return true;
}

/* The same with eight. */
static bool copy_eight(char *out, const unsigned char *s)
{
	uint64_t word;
	memcpy(&word, s, sizeof word);
	if (!eight_plain(word))
		return false;
	memcpy(out, &word, sizeof word);
	return true;
}

/* Copies what needs no escape from the front of S; returns how many bytes. The last piece overlaps the one before it. */
static size_t copy_plain(char *out, const unsigned char *s, size_t n)
{
	size_t i = 0;
	while (n - i >= PIECE && copy_sixteen(out + i, s + i))
		i += PIECE;
	if (n - i < PIECE && n >= PIECE && copy_sixteen(out + n - PIECE, s + n - PIECE))
		return n;
	while (n - i >= sizeof(uint64_t) && copy_eight(out + i, s + i))
		i += sizeof(uint64_t);
	if (n - i < sizeof(uint64_t) && n >= sizeof(uint64_t) && copy_eight(out + n - sizeof(uint64_t), s + n - sizeof(uint64_t)))
		return n;
	for (; i < n && is_plain(s[i]); i++)
		out[i] = (char)s[i];
	return i;
}

ssize_t escape(char *out, size_t cap, const char *bytes, size_t n)
{
	const unsigned char *s = (const unsigned char *)bytes;
	size_t o = 0, i = 0;
	while (i < n) {
		size_t fit = n - i < cap - o ? n - i : cap - o;
		size_t plain = copy_plain(out + o, s + i, fit);
		o += plain;
		i += plain;
		if (i == n)
			break;
		if (is_plain(s[i])) /* it would fit no more */
			return -1;
		char one[2 * ESCAPE_GROWTH];
		size_t used, len = escape_one(one, s + i, n - i, &used);
		if (len > cap - o)
			return -1;
		memcpy(out + o, one, len);
		o += len;
		i += used;
	}
	return (ssize_t)o;
}

/* The four digits of \uXXXX at S, or -1. */
static int32_t read_unit(const char *s, size_t n)
{
	if (n < 6 || s[0] != '\\' || s[1] != 'u')
		return -1;
	int32_t unit = 0;
	for (int i = 2; i < 6; i++) {
		int d = hex_digit(s[i]);
		if (d < 0)
			return -1;
		unit = unit << 4 | d;
	}
	return unit;
}

static char *put_utf8(char *out, uint32_t cp)
{
	if (is_raw(cp)) {
		*out++ = (char)(cp & 0xff);
	} else if (cp < 0x80) {
		*out++ = (char)cp;
	} else if (cp < 0x800) {
		*out++ = (char)(0xc0 | cp >> 6);
		*out++ = (char)(0x80 | (cp & 0x3f));
	} else if (cp < 0x10000) {
		*out++ = (char)(0xe0 | cp >> 12);
		*out++ = (char)(0x80 | (cp >> 6 & 0x3f));
		*out++ = (char)(0x80 | (cp & 0x3f));
	} else {
		*out++ = (char)(0xf0 | cp >> 18);
		*out++ = (char)(0x80 | (cp >> 12 & 0x3f));
		*out++ = (char)(0x80 | (cp >> 6 & 0x3f));
		*out++ = (char)(0x80 | (cp & 0x3f));
	}
	return out;
}

/* One \u escape (two for a pair) at S: the characters read, 0 when invalid. */
static size_t read_character(const char *s, size_t n, uint32_t *cp)
{
	int32_t unit = read_unit(s, n);
	if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff))
		return 0;
	if (unit < 0xd800 || unit > 0xdbff) {
		*cp = (uint32_t)unit;
		return 6;
	}
	int32_t low = n > 6 ? read_unit(s + 6, n - 6) : -1;
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	*cp = 0x10000 + (((uint32_t)unit & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
	return 12;
}

ssize_t unescape(char *out, const char *text, size_t n)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char *o = out;
	for (size_t i = 0; i < n;) {
		if (is_plain((unsigned char)text[i])) {
			*o++ = text[i++];
			continue;
		}
		if (text[i] != '\\' || n - i < 2)
			return -1;
		if (text[i + 1] == 'u') {
			uint32_t cp;
			size_t len = read_character(text + i, n - i, &cp);
			if (!len)
				return -1;
			o = put_utf8(o, cp);
			i += len;
			continue;
		}
		const char *which = memchr(from, text[i + 1], sizeof from - 1);
		if (!which)
			return -1;
		*o++ = to[which - from];
		i += 2;
	}
	return o - out;
}
