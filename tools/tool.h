/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand: one file and one row in tools/main.c. */
#ifndef USHER_TOOLS_TOOL_H
#define USHER_TOOLS_TOOL_H

#include <stdbool.h>

struct tool {
	const char *name;
	const char *usage;   /* the arguments, after "usher NAME " */
	const char *summary; /* one line for --help */
	int (*main)(int argc, char **argv); /* argv[0] is the subcommand; returns the exit status */
};

/* Whether help is asked for (--help, -h), by whatever word of the arguments. */
bool tool_help(int argc, char **argv);

/* Says that WORD of NAME's arguments is none of them, and where they are told. NAME may have two words ("desk review"). */
void tool_unexpected(const char *name, const char *word);

struct option;

/* Says what getopt_long(3), told to be silent (':' begins SHORTS), has found wrong with NAME's arguments, when it returned OPT, and where the options are told. */
void tool_wrong_option(const char *name, char **argv, int opt, const char *shorts, const struct option *longs);

/* Whether ARGV[*I] is option NAME, which takes a value: behind '=', or the next word, and *I moves on to that. *value is left alone where there is none. */
bool tool_value(const char *name, int argc, char **argv, int *i, const char **value);

/* What stands behind a word of which there are N. */
const char *tool_plural(unsigned long long n);

extern const struct tool tool_run, tool_check, tool_fmt, tool_rules, tool_desk, tool_log, tool_verify, tool_doctor;

#endif
