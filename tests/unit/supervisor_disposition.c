/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/disposition.h"
#include "supervisor/kernel.h"

/* Numbers that the kernel's table leaves out. */
static int is_hole(int nr)
{
#ifdef __x86_64__
	return nr >= 337 && nr <= 423;
#else
	return (nr >= 244 && nr <= 259) || (nr >= 295 && nr <= 423);
#endif
}

static void every_number_has_an_entry(void **state)
{
	for (int nr = 0; nr <= __NR_file_setattr; nr++) {
		int unknown = disposition_of(nr)->kind == CALL_UNKNOWN;

		if (unknown != is_hole(nr))
			print_error("call %d %s\n", nr, unknown ? "has no entry" : "is a hole with an entry");
		assert_int_equal(unknown, is_hole(nr));
	}
	assert_int_equal(disposition_end(), __NR_file_setattr + 1);
}

/* The header that the kernel's own numbers come from: a newer one fails here until the table knows its calls. */
static void every_number_of_the_header_has_an_entry(void **state)
{
	FILE *f = popen("echo '#include <asm/unistd.h>' | ${CC:-cc} -E -dM - 2>/dev/null", "r");
	char line[256], name[128];
	int nr, seen = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "#define __NR_%127s %d", name, &nr) != 2)
			continue;
		seen++;
		if (strcmp(disposition_of(nr)->name, name) != 0)
			print_error("%s (%d): table says '%s'\n", name, nr, disposition_of(nr)->name);
		assert_string_equal(disposition_of(nr)->name, name);
	}
	pclose(f);
	if (seen < 100)
		skip();
}

static void entries_are_whole(void **state)
{
	for (int nr = 0; nr < disposition_end(); nr++) {
		const struct disposition *d = disposition_of(nr);

		if (d->kind == CALL_UNKNOWN)
			continue;
		assert_non_null(d->reason);
		assert_true(d->kind != CALL_REFUSED || d->error > 0);
		assert_true(d->kind != CALL_ALLOWED || d->when == 0);
	}
}

static void conditions_belong_to_decided_calls(void **state)
{
	const struct condition *c;

	for (unsigned i = 0; (c = condition_at(i)); i++) {
		assert_int_equal(disposition_of(c->nr)->kind, CALL_DECIDED);
		assert_true(c->test[0].how != COMPARE_NONE);
		assert_true(c->test[0].arg != c->test[1].arg || c->test[1].how == COMPARE_NONE);
		bool alone = c->test[0].how == COMPARE_HIGH || c->test[0].how == COMPARE_ANY || c->test[0].how == COMPARE_SOME;
		assert_true(!alone || (c->when == 0 && c->error > 0 && c->test[0].mask <= UINT32_MAX));
		assert_non_null(c->what);
		assert_non_null(c->reason);
	}
}

static void out_of_range_is_unknown(void **state)
{
	assert_int_equal(disposition_of(-1)->kind, CALL_UNKNOWN);
	assert_int_equal(disposition_of(disposition_end())->kind, CALL_UNKNOWN);
	assert_int_equal(disposition_of(INT32_MAX)->kind, CALL_UNKNOWN);
	assert_false(disposition_traps(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_has_an_entry),
		cmocka_unit_test(every_number_of_the_header_has_an_entry),
		cmocka_unit_test(entries_are_whole),
		cmocka_unit_test(conditions_belong_to_decided_calls),
		cmocka_unit_test(out_of_range_is_unknown),
	};

	return cmocka_run_group_tests_name("supervisor_disposition", tests, NULL, NULL);
}
