/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "rules/cleanup.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

void tool_unexpected(const char *name, const char *word)
{
	CLEANUP_FREE char *shown = shown_name(word);
	fprintf(stderr, "usher %s: '%s' is not expected here; 'usher %s --help' tells what is\n", name, shown ? shown : "", name);
}

bool tool_value(const char *name, int argc, char **argv, int *i, const char **value)
{
	size_t len = strlen(name);
	if (strncmp(argv[*i], name, len) != 0 || (argv[*i][len] && argv[*i][len] != '='))
		return false;
	if (argv[*i][len])
		*value = argv[*i] + len + 1;
	else if (*i + 1 < argc)
		*value = argv[++*i];
	return true;
}
