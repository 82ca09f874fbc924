/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <limits.h>
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

static bool begins_several(const char *word, const struct option *longs)
{
	size_t n = 0, len = strcspn(word, "=");

	for (; longs->name; longs++)
		n += strncmp(longs->name, word, len) == 0;
	return n > 1;
}

void tool_wrong_option(const char *name, char **argv, int opt, const char *shorts, const struct option *longs)
{
	const char letter[] = { '-', (char)optopt, '\0' };
	bool unknown = opt == '?' && optopt > 0 && optopt <= UCHAR_MAX && !strchr(shorts, optopt); /* one letter, of several perhaps */
	const char *word = unknown ? letter : argv[optind - 1];
	CLEANUP_FREE char *shown = shown_name(opt == ':' && argv[optind - 1][1] != '-' ? letter : word);

	if (opt == ':')
		fprintf(stderr, "usher %s: '%s' needs a value behind it", name, shown ? shown : "");
	else if (optopt && !unknown)
		fprintf(stderr, "usher %s: '%s' takes no value", name, shown ? shown : "");
	else if (!unknown && begins_several(word + 2, longs))
		fprintf(stderr, "usher %s: '%s' is the beginning of several options", name, shown ? shown : "");
	else
		fprintf(stderr, "usher %s: there is no option '%s'", name, shown ? shown : "");
	fprintf(stderr, "; 'usher %s --help' lists them\n", name);
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
