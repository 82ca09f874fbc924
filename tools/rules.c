// SPDX-License-Identifier: Apache-2.0
/* usher rules: the built-in rule sets, to read. */
#include <stdio.h>
#include <string.h>

#include "rules/cleanup.h"
#include "rules/ruleset.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

static int list(FILE *to)
{
	for (const char *const *name = builtin_names(); *name; name++)
		fprintf(to, "builtin:%s\n", *name);
	return 0;
}

static int show(const char *name)
{
	const char *text = builtin_text(strncmp(name, "builtin:", 8) == 0 ? name + 8 : name);
	if (!text) {
		CLEANUP_FREE char *shown = shown_name(name);
		fprintf(stderr, "usher rules: there are no built-in rules '%s'; 'usher rules list' names them\n", shown ? shown : "");
		return 1;
	}
	fputs(text, stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int rules_main(int argc, char **argv)
{
	if (tool_help(argc, argv)) {
		printf("usage: usher rules %s\n\n%s.\n", tool_rules.usage, tool_rules.summary);
		return 0;
	}
	if (argc == 1 || (argc == 2 && strcmp(argv[1], "list") == 0))
		return list(stdout);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2]);
	if (argc == 2 && strcmp(argv[1], "show") == 0)
		fputs("usher rules: show which? 'usher rules list' names them\n", stderr);
	else
		tool_unexpected("rules", argv[argc - 1]);
	return 2;
}

const struct tool tool_rules = {
	.name = "rules",
	.usage = "[list | show NAME]",
	.summary = "show the built-in rule sets",
	.main = rules_main,
};
