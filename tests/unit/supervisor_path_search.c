/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/path_search.h"

static char home[64];

static void directory(const char *name, const char *file)
{
	char path[256];

	assert_true(snprintf(path, sizeof(path), "%s/%s", home, name) < (int)sizeof(path));
	assert_int_equal(mkdir(path, 0700), 0);
	if (!file)
		return;
	assert_true(snprintf(path, sizeof(path), "%s/%s/%s", home, name, file) < (int)sizeof(path));
	close(creat(path, 0600));
}

static int make(void **state)
{
	(void)state;
	strcpy(home, "/tmp/path-search.XXXXXX");
	if (!mkdtemp(home) || chdir(home) < 0)
		return -1;
	directory("none", NULL);
	directory("other", "other");
	directory("has", "prog");
	directory("too", "prog");
	return 0;
}

static int clear(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return chdir("/") || system(command) ? -1 : 0;
}

static void starts_where_a_file_is(void **state)
{
	(void)state;
	assert_string_equal(path_search("none:gone:other:has:too", "prog"), "has:too");
	assert_string_equal(path_search("has:too", "prog"), "has:too");
	assert_string_equal(path_search("none:too", "prog"), "too");
	assert_string_equal(path_search("other/other:too", "prog"), "too"); /* a file is no directory */
}

static void the_whole_list_where_none_has_it(void **state)
{
	(void)state;
	assert_string_equal(path_search("none:other", "prog"), "none:other");
	assert_string_equal(path_search("", "prog"), "");
	assert_string_equal(path_search("none:has", "has/prog"), "none:has");
	assert_string_equal(path_search("none:has", ""), "none:has");
	assert_null(path_search(NULL, "prog"));
}

static void an_empty_directory_is_where_it_stands(void **state)
{
	(void)state;
	assert_int_equal(chdir("has"), 0);
	assert_string_equal(path_search("none::x", "prog"), ":x");
	assert_string_equal(path_search(":x", "prog"), ":x");
	assert_string_equal(path_search("none:", "prog"), "");
	assert_int_equal(chdir(".."), 0);
	assert_string_equal(path_search("none::has", "prog"), "has");
}

/* What cannot be looked at is left to execvp(). */
static void stops_at_what_cannot_be_told(void **state)
{
	char list[PATH_MAX + 32];

	(void)state;
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_string_equal(path_search("none:loop:has", "prog"), "loop:has");
	memset(list, 'a', PATH_MAX);
	strcpy(list + PATH_MAX, ":has");
	assert_ptr_equal(path_search(list, "prog"), list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_where_a_file_is),
		cmocka_unit_test(the_whole_list_where_none_has_it),
		cmocka_unit_test(an_empty_directory_is_where_it_stands),
		cmocka_unit_test(stops_at_what_cannot_be_told),
	};

	return cmocka_run_group_tests_name("supervisor_path_search", tests, make, clear);
}
