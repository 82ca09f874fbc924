/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/real_name.h"

/* A directory with "there", and "link" that leads to it. */
static int set_up(void **state)
{
	static char dir[64];
	char name[96];

	strcpy(dir, "/tmp/usher-real-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	*state = dir;
	snprintf(name, sizeof(name), "%s/there", dir);
	if (mkdir(name, 0700) < 0)
		return -1;
	snprintf(name, sizeof(name), "%s/link", dir);
	return symlink("there", name);
}

static int tear_down(void **state)
{
	char name[96];

	snprintf(name, sizeof(name), "%s/link", (char *)*state);
	unlink(name);
	snprintf(name, sizeof(name), "%s/there", (char *)*state);
	rmdir(name);
	return rmdir(*state);
}

static void names(void **state)
{
	static const struct {
		const char *name, *real, *exists;
	} rows[] = {
		{ "", "", "" },
		{ "/there", "/there", "/there" },
		{ "/link", "/there", "/there" },
		{ "/link/.", "/there", "/there" },
		{ "/link/new", "/there/new", "/there" },
		{ "/link/new/a/", "/there/new/a", "/there" },
		{ "/.", "", "" },
		{ "/gone/.", "/gone", "" },
		{ "/gone/./a", "/gone/a", "" },
		{ "/gone//a", "/gone/a", "" },
		{ "/gone/./a/..", "/gone", "" },
		{ "/gone/a/../b", "/gone/b", "" },
		{ "/gone/.a/..b", "/gone/.a/..b", "" },
		{ "/gone/../link/new", "/there/new", "/there" },
		{ "/link/gone/../../link/a", "/there/a", "/there" },
	};
	const char *dir = *state;
	char name[192], want[192], got[PATH_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", dir, rows[i].name);
		snprintf(want, sizeof(want), "%s%s", dir, rows[i].real);
		assert_int_equal(real_name(name, got), strlen(dir) + strlen(rows[i].exists));
		assert_string_equal(got, want);
	}
}

static void from_the_root(void **state)
{
	char got[PATH_MAX];

	assert_int_equal(real_name("/", got), 0);
	assert_string_equal(got, "/");
	assert_int_equal(real_name("/usher-is-not-there/a", got), 0);
	assert_string_equal(got, "/usher-is-not-there/a");
	assert_int_equal(real_name("/usher-is-not-there/../../..", got), 0);
	assert_string_equal(got, "/");
}

/* What a link leads to is meant, there or not; a loop ends somewhere. */
static void links_to_nothing_are_followed(void **state)
{
	char name[128], got[PATH_MAX], want[128], dangling[96], loop[96];

	snprintf(dangling, sizeof(dangling), "%s/dangling", (char *)*state);
	snprintf(loop, sizeof(loop), "%s/loop", (char *)*state);
	assert_int_equal(symlink("link/none/../gone", dangling), 0);
	assert_int_equal(symlink("loop", loop), 0);
	snprintf(name, sizeof(name), "%s/a", dangling);
	snprintf(want, sizeof(want), "%s/there/gone/a", (char *)*state);
	assert_int_equal(real_name(name, got), strlen(*state) + strlen("/there"));
	assert_string_equal(got, want);
	snprintf(name, sizeof(name), "%s/a", loop);
	assert_int_equal(real_name(name, got), strlen(*state));
	assert_string_equal(got, name);
	unlink(dangling);
	unlink(loop);
}

struct leads {
	char name[4][128];
	unsigned n;
};

static void note(void *context, const char *name)
{
	struct leads *l = context;

	assert_true(l->n < 4);
	snprintf(l->name[l->n++], sizeof(l->name[0]), "%s", name);
}

static void what_leads_is_told(void **state)
{
	struct leads l = { .n = 0 };
	char name[128], want[128];

	snprintf(name, sizeof(name), "%s/link/x", (char *)*state);
	assert_int_equal(real_name_leads(name, note, &l), 0);
	assert_int_equal(l.n, 1);
	snprintf(want, sizeof(want), "%s/link", (char *)*state);
	assert_string_equal(l.name[0], want);
	snprintf(name, sizeof(name), "%s/there/../link", (char *)*state);
	l.n = 0;
	assert_int_equal(real_name_leads(name, note, &l), 0);
	assert_int_equal(l.n, 2);
	snprintf(want, sizeof(want), "%s/there", (char *)*state);
	assert_string_equal(l.name[0], want);
	l.n = 0;
	assert_int_equal(real_name_leads(*state, note, &l), 0);
	assert_int_equal(l.n, 0);
}

static void too_long(void **state)
{
	char name[PATH_MAX + 1], got[PATH_MAX];

	memset(name, 'a', PATH_MAX);
	name[0] = '/';
	name[PATH_MAX] = '\0';
	assert_int_equal(real_name(name, got), -ENAMETOOLONG);
	name[PATH_MAX - 1] = '\0';
	assert_int_equal(real_name(name, got), 0);
	assert_string_equal(got, name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names, set_up, tear_down),
		cmocka_unit_test(from_the_root),
		cmocka_unit_test_setup_teardown(links_to_nothing_are_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_leads_is_told, set_up, tear_down),
		cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests_name("policy_real_name", tests, NULL, NULL);
}
