// SPDX-License-Identifier: Apache-2.0
/* Every example of usher.rules(5) loads, and its expect lines hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/ruleset.h"

static const struct variable variables[] = {
	{ "HOME", "/home/u", NULL }, { "PWD", "/home/u/project", NULL }, { "TMPDIR", "/tmp", NULL }, { "USER", "u", NULL }, { "UID", "1000", NULL },
};

/* What the formatter makes of a line. */
static void put_line(const char *line, FILE *to)
{
	for (; *line; line++) {
		if (line[0] == '\\' && (line[1] == 'e' || line[1] == '-'))
			fputc(*++line == 'e' ? '\\' : '-', to);
		else if (line[0] == '\\' && line[1] == '&')
			line++;
		else
			fputc(*line, to);
	}
}

static void check_example(unsigned number, const char *text)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	struct ruleset_source source = { .variables = variables, .n_variables = sizeof(variables) / sizeof(variables[0]) };
	const struct expectation *e;
	struct verdict v;
	int r = ruleset_parse("example", text, strlen(text), &source, &found, &rs);
	diagnostics_print(&found, stderr, false);
	diagnostics_free(&found);
	if (r)
		fail_msg("example %u does not load", number);
	for (size_t i = 0; (e = ruleset_expectation(rs, i)); i++) {
		ruleset_decide(rs, &e->call, &v);
		enum verdict_kind kind = v.kind == VERDICT_NONE ? VERDICT_DENY : v.kind;
		if (kind != e->kind && e->depth == 0)
			fail_msg("example %u: %s: it is %s by %s", number, e->text, verdict_name(kind), v.where);
	}
	ruleset_free(rs);
}

static void test_examples(void **state)
{
	FILE *page = fopen("man/usher.rules.5", "r");
	char line[1024], *text = NULL;
	size_t size = 0;
	unsigned n = 0;
	FILE *to = NULL;
	assert_non_null(page);
	while (fgets(line, sizeof(line), page)) {
		if (strcmp(line, ".EX\n") == 0) {
			to = open_memstream(&text, &size);
		} else if (strcmp(line, ".EE\n") == 0) {
			fclose(to);
			check_example(++n, text);
			free(text);
			text = NULL;
			to = NULL;
		} else if (to) {
			put_line(line, to);
		}
	}
	fclose(page);
	printf("%u examples\n", n);
	assert_true(n >= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
