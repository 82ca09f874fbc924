// SPDX-License-Identifier: Apache-2.0
/* Every built-in rule set loads without a finding and gives what its own expect lines say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "rules/ruleset.h"

static const struct variable variables[] = {
	{ "HOME", "/home/u", NULL }, { "PWD", "/home/u/work/project", NULL }, { "TMPDIR", "/tmp", NULL }, { "USER", "u", NULL }, { "UID", "1000", NULL },
};

static struct ruleset *load(const char *name, const char *home)
{
	struct variable at[sizeof(variables) / sizeof(variables[0])];
	char path[64];
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	snprintf(path, sizeof(path), "builtin:%s", name);
	memcpy(at, variables, sizeof(at));
	at[0].value = home;
	struct ruleset_source source = { .path = path, .variables = at, .n_variables = sizeof(at) / sizeof(at[0]) };
	int r = ruleset_load(&source, &found, &rs);
	diagnostics_print(&found, stderr, false);
	assert_int_equal(r, 0);
	assert_int_equal(found.count, 0);
	diagnostics_free(&found);
	return rs;
}

static void check_one(const char *name, const char *home)
{
	struct ruleset *rs = load(name, home);
	const struct expectation *e;
	size_t n = 0;
	for (; (e = ruleset_expectation(rs, n)); n++) {
		struct verdict v;
		ruleset_decide(rs, &e->call, &v);
		enum verdict_kind kind = v.kind == VERDICT_NONE ? VERDICT_DENY : v.kind;
		if (kind != e->kind && e->depth == 0)
			fail_msg("HOME=%s: %s:%u: %s: it is %s by %s", home, e->file, e->line, e->text, verdict_name(kind), v.where);
	}
	assert_true(n >= 3);
	ruleset_free(rs);
}

static void test_all(void **state)
{
	size_t n = 0;
	for (const char *const *name = builtin_names(); *name; name++, n++) {
		check_one(*name, "/home/u");
		check_one(*name, "/root");
		check_one(*name, "/srv/people/u");
		check_one(*name, "/tmp/tmp.Xy6bhBKoLm/home"); /* a home is one wherever it lies */
		check_one(*name, "/tmp/pytest-of-user/pytest-123/test_something_long0/home");
		check_one(*name, "/var/tmp/u");
	}
	assert_true(n >= 5);
}

/* Started in the root directory, the system is not the project. */
static void test_root_directory(void **state)
{
	static const struct variable at_root[] = {
		{ "HOME", "/root", NULL }, { "PWD", "/", NULL }, { "TMPDIR", "/tmp", NULL }, { "USER", "root", NULL }, { "UID", "0", NULL },
	};
	static const char *const names[] = { "/etc/passwd", "/x", "/opt/x", "/usr/share/x", "/var/lib/x" };
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	struct ruleset_source source = { .path = "builtin:agent", .variables = at_root, .n_variables = 5 };
	struct verdict v;
	assert_int_equal(ruleset_load(&source, &found, &rs), 0);
	for (size_t i = 0; i < 5; i++) {
		struct call c = { .n_objects = 1 };
		c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_MODIFY, .name = { names[i], (uint32_t)strlen(names[i]) } };
		ruleset_decide(rs, &c, &v);
		assert_int_equal(v.kind, VERDICT_ASK);
	}
	ruleset_free(rs);
	diagnostics_free(&found);
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
		cmocka_unit_test(test_root_directory),
		cmocka_unit_test(test_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
