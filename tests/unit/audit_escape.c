/* SPDX-License-Identifier: Apache-2.0 */
/* Escaping: any bytes come back, no two look alike, and a JSON reader sees the text that was meant. */
#include <json-c/json.h>

#include "audit/escape.h"
#include "audit_util.h"

#define LEN 24

/* Bytes that lie where the rules of UTF-8 and of our own form change. */
static size_t draw(unsigned *seed, char *out)
{
	static const unsigned char edges[] = { 0x00, 0x09, 0x0a, 0x1b, 0x1f, 0x20, '"', '\\', '/', 'u', 'e', 'f', '8', '0', 0x7e,
					       0x7f, 0x80, 0xbf, 0xbe, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xee, 0xef, 0xf0, 0xf4,
					       0xf5, 0xff, 0xa0, 0x9f, 0xd8, 0xdc };
	size_t n = (size_t)rand_r(seed) % LEN;
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(rand_r(seed) % 4 ? edges[(size_t)rand_r(seed) % sizeof edges] : rand_r(seed));
	return n;
}

static void assert_printable(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_in_range((unsigned char)text[i], 0x20, 0x7e);
}

static void comes_back(void **state)
{
	unsigned seed = 1;
	for (int i = 0; i < 300000; i++) {
		char bytes[LEN], text[LEN * ESCAPE_GROWTH], back[LEN * ESCAPE_GROWTH];
		size_t n = draw(&seed, bytes);
		ssize_t len = escape(text, sizeof text, bytes, n);
		assert_true(len >= 0);
		assert_printable(text, (size_t)len);
		assert_int_equal(unescape(back, text, (size_t)len), n);
		assert_memory_equal(back, bytes, n);
	}
}

/* What json-c reads out of the text: injective for a reader that knows nothing of our form. */
static size_t as_json(const char *text, size_t len, char *out, size_t cap)
{
	char quoted[LEN * ESCAPE_GROWTH + 3];
	quoted[0] = '"';
	memcpy(quoted + 1, text, len);
	memcpy(quoted + 1 + len, "\"", 2);
	struct json_object *o = json_tokener_parse(quoted);
	assert_non_null(o);
	size_t n = (size_t)json_object_get_string_len(o);
	assert_true(n <= cap);
	memcpy(out, json_object_get_string(o), n);
	json_object_put(o);
	return n;
}

static void stays_apart_for_json_readers(void **state)
{
	unsigned seed = 2;
	for (int i = 0; i < 60000; i++) {
		char a[LEN], b[LEN], ta[LEN * ESCAPE_GROWTH], tb[LEN * ESCAPE_GROWTH], ja[LEN * 8], jb[LEN * 8];
		size_t na = draw(&seed, a), nb = na;
		memcpy(b, a, na);
		if (!na)
			continue;
		b[(size_t)rand_r(&seed) % na] ^= (char)(1 << rand_r(&seed) % 8); /* one bit apart */
		size_t la = as_json(ta, (size_t)escape(ta, sizeof ta, a, na), ja, sizeof ja);
		size_t lb = as_json(tb, (size_t)escape(tb, sizeof tb, b, nb), jb, sizeof jb);
		assert_true(la != lb || memcmp(ja, jb, la) != 0);
	}
}

static void text_is_as_meant(void **state)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = {
		{ "/tmp/plain", "/tmp/plain" },
		{ "a\nb\tc\rd", "a\\nb\\tc\\rd" },
		{ "\"\\", "\\\"\\\\" },
		{ "\033[31m", "\\u001b[31m" },
		{ "\x7f", "\\u007f" },
		{ "\xc3\xa4", "\\u00e4" },
		{ "\xe2\x80\xae", "\\u202e" },		  /* right-to-left override */
		{ "\xf0\x9f\x98\x80", "\\ud83d\\ude00" }, /* beyond 16 bits: a pair */
		{ "\xff", "\\uefff" },			  /* no UTF-8 */
		{ "\xc3", "\\uefc3" },			  /* cut short */
		{ "\xc0\xaf", "\\uefc0\\uefaf" },	  /* overlong */
		{ "\xed\xa0\x80", "\\uefed\\uefa0\\uef80" }, /* a surrogate */
		{ "\xee\xbf\xbf", "\\uefee\\uefbf\\uefbf" }, /* U+EFFF itself */
	};
	char text[64];
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ssize_t n = escape(text, sizeof text, rows[i].bytes, strlen(rows[i].bytes));
		assert_int_equal(n, strlen(rows[i].text));
		assert_memory_equal(text, rows[i].text, (size_t)n);
	}
}

static void never_beyond_its_room(void **state)
{
	unsigned seed = 3;
	for (int i = 0; i < 20000; i++) {
		char bytes[LEN], text[LEN * ESCAPE_GROWTH + 1];
		size_t n = draw(&seed, bytes);
		ssize_t full = escape(text, sizeof text, bytes, n);
		for (size_t cap = 0; cap < (size_t)full; cap += 1 + cap / 4) {
			text[cap] = '#';
			assert_int_equal(escape(text, cap, bytes, n), -1);
			assert_int_equal(text[cap], '#');
		}
		assert_int_equal(escape(text, (size_t)full, bytes, n), full);
	}
}

/* Plain bytes are copied in pieces of sixteen and of eight, the last one overlapping: one odd byte among them, in every place. */
static void one_among_plain_ones(void **state)
{
	for (size_t n = 1; n <= 50; n++) {
		for (size_t at = 0; at < n; at++) {
			for (unsigned c = 0; c < 256; c++) {
				char bytes[50], one = (char)c, alone[ESCAPE_GROWTH], want[50 + ESCAPE_GROWTH], text[50 + ESCAPE_GROWTH + 1];
				memset(bytes, '~', sizeof bytes);
				bytes[at] = one;
				ssize_t len = escape(alone, sizeof alone, &one, 1);
				assert_true(len > 0);
				memset(want, '~', sizeof want);
				memcpy(want + at, alone, (size_t)len);
				size_t all = n - 1 + (size_t)len;
				text[all] = '#';
				assert_int_equal(escape(text, all, bytes, n), all);
				assert_memory_equal(text, want, all);
				assert_int_equal(text[all], '#');
				assert_int_equal(escape(text, all - 1, bytes, n), -1);
			}
		}
	}
}

static void bad_text_is_refused(void **state)
{
	static const char *const rows[] = { "\\", "\\u", "\\u12", "\\u12g4", "\\x41", "\\ud800", "\\udc00", "\\ud800\\u0041", "a\nb", "\"", "\x80" };
	char out[64];
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(unescape(out, rows[i], strlen(rows[i])), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),	       cmocka_unit_test(stays_apart_for_json_readers),
		cmocka_unit_test(text_is_as_meant),    cmocka_unit_test(never_beyond_its_room),
		cmocka_unit_test(one_among_plain_ones), cmocka_unit_test(bad_text_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
