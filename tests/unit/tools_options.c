// SPDX-License-Identifier: Apache-2.0
/* Each option that a subcommand's source takes is in what its --help says, and in a manual page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/tool.h"

static char help[64 * 1024], manual[256 * 1024];

static void append(char *text, size_t cap, const char *name)
{
	FILE *from = fopen(name, "r");
	assert_non_null(from);
	size_t len = strlen(text);
	len += fread(text + len, 1, cap - 1 - len, from);
	text[len] = 0;
	assert_true(len < cap - 1);
	fclose(from);
}

static void read_help(const struct tool *tool)
{
	int fd[2], status;
	size_t len = 0;
	ssize_t n;
	assert_int_equal(pipe(fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		tool->main(2, (char *[]){ (char *)(uintptr_t)tool->name, (char[]){ "--help" }, NULL });
		fflush(stdout);
		_exit(0);
	}
	close(fd[1]);
	while ((n = read(fd[0], help + len, sizeof(help) - 1 - len)) > 0)
		len += (size_t)n;
	help[len] = 0;
	close(fd[0]);
	waitpid(pid, &status, 0);
}

static bool part_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '-';
}

/* Whether TEXT has the WORD, not as part of another. */
static bool has(const char *text, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = text; (at = strstr(at, word)); at++)
		if (!part_of_word(at[len]) && (at == text || !part_of_word(at[-1])))
			return true;
	return false;
}

static void look_up(const struct tool *tool, const char *option, bool in_manual)
{
	char macro[80];
	snprintf(macro, sizeof(macro), "Fl %s", option + 1);
	if (!has(help, option) && strcmp(option, "-h") != 0 && strcmp(option, "--help") != 0)
		fail_msg("usher %s --help does not tell of %s", tool->name, option);
	if (in_manual && !has(manual, macro))
		fail_msg("no manual page tells of usher %s %s", tool->name, option);
}

/* The options of one source: literals "-x" and "--word", and the names in a table for getopt_long(3). */
static unsigned look_up_all(const struct tool *tool, const char *name, bool in_manual)
{
	static char source[64 * 1024];
	char option[64];
	unsigned n = 0;
	source[0] = 0;
	append(source, sizeof(source), name);
	for (const char *at = source; (at = strchr(at, '"')); at++) {
		size_t len = strcspn(at + 1, "\"");
		bool row = at - source > 2 && strncmp(at - 2, "{ ", 2) == 0 &&
			   (strncmp(at + len + 2, ", no_arg", 8) == 0 || strncmp(at + len + 2, ", required", 10) == 0);
		size_t word = strspn(at + 1, "-abcdefghijklmnopqrstuvwxyz");
		bool literal = at[1] == '-' && len > 1 && (word == len || (word + 1 == len && at[1 + word] == '='));
		if ((!row && !literal) || strncmp(at + 1, "--\"", 3) == 0)
			continue;
		snprintf(option, sizeof(option), "%s%.*s", row ? "--" : "", (int)word, at + 1);
		look_up(tool, option, in_manual);
		n++;
	}
	return n;
}

static void test_options(void **state)
{
	const struct {
		const struct tool *tool;
		const char *source;
		unsigned least;
		bool in_manual;
	} all[] = {
		{ &tool_run, "tools/run.c", 11, true },	      { &tool_check, "tools/check.c", 7, true },
		{ &tool_fmt, "tools/fmt.c", 2, true },	      { &tool_log, "tools/log.c", 7, true },
		{ &tool_verify, "tools/verify.c", 4, true },  { &tool_doctor, "tools/doctor.c", 2, true },
		{ &tool_desk, "tools/desk_options.c", 7, false },
	};
	append(manual, sizeof(manual), "man/usher.1");
	append(manual, sizeof(manual), "man/usher-journal.5");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		read_help(all[i].tool);
		unsigned n = look_up_all(all[i].tool, all[i].source, all[i].in_manual);
		if (n < all[i].least)
			fail_msg("%s: %u options were found, at least %u are there", all[i].source, n, all[i].least);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_options) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
