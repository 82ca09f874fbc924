/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

static const struct tool *const tools[] = {
	&tool_run, &tool_check, &tool_fmt, &tool_rules, &tool_desk, &tool_log, &tool_verify, &tool_doctor,
};

#define N_TOOLS (sizeof(tools) / sizeof(tools[0]))

static void help(FILE *to)
{
	fprintf(to, "usher decides and records what a command does.\n\nusage:\n");
	for (size_t i = 0; i < N_TOOLS; i++)
		fprintf(to, "  usher %-7s %s\n", tools[i]->name, tools[i]->summary);
	fprintf(to, "\n'usher COMMAND --help' tells more; the rule language is in usher.rules(5).\n");
}

/* RC, unless what was to be printed got lost. A reader that has seen enough is no loss. */
static int printed(int rc)
{
	errno = 0;
	bool whole = fflush(stdout) == 0 && !ferror(stdout);
	if (!whole && !errno)
		(void)!write(STDOUT_FILENO, "\n", 1); /* what failed was an earlier write, and the next one says why: behind what is cut short a line's end is no harm */
	if (whole || errno == EPIPE)
		return rc;
	fprintf(stderr, "usher: write to standard output: %s: what was printed is cut short; make room or print elsewhere, and ask again\n",
		errno ? strerror(errno) : "it failed");
	return rc ? rc : 2;
}

static int of_command(const char *name, int argc, char **argv)
{
	for (size_t i = 0; i < N_TOOLS; i++) {
		if (strcmp(name, tools[i]->name) == 0)
			return tools[i]->main(argc, argv);
	}
	CLEANUP_FREE char *shown = shown_name(name);
	fprintf(stderr, "usher: there is no command '%s'; 'usher --help' lists them\n", shown ? shown : "");
	return 125;
}

static int command(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return 125;
	}
	if (argc == 3 && strcmp(argv[1], "help") == 0) /* as COMMAND --help */
		return of_command(argv[2], 2, (char *[]){ argv[2], (char[]){ "--help" }, NULL });
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		help(stdout);
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("usher %s\n", USHER_VERSION);
		return 0;
	}
	return of_command(argv[1], argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return printed(command(argc, argv));
}
