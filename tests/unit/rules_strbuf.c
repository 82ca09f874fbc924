/* SPDX-License-Identifier: Apache-2.0 */
/* A text in memory: whole or not at all. tests/faults lets its allocations fail for real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/strbuf.h"

static void grows(void **state)
{
	struct strbuf b = { 0 };
	char *text = NULL;
	size_t len = 0;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		strbuf_puts(&b, "ab");
		strbuf_add(&b, "cde", 2);
		strbuf_add(&b, NULL, 0);
		strbuf_printf(&b, "%04u", i);
	}
	assert_int_equal(strbuf_end(&b, &text, &len), 0);
	assert_int_equal(len, 80000);
	assert_int_equal(strlen(text), len);
	assert_memory_equal(text, "abcd0000abcd0001", 16);
	assert_string_equal(text + len - 8, "abcd9999");
	free(text);
}

static void empty(void **state)
{
	struct strbuf b = { 0 };
	char *text = NULL;

	(void)state;
	assert_int_equal(strbuf_end(&b, &text, NULL), 0);
	assert_string_equal(text, "");
	free(text);
}

/* What does not fit into memory in the middle voids the whole, whatever comes after. */
static void a_missing_piece(void **state)
{
	volatile size_t too_much = SIZE_MAX - 1;
	struct strbuf b = { 0 };
	char *text = (char *)"before";

	(void)state;
	strbuf_puts(&b, "deny write /a");
	strbuf_add(&b, "/**", too_much);
	strbuf_puts(&b, "\n");
	strbuf_printf(&b, "%d", 1);
	assert_int_equal(strbuf_end(&b, &text, NULL), -ENOMEM);
	assert_string_equal(text, "before");
	strbuf_puts(&b, "anew");
	assert_int_equal(strbuf_end(&b, &text, NULL), 0);
	assert_string_equal(text, "anew");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(empty),
		cmocka_unit_test(a_missing_piece),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
