/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a terminal, followed through its output in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "supervisor/relay_scan.h"

static void feed(struct scan *s, const char *text, size_t piece)
{
	size_t len = strlen(text);
	for (size_t at = 0; at < len; at += piece)
		scan_output(s, text + at, len - at < piece ? len - at : piece);
}

static void full_screen_is_seen(void **state)
{
	static const struct {
		const char *output;
		bool full;
	} rows[] = {
		{ "plain text\r\n", false },
		{ "\033[?1049h", true },
		{ "\033[?1049h\033[?1049l", false },
		{ "\033[?25;1049h", true },
		{ "\033[?47h", true },
		{ "\033[1049h", false },                   /* not a private mode */
		{ "\033]0;\033[?1049h\a", true },          /* an escape ends a title that was not closed */
		{ "\033]0;title [?1049h\a", false },
		{ "\033P+q\033\\\033[?1049h", true },
		{ "\033[?1049h\033c", false },             /* a full reset */
		{ "\033(B\033[?1049h", true },
		{ "\033[38;5;12m\033[?1049h", true },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t piece = 1; piece <= 16; piece *= 4) {
			struct scan s = { 0 };
			feed(&s, rows[i].output, piece);
			assert_int_equal(scan_full_screen(&s), rows[i].full);
		}
	}
}

static void gaps_are_known(void **state)
{
	static const struct {
		const char *output;
		bool between;
	} rows[] = {
		{ "", true },           { "text", true },         { "\033", false },      { "\033[", false },   { "\033[3", false },
		{ "\033[31m", true },   { "\033]0;ti", false },   { "\033]0;t\a", true }, { "\033(", false },   { "\033(B", true },
		{ "\0337", true },      { "\033]0;t\033\\", true }, { "\033[3\030", true }, { "\033[3\033", false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scan s = { 0 };
		feed(&s, rows[i].output, 1);
		assert_int_equal(scan_between(&s), rows[i].between);
	}
}

static void modes_are_put_back(void **state)
{
	struct scan s = { 0 };
	char calm[256], back[256];
	assert_int_equal(scan_calm(&s, calm, sizeof(calm)), 0);
	feed(&s, "\033[?1000h\033[?2004h\033[?25l\033[?1006h", 3);
	calm[scan_calm(&s, calm, sizeof(calm))] = '\0';
	back[scan_restore(&s, back, sizeof(back))] = '\0';
	assert_string_equal(calm, "\033[?25h\033[?1000l\033[?2004l");
	assert_string_equal(back, "\033[?25l\033[?1000h\033[?2004h");
	feed(&s, "\033[?25h\033[?1000;2004l", 2);
	assert_int_equal(scan_calm(&s, calm, sizeof(calm)), 0);
}

static void hostile_output_is_harmless(void **state)
{
	struct scan s = { 0 };
	char text[4096];
	memset(text, '9', sizeof(text));
	memcpy(text, "\033[?", 3);
	for (int i = 0; i < 1000; i++)
		scan_output(&s, text, sizeof(text));
	feed(&s, "h\033[?;;;;99999999999999999999;1049h", 64);
	assert_true(s.len < sizeof(s.csi));
	assert_true(scan_full_screen(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_screen_is_seen),
		cmocka_unit_test(gaps_are_known),
		cmocka_unit_test(modes_are_put_back),
		cmocka_unit_test(hostile_output_is_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
