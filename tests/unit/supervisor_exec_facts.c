/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of programs, and when it is not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "supervisor/exec_facts.h"

static struct stat program(ino_t ino)
{
	const struct timespec then = { .tv_sec = 1000000, .tv_nsec = 5 };

	return (struct stat){ .st_dev = 7, .st_ino = ino, .st_size = 100, .st_mode = S_IFREG | 0755, .st_mtim = then, .st_ctim = then };
}

static bool keeps(const struct stat *st, const char *interpreter)
{
	struct facts_kept k = { 0 };
	struct elf_facts facts = { .library = true }, got;

	strcpy(facts.interpreter, interpreter);
	facts_keep(&k, st, &facts);
	return facts_known(&k, st, &got) && got.library && !strcmp(got.interpreter, interpreter);
}

static void only_roots_own_settled(void **state)
{
	char longest[FACTS_NAME] = { 0 }, longer[FACTS_NAME + 1] = { 0 };
	struct stat st = program(1);

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	memset(longer, 'x', sizeof(longer) - 1);
	assert_true(keeps(&st, "/lib64/ld.so"));
	assert_true(keeps(&st, ""));
	assert_true(keeps(&st, longest));
	assert_false(keeps(&st, longer));
	st.st_uid = 1000;
	assert_false(keeps(&st, ""));
	st = program(1);
	st.st_mode |= S_IWGRP;
	assert_false(keeps(&st, ""));
	st = program(1);
	st.st_mode |= S_IWOTH;
	assert_false(keeps(&st, ""));
	st = program(1);
	st.st_ctim.tv_sec = time(NULL); /* may be written again in the same tick */
	assert_false(keeps(&st, ""));
	st = program(0);
	assert_false(keeps(&st, ""));
}

static void not_when_changed(void **state)
{
	const struct stat was = program(1);
	struct facts_kept k = { 0 };
	struct elf_facts facts = { .interpreter = "/lib/ld.so" }, got;
	struct stat st = was;

	(void)state;
	facts_keep(&k, &was, &facts);
	assert_true(facts_known(&k, &st, &got));
	st.st_size++;
	assert_false(facts_known(&k, &st, &got));
	st = was;
	st.st_mtim.tv_nsec++;
	assert_false(facts_known(&k, &st, &got));
	st = was;
	st.st_ctim.tv_nsec++;
	assert_false(facts_known(&k, &st, &got));
	st = was;
	st.st_dev++;
	assert_false(facts_known(&k, &st, &got));
	/* As it is now, in the place of what it was. */
	st = was;
	st.st_ctim.tv_nsec++;
	facts_keep(&k, &st, &facts);
	assert_true(facts_known(&k, &st, &got));
	assert_false(facts_known(&k, &was, &got));
	assert_int_equal(k.next, 1);
}

static void oldest_goes(void **state)
{
	struct facts_kept k = { 0 };
	struct elf_facts facts = { 0 }, got;

	(void)state;
	for (ino_t i = 1; i <= FACTS_PLACES + 1; i++) {
		struct stat st = program(i);
		facts_keep(&k, &st, &facts);
	}
	struct stat first = program(1), second = program(2), last = program(FACTS_PLACES + 1);
	assert_false(facts_known(&k, &first, &got));
	assert_true(facts_known(&k, &second, &got));
	assert_true(facts_known(&k, &last, &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_roots_own_settled), cmocka_unit_test(not_when_changed), cmocka_unit_test(oldest_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
