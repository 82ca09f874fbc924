/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/resolve_name.h"

static void folds(void **state)
{
	static const struct { const char *path, *folded; } cases[] = {
		{ "/a/b", "/a/b" },       { "//a///b", "/a/b" },  { "/./a/./b", "/a/b" }, { "a", "a" },
		{ "./a", "a" },           { "a//b/.c", "a/b/.c" }, { "/a/..b/c..", "/a/..b/c.." }, { "/a/...", "/a/..." },
		{ "/a/../b", NULL },      { "..", NULL },         { ".", NULL },          { "", NULL },
		{ "/", NULL },            { "/a/", NULL },        { "/a/.", NULL },       { "a/..", NULL },
		{ "/\n/\xff", "/\n/\xff" },
	};
	char out[64];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool plain = name_fold(cases[i].path, strlen(cases[i].path), out, &n);
		assert_int_equal(plain, cases[i].folded != NULL);
		if (!plain)
			continue;
		assert_string_equal(out, cases[i].folded);
		assert_int_equal(n, strlen(out));
		/* in place */
		strcpy(out, cases[i].path);
		assert_true(name_fold(out, strlen(out), out, &n));
		assert_string_equal(out, cases[i].folded);
	}
}

/* As the comment in the header says it, one component after the other. */
static bool folds_slowly(const char *path, char *out)
{
	size_t n = 0, len = strlen(path);

	if (!len || path[len - 1] == '/')
		return false;
	if (path[0] == '/')
		out[n++] = '/';
	for (const char *at = path; *at;) {
		size_t c = strcspn(at, "/");
		bool last = !at[c];

		if ((c == 2 && !strncmp(at, "..", 2)) || (last && c == 1 && *at == '.'))
			return false;
		if (c && !(c == 1 && *at == '.')) {
			memcpy(out + n, at, c);
			n += c;
			if (!last)
				out[n++] = '/';
		}
		at += c + !last;
	}
	out[n] = '\0';
	return true;
}

static void folds_any_name(void **state)
{
	static const char letters[] = "/./ab/.c";
	unsigned seed = 11;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		size_t len = (size_t)rand_r(&seed) % 60, n = 0;
		char path[64], slow[64], *exact = malloc(len + 1);
		unsigned plain = rand_r(&seed) % 4; /* some have next to nothing to fold */

		assert_non_null(exact);
		for (size_t k = 0; k < len; k++)
			path[k] = plain && (unsigned)rand_r(&seed) % 40 ? (k % 7 == 3 ? '/' : 'x') : letters[(unsigned)rand_r(&seed) % 8];
		path[len] = '\0';
		memcpy(exact, path, len + 1);
		bool expected = folds_slowly(path, slow);
		bool got = name_fold(exact, len, exact, &n);
		if (got != expected || (got && (n != strlen(slow) || strcmp(exact, slow) != 0)))
			fail_msg("%s: %s instead of %s", path, got ? exact : "nothing", expected ? slow : "nothing");
		free(exact);
	}
}

