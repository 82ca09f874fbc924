/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a terminal, followed through its output in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "policy/screen.h"
#include "supervisor/relay_scan.h"
#include "supervisor/rescue.h"

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

/* What hides a question or keeps its answer away: off before it, and back behind it. */
/* What is printed, or read as a VT52 or a Tektronix reads it, is not shown as it is said. */
#define ANSI SCREEN_AS_EVER

static void what_hides_text_is_taken_back(void **state)
{
	static const struct {
		const char *output, *calm, *restore;
	} rows[] = {
		{ "\033[10;12r", "", "\0337\033[10;12r\0338" },
		{ "\033[;9r", "", "\0337\033[1;9r\0338" },
		{ "\033[10;12r\033[r", "", "" },
		{ "\033[10;12r\033c", "", "" },
		{ "\033[?1;3r", "", "" }, /* restores modes, no margins */
		{ "\033[4h\033[?5;69h", "\033[?5l\033[?69l\033[4l", "\033[?5h\033[?69h\033[4h" },
		{ "\033[?7l", "\033[?7h", "\033[?7l" },
		{ "\033[4h\033[4l", "", "" },
		{ "\033]11;#000000\a", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]4;1;red\033\\", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]0;4;title\a\033P4;x\033\\", "", "" },
		{ "\033[?2026h", "\033[?2026l", "\033[?2026h" },
		/* Not complete, here or for tmux and screen: ended. What takes something back in there may not have. */
		{ "\033[3", "\030\033\\", "" },
		{ "\033]0;ti", "\030\033\\", "" },
		{ "\033Pq", "\030\033\\", "" },
		{ "\033Pq\033[m", "\030\033\\", "" },
		{ "\033Pq\a", "\030\033\\", "" },
		{ "\033kti", "\030\033\\", "" },
		{ "\033Pq\033[m\033\\", "", "" },
		{ "\033[?5h\033Pq\033[?5l\033c\033\\", "\033[?5l", "\033[?5h" },
		{ "\033]11;#000000\a\033Pq\033c\033\\", "\033]104\a\033]110\a\033]111\a", "" },
		/* U+0080 to U+009F are ESC and a letter for some terminals and text for others. */
		{ "\302\233?1003h", "\033[?1003l", "\033[?1003h" },
		{ "\033[?1003h\302\233?1003l", "\033[?1003l", "\033[?1003h" },
		{ "\302\2334h\302\247\303\233", "\033[4l", "\033[4h" },
		{ "\302\23510;#000000\302\234", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\302\220q", "\030\033\\", "" },
		{ "\302\220q\302\234", "", "" },
		{ "\302\220q\302\234\302\233?5h\033[?5l", "", "" },
		{ "\033Pq\302\234", "\030\033\\", "" },
		{ "\033Pq\302\234\302\220\302\234", "\030\033\\", "" },
		{ "\302\2205\033Pq\302\234", "\030\033\\", "" },
		{ "\302\247 \303\220 \342\202\220", "", "" }, /* letters */
		{ "\302", "", "" },
		/* A terminal obeys the controls within a sequence and goes on with it; ESC begins another one anywhere. What has more than modes in it is none of theirs. */
		{ "\033\013[?5h", "\033[?5l", "\033[?5h" },
		{ "\033[?100\0133\177h", "\033[?1003l", "\033[?1003h" },
		{ "\033(\033[?5h", "\033[?5l", "\033[?5h" },
		{ "\033(\033]10;white\a", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033(\013\033Pq", "\030\033\\", "" },
		{ "\033[?5h\033[?5 l", "\033[?5l", "\033[?5h" },
		{ "\033[?5\030h\033(\030[?5h\033\032[?5h", "", "" },
		/* Other words for colours: with noughts before the number, of kitty, of the Linux console. */
		{ "\033]010;#000000\a", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]0000000000004;1;red\a", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]21;foreground=black\a", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]P7000000", "\030\033\\\033]R\033\\", "" },
		{ "\033]0;P4;\a\033]40;1\a\033]100000004;\a", "", "" },
		{ "\033[>9u", "\033[=0;1u", "\033[=9;1u" },
		{ "\033[=1u\033[<u", "", "" },
		{ "\033[>4;2m", "\033[>4;0m", "\033[>4;2m" },
		{ "\033[>4;2m\033[>4m\033[31m", "", "" },
		{ "\033[5i", ANSI, "" },
		{ "\033[?5i\033[31m", ANSI, "" },
		{ "\302\2335i", ANSI, "" },
		{ "\033[?2l\033F", ANSI, "" },
		{ "\033[?25;02l", ANSI "\033[?25h", "\033[?25l" },
		{ "\033[?38h", ANSI, "" },
		{ "\033[?2s\033[?2r", ANSI, "" },
		{ "\033[?2l\033c", ANSI, "" },
		{ "\033[?2h\033[?38l\033[2l\033[38h", "", "" },
		{ "\033[?00000000000000000000000000000000000000000000002l", ANSI, "" },
		{ "\033[?2l\033]11;#000000\a", ANSI "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033[?2l\033]11;#000000\a\033c", ANSI "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]11;#000000\a\033c", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033[#Q", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]10;?;white\a", "\033]104\a\033]110\a\033]111\a", "" },
		{ "\033]10;?\a\033]11;?\033\\white\033]0;white\a", "", "" },
		{ "\033]30101\033\\", "\033]104\a\033]110\a\033]111\a", "" },
	};
	char calm[256], back[256];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scan s = { 0 };
		feed(&s, rows[i].output, 1);
		calm[scan_calm(&s, calm, sizeof(calm))] = '\0';
		back[scan_restore(&s, back, sizeof(back))] = '\0';
		assert_string_equal(calm, rows[i].calm);
		assert_string_equal(back, rows[i].restore);
	}
}

/* What a program that was killed has left behind. */
static void what_is_left_is_taken_back(void **state)
{
	static const struct {
		const char *output, *leave;
	} rows[] = {
		{ "plain text\r\n", "" },
		{ "\033[?1049h\033[?25l\033=\033[31mtext\033[m\033>\033[?25h\033[?1049l", "" },
		{ "\033[?1049h\033[?1000;1006h\033[?25l", "\033[?25h\033[?1000l\033[?1006l\033[?1049l\033[0m" },
		{ "\033=\033[?1h\033[2 q\033[1;31m\033(0", "\033[?1l\033>\033[0 q\033(B\017\033[0m" },
		{ "\033=\033>\033[2 q\033[0 q\033[1;31m\033[00;m\033(0\033(B", "" },
		{ "\033[2;9r", "\0337\033[r\0338" },
		{ "\033[?1049h\033[2;9r", "\033[r\033[?1049l\033[0m" },
		{ "\033[>4;2m", "\033[>4;0m" },
		{ "\033[?2031h\033[?2048h\033[?2026h", "\033[?2026l\033[?2031l\033[?2048l" },
		/* Each screen has a stack of its own, on which somebody else's may lie. */
		{ "\033[>1u\033[?1049h\033[>5u\033[>7u\033[<u", "\033[<1u\033[?1049l\033[<1u\033[0m" },
		{ "\033[>1u\033[>5u\033[<9u\033[<u", "" },
		{ "\033[=1u", "\033[=0;1u" },
		{ "\033[?1049h\033]0;ti", "\030\033\\\033[?1049l\033[0m" },
	};
	char leave[256], all[2048];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scan s = { 0 };
		feed(&s, rows[i].output, 1);
		leave[scan_leave(&s, leave, sizeof(leave))] = '\0';
		assert_string_equal(leave, rows[i].leave);
	}
	/* All of it at once fits into what usher keeps for it. */
	struct scan s = { 0 };
	for (int n = 0; n < 3000; n++) {
		snprintf(all, sizeof(all), "\033[?%d%c", n, n == 25 || n == 7 ? 'l' : 'h');
		feed(&s, all, 64);
	}
	feed(&s, "\033[4h\033[1111;2222r\033[>31u\033[>4;2m\033=\033[2 q\033[1m\033(0\033]4;1;red\a\033]P7000000", 64);
	size_t len = scan_leave(&s, all, RESCUE_LEAVE);
	assert_true(len < RESCUE_LEAVE - 32);
	assert_memory_equal(all + len - 4, "\033[0m", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_screen_is_seen),
		cmocka_unit_test(gaps_are_known),
		cmocka_unit_test(what_hides_text_is_taken_back),
		cmocka_unit_test(modes_are_put_back),
		cmocka_unit_test(what_is_left_is_taken_back),
		cmocka_unit_test(hostile_output_is_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
