// SPDX-License-Identifier: Apache-2.0
/* Every built-in rule set loads without a finding and gives what its own expect lines say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "rules/ruleset.h"

static const struct variable variables[] = {
	{ "HOME", "/home/u" }, { "PWD", "/home/u/work/project" }, { "TMPDIR", "/tmp" }, { "USER", "u" }, { "UID", "1000" },
};

static struct ruleset *load(const char *name)
{
	char path[64];
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	snprintf(path, sizeof(path), "builtin:%s", name);
	struct ruleset_source source = { path, variables, sizeof(variables) / sizeof(variables[0]) };
	int r = ruleset_load(&source, &found, &rs);
	diagnostics_print(&found, stderr, false);
	assert_int_equal(r, 0);
	assert_int_equal(found.count, 0);
	diagnostics_free(&found);
	return rs;
}

static void check_one(const char *name)
{
	struct ruleset *rs = load(name);
	const struct expectation *e;
	size_t n = 0;
	for (; (e = ruleset_expectation(rs, n)); n++) {
		struct verdict v;
		ruleset_decide(rs, &e->call, &v);
		enum verdict_kind kind = v.kind == VERDICT_NONE ? VERDICT_DENY : v.kind;
		if (kind != e->kind && e->depth == 0)
			fail_msg("%s:%u: %s: it is %s by %s", e->file, e->line, e->text, verdict_name(kind), v.where);
	}
	assert_true(n >= 3);
	ruleset_free(rs);
}

static void test_all(void **state)
{
	size_t n = 0;
	for (const char *const *name = builtin_names(); *name; name++, n++)
		check_one(*name);
	assert_true(n >= 5);
}

static void test_text(void **state)
{
	assert_non_null(strstr(builtin_text("agent"), "default  ask"));
	assert_null(builtin_text("nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
