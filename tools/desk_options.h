/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of usher desk, behind its first word. */
#ifndef USHER_TOOLS_DESK_OPTIONS_H
#define USHER_TOOLS_DESK_OPTIONS_H

#include <stdbool.h>

#include "tools/desk_answer.h"

/* Kinds of options; a word of the desk has some of them. */
enum { DESK_JSON = 1, DESK_SCOPE = 2, DESK_MESSAGE = 4 };

struct desk_options {
	struct desk_answer answer;
	const char *word; /* list, show, ... */
	const char *id;   /* NULL: none was given */
	bool json;
	bool yes;         /* --always without asking */
	unsigned given;   /* the kinds */
};

/* Whether ARGV, from its second word on, is a command line; told if not. */
bool desk_options_parse(struct desk_options *o, int argc, char **argv);

/* Whether all that was given is of the kinds HAS, and has an effect; told if not. */
bool desk_options_hold(const struct desk_options *o, unsigned has);

#endif
