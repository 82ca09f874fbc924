/* SPDX-License-Identifier: Apache-2.0 */
/* SECURITY.md says what the filter does: its tables are those that the code prints (on x86-64, for which they were printed). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/disposition.h"

#ifdef __x86_64__
static char *slurp(const char *name)
{
	FILE *f = fopen(name, "r");
	char *text = calloc(1, 1 << 20);

	if (!f || !text || fread(text, 1, (1 << 20) - 1, f) == 0)
		fail_msg("cannot read %s (the tests run in the top directory)", name);
	fclose(f);
	return text;
}
#endif

static void tables_are_those_of_the_code(void **state)
{
#ifdef __x86_64__
	char *printed = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&printed, &size);

	disposition_print(f);
	fclose(f);
	char *published = slurp("SECURITY.md");
	if (!strstr(published, printed))
		fail_msg("SECURITY.md is out of date: make security-table");
	free(published);
	free(printed);
#else
	skip();
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tables_are_those_of_the_code) };

	return cmocka_run_group_tests_name("supervisor_security_md", tests, NULL, NULL);
}
