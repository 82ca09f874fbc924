// SPDX-License-Identifier: Apache-2.0
/*
 * $ABOVE_PWD: the directories above $PWD, as a pattern. Their names alone: what lies in them is none.
 *
 * MUST: no form is empty; a deep directory is no error: the nearest ones are meant then, and the root.
 */
#include <string.h>

#include "rules/variables.h"

#define NEAREST 16U

/* Without its last component, and the slashes before that. */
static size_t parent_len(const char *path, size_t len)
{
	while (len && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	while (len && path[len - 1] == '/')
		len--;
	return len;
}

int above_pwd(struct variables *v, struct arena *a, const struct ruleset_source *from)
{
	glob_unit units[VARIABLE_UNITS];
	size_t n = 0;
	const char *given = variables_given(from, "PWD"), *pwd = given ? given : "/";

	units[n++] = '{';
	units[n++] = (glob_unit)('/' | GLOB_LITERAL);
	size_t len = parent_len(pwd, strlen(pwd));
	for (size_t dirs = 0; len && dirs < NEAREST && n + len + 2 <= VARIABLE_UNITS; dirs++) {
		units[n++] = ',';
		for (size_t i = 0; i < len; i++)
			units[n++] = (glob_unit)((unsigned char)pwd[i] | GLOB_LITERAL);
		len = parent_len(pwd, len);
	}
	units[n++] = '}';
	return variables_set(v, a, "ABOVE_PWD", sizeof("ABOVE_PWD") - 1, units, n);
}
