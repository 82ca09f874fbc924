/* SPDX-License-Identifier: Apache-2.0 */
/* The filter's table and usher's own: what is sent to usher has a row, and what has a row is sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/disposition.h"
#include "supervisor/table.h"

static void traps_and_rows_are_the_same(void **state)
{
	int end = table_end() > disposition_end() ? table_end() : disposition_end();
	int wrong = 0;

	for (int nr = 0; nr < end; nr++) {
		const struct sysrow *row = table_row(nr);

		if ((row != NULL) == disposition_traps(nr))
			continue;
		print_error("%s (%d): %s\n", disposition_of(nr)->name, nr, row ? "has a row but is never sent" : "is sent but has no row");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void rows_are_whole(void **state)
{
	for (int nr = 0; nr < table_end(); nr++) {
		const struct sysrow *row = table_row(nr);

		if (!row)
			continue;
		assert_string_equal(row->name, disposition_of(nr)->name);
		if (!row->at_once) {
			assert_non_null(row->resolve);
			assert_non_null(row->perform);
		}
		assert_true(row->class >= CLASS_INJECT && row->class <= CLASS_REGISTERS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traps_and_rows_are_the_same),
		cmocka_unit_test(rows_are_whole),
	};

	return cmocka_run_group_tests_name("supervisor_disposition_rows", tests, NULL, NULL);
}
