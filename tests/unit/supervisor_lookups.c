/* SPDX-License-Identifier: Apache-2.0 */
/* Queries for names: what is taken for one, how it is shown, what is kept of many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/image.h"
#include "supervisor/lookups.h"
#include "supervisor/procs_internal.h"

#define HEAD "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
#define TAIL "\x00\x00\x01\x00\x01"
#define BYTES(s) (s), sizeof(s) - 1

static void is(const char *packet, size_t size, const char *want)
{
	char *exact = malloc(size ? size : 1), text[256];
	const uint8_t *name;
	size_t len;

	memcpy(exact, packet, size);
	bool query = lookup_query(exact, size, &name, &len);
	assert_int_equal(query, want != NULL);
	if (query) {
		assert_int_equal(lookup_show(name, len, text, sizeof(text)), strlen(want));
		assert_string_equal(text, want);
	}
	free(exact);
}

static void queries(void **state)
{
	is(BYTES(HEAD "\7example\3org" TAIL), "example.org");
	is(BYTES(HEAD "\7example\3org\0\0\x1c\0\1"), "example.org");
	is(BYTES(HEAD "\1a" TAIL), "a");
	is(BYTES(HEAD "\3_dm\5a-B.c" TAIL), "_dm.a-B\\046c");
	is(BYTES(HEAD "\4\x1b[2J\3\n\xff " TAIL), "\\027\\0912J.\\010\\255\\032");
	/* the additional record that EDNS puts behind */
	is(BYTES("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\1a" TAIL "\0\0\x29\x10\0\0\0\0\0\0\0"), "a");
}

static void others(void **state)
{
	is(BYTES(""), NULL);
	is(BYTES(HEAD), NULL);
	is(BYTES(HEAD TAIL), NULL);
	is(BYTES(HEAD "\7example\3org\0"), NULL);
	is(BYTES(HEAD "\7example\3org"), NULL);
	is(BYTES(HEAD "\x40" "example\3org" TAIL), NULL);
	is(BYTES(HEAD "\1a\xc0\x0c" TAIL), NULL);
	is(BYTES("\x12\x34\x81\x00\x00\x01\x00\x00\x00\x00\x00\x00\1a" TAIL), NULL);
	is(BYTES("\x12\x34\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00\1a" TAIL), NULL);
	is(BYTES("\x12\x34\x01\x00\x00\x01\x00\x01\x00\x00\x00\x00\1a" TAIL), NULL);
}

/* Four labels of 63 and one more byte than a name may have. */
static void long_names(void **state)
{
	char packet[12 + 300] = HEAD, text[256];
	const uint8_t *name;
	size_t len;

	memset(packet + 12, 'x', 254);
	for (int i = 0; i < 4; i++)
		packet[12 + 64 * i] = i < 3 ? 63 : 61;
	assert_true(lookup_query(packet, 12 + 255 + 4, &name, &len));
	assert_int_equal(len, 255);
	assert_int_equal(lookup_show(name, len, text, sizeof(text)), 253);
	assert_int_equal(lookup_show(name, len, text, 10), 9);
	packet[12 + 64 * 3] = 62;
	packet[12 + 254] = 'x';
	assert_false(lookup_query(packet, 12 + 256 + 4, &name, &len));
}

static void note(struct proc *p, char letter)
{
	char packet[] = HEAD "\1x\3org" TAIL;

	packet[13] = letter;
	lookups_note(p, packet, sizeof(packet) - 1);
}

static void kept(void **state)
{
	struct proc p = { .pid = 1 };
	char text[LOOKUP_TEXT];

	assert_int_equal(lookups_text(&p, text), 0);
	lookups_note(&p, "nothing", 7);
	assert_null(atomic_load(&p.lookups));
	note(&p, 'a');
	note(&p, 'A'); /* the same name, for the other kind of address */
	assert_true(lookups_text(&p, text) < sizeof(text));
	assert_non_null(strstr(text, "A.org 0 s ago (as the program"));
	for (char c = 'b'; c <= 'z'; c++)
		note(&p, c);
	assert_true(lookups_text(&p, text) < sizeof(text));
	assert_int_equal(strncmp(text, "z.org", 5), 0);
	assert_non_null(strstr(text, "w.org"));
	assert_null(strstr(text, "v.org"));
	lookups_free(atomic_load(&p.lookups));
}

static void long_text(void **state)
{
	struct proc p = { .pid = 1 };
	char packet[12 + 300] = HEAD, text[LOOKUP_TEXT];

	for (int n = 0; n < 8; n++) {
		memset(packet + 12, 1 + n, 254); /* each byte is shown as four */
		for (int i = 0; i < 4; i++)
			packet[12 + 64 * i] = i < 3 ? 63 : 61;
		lookups_note(&p, packet, 12 + 255 + 4);
	}
	size_t len = lookups_text(&p, text);
	assert_true(len > 0 && len < sizeof(text));
	for (size_t i = 0; i < len; i++)
		assert_in_range(text[i], 0x20, 0x7e);
	lookups_free(atomic_load(&p.lookups));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries),
		cmocka_unit_test(others),
		cmocka_unit_test(long_names),
		cmocka_unit_test(kept),
		cmocka_unit_test(long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