static void splits(void **state)
{
	static const struct { const char *path, *dir, *leaf; bool slash, dots; } cases[] = {
		{ "/a/b", "/a", "b", false, false }, { "/a", "/", "a", false, false },   { "a", "", "a", false, false },
		{ "a/b//", "a", "b", true, false },  { "//a//b", "//a", "b", false, false }, { "/", "/", "", true, true },
		{ "a/..", "a", "..", false, true },  { ".", "", ".", false, true },      { "x/./", "x", ".", true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct split sp;
		name_split(cases[i].path, strlen(cases[i].path), &sp);
		assert_int_equal(sp.dir, strlen(cases[i].dir));
		assert_memory_equal(cases[i].path, cases[i].dir, sp.dir);
		assert_int_equal(sp.len, strlen(cases[i].leaf));
		assert_memory_equal(cases[i].path + sp.leaf, cases[i].leaf, sp.len);
		assert_int_equal(sp.slash, cases[i].slash);
		assert_int_equal(sp.dots, cases[i].dots);
	}
}

static void leaves_endings(void **state)
{
	static const struct {
		const char *path;
		size_t left;
	} cases[] = { { "", 0 }, { "/", 0 }, { ".", 0 }, { "./", 0 }, { "a", 1 }, { "a.", 2 }, { "a/", 1 }, { "a//", 1 }, { "a/.", 1 }, { "a/.//./", 1 },
		      { "a/..", 4 }, { "a/../", 4 }, { "/a/.b", 5 }, { "/a/b./", 5 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(name_without_ending(cases[i].path, strlen(cases[i].path)), cases[i].left);
}

static void finds_ups(void **state)
{
	static const struct {
		const char *path;
		size_t at;
	} cases[] = { { "", 0 }, { "..", 0 }, { "../a", 0 }, { "a/..", 2 }, { "a/../b/..", 2 }, { "a//../b", 3 }, { "...", 3 }, { "a..", 3 }, { "..a/.b", 6 }, { "a/.../.", 7 }, { "/..", 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(name_up(cases[i].path, strlen(cases[i].path)), cases[i].at);
}

static void finds_processes(void **state)
{
	static const struct { const char *name; int pid; const char *rest; } cases[] = {
		{ "/proc/12/fd/3", 12, "fd/3" }, { "/proc/12", 12, "" },     { "/proc/12x/fd", -1, NULL },
		{ "/proc/self/fd", -1, NULL },   { "/proc", -1, NULL },      { "/proc/", -1, NULL },
		{ "/procs/12", -1, NULL },       { "/proc/1234567890123", -1, NULL }, { "/x/proc/12/fd", -1, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *rest;
		size_t len;
		assert_int_equal(name_proc(cases[i].name, strlen(cases[i].name), &rest, &len), cases[i].pid);
		if (cases[i].pid < 0)
			continue;
		assert_int_equal(len, strlen(cases[i].rest));
		assert_memory_equal(rest, cases[i].rest, len);
	}
}

static void opens_little_of_others(void **state)
{
	static const char *const yes[] = { "", "stat", "status", "cmdline", "task", "task/5", "task/5/stat", "net/tcp" };
	static const char *const no[] = { "mem", "environ", "maps", "smaps", "auxv", "stack", "syscall", "fd", "fd/0", "fdinfo/0",
					  "root", "cwd", "exe", "ns/net", "map_files/0-1", "task/5/mem", "task/5/fd/0", "statx",
					  "io", "oom_score_adj", "attr/current", "clear_refs", "pagemap", "timers" };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(name_proc_public(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(name_proc_public(no[i], strlen(no[i])));
}

static void knows_what_shows_no_process_from_within(void **state)
{
	static const char *const shown[] = { "", "stat", "task/12", "exe", "task/12/cwd", "oom_score_adj" };
	static const char *const within[] = { "mem", "task/12/mem", "environ", "fd", "fd/3", "task/12/fd/3", "maps", "ns", "map_files", "exe/x" };

	(void)state;
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		assert_true(name_proc_outer(shown[i], strlen(shown[i]), false));
	for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++)
		assert_false(name_proc_outer(within[i], strlen(within[i]), false));
	assert_true(name_proc_outer("oom_score_adj", 13, true));
	assert_false(name_proc_outer("comm", 4, true));
}

static void knows_what_is_below(void **state)
{
	(void)state;
	assert_true(name_below("/a/b", 4, "/a", 2));
	assert_true(name_below("/a", 2, "/a", 2));
	assert_true(name_below("/a", 2, "/", 1));
	assert_false(name_below("/ab", 3, "/a", 2));
	assert_false(name_below("/", 1, "/a", 2));
	assert_false(name_below("pipe:[1]", 8, "/", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folds), cmocka_unit_test(folds_any_name),
		cmocka_unit_test(splits),
		cmocka_unit_test(finds_ups), cmocka_unit_test(leaves_endings),
		cmocka_unit_test(finds_processes),
		cmocka_unit_test(opens_little_of_others),
		cmocka_unit_test(knows_what_shows_no_process_from_within),
		cmocka_unit_test(knows_what_is_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
