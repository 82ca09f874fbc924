// SPDX-License-Identifier: Apache-2.0
/*
 * Every rule that the manual pages and the documents quote loads: what stands in `...`, in "..." behind .B or .BR, or behind
 * Ic and Ql, and begins like a line of a rule file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/ruleset.h"

static const struct variable variables[] = {
	{ "HOME", "/home/u", NULL }, { "PWD", "/home/u/project", NULL }, { "TMPDIR", "/tmp", NULL }, { "USER", "u", NULL }, { "UID", "1000", NULL },
};

/* A verdict or a statement, an argument, and more than that where it takes it. */
static bool like_a_rule(const char *text)
{
	static const struct {
		const char *head;
		unsigned words;
	} heads[] = { { "allow ", 3 }, { "deny ", 3 }, { "ask ", 3 }, { "kill ", 3 }, { "rewrite ", 5 }, { "default ", 2 },
		      { "limit ", 3 }, { "env ", 3 }, { "set ", 4 }, { "include ", 2 }, { "expect ", 4 }, { "redact ", 2 } };
	unsigned words = 1;
	for (const char *at = text; *at; at++)
		words += *at == ' ' && at[1] != ' ' && at[1];
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (strncmp(text, heads[i].head, strlen(heads[i].head)) == 0)
			return words >= heads[i].words;
	return false;
}

/* What the manual's formatter makes of it. */
static void plain(char *text)
{
	char *to = text;
	for (const char *at = text; *at; at++) {
		if (at[0] == '\\' && (at[1] == '-' || at[1] == '&' || at[1] == 'e')) {
			at++;
			if (*at != '&')
				*to++ = *at == 'e' ? '\\' : '-';
		} else if (strncmp(at, "\\(dq", 4) == 0) {
			*to++ = '"';
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = 0;
}

static unsigned try(const char *path, unsigned line, char *text)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	struct ruleset_source source = { .variables = variables, .n_variables = sizeof(variables) / sizeof(variables[0]) };
	plain(text);
	if (!like_a_rule(text))
		return 0;
	int r = ruleset_parse("quoted", text, strlen(text), &source, &found, &rs);
	diagnostics_print(&found, stderr, false);
	diagnostics_free(&found);
	ruleset_free(rs);
	if (r)
		fail_msg("%s:%u: '%s' does not load", path, line, text);
	return 1;
}

/* The pieces of LINE between OPEN and CLOSE. */
static unsigned pieces(const char *path, unsigned number, const char *line, char open, char close)
{
	unsigned n = 0;
	char text[1024];
	const char *from, *to;
	for (; (from = strchr(line, open)) && (to = strchr(from + 1, close)); line = to + 1) {
		snprintf(text, sizeof(text), "%.*s", (int)(to - from - 1), from + 1);
		n += try(path, number, text);
	}
	return n;
}

/* .Pq Ic TEXT . and .Ic TEXT */
static unsigned macros(const char *path, unsigned number, const char *line)
{
	static const char *const names[] = { "Ic ", "Ql ", "Li " };
	char text[1024];
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *at = strstr(line, names[i]);
		if (line[0] != '.' || !at)
			continue;
		snprintf(text, sizeof(text), "%s", at + 3);
		for (size_t n = strlen(text); n && strchr(" .,:;)", text[n - 1]); n--)
			text[n - 1] = 0;
		return try(path, number, text);
	}
	return 0;
}

static unsigned check_document(const char *path)
{
	char line[4096];
	unsigned number = 0, n = 0;
	const char *dot = strrchr(path, '.');
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		number++;
		line[strcspn(line, "\n")] = 0;
		if (strcmp(dot, ".md") == 0)
			n += pieces(path, number, line, '`', '`');
		else
			n += macros(path, number, line) + (line[0] == '.' ? pieces(path, number, line, '"', '"') : 0);
	}
	fclose(f);
	return n;
}

static void test_documents(void **state)
{
	static const char *const where[] = { "*.md", "*/*.md", "man/*.[15]" };
	unsigned n = 0;
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		glob_t names;
		assert_int_equal(glob(where[i], 0, NULL, &names), 0);
		for (size_t k = 0; k < names.gl_pathc; k++)
			n += check_document(names.gl_pathv[k]);
		globfree(&names);
	}
	printf("%u rules\n", n);
	assert_true(n >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
