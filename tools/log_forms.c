/* SPDX-License-Identifier: Apache-2.0 */
/* Which options each form of usher log has. One that would have no effect is refused: who gave it expects something else than comes. */
#include <stdio.h>
#include <string.h>

#include "tools/log.h"

enum { JSON = 1, FOLLOW = 2, TREE = 4, TIMELINE = 8, KEEP = 16 };

static const struct {
	unsigned flag;
	const char *name;
} options[] = {
	{ JSON, "--json" }, { FOLLOW, "--follow" }, { TREE, "--tree" }, { TIMELINE, "--timeline" }, { KEEP, "--keep" },
};

static const struct {
	const char *command;
	unsigned has;
} forms[] = {
	{ "who-touched", JSON }, { "explain", 0 }, { "prove", JSON /* it has no other form */ }, { "diff", 0 }, { "index", 0 }, { "prune", KEEP },
	{ "sessions", JSON },
};

#define N_FORMS (sizeof forms / sizeof forms[0])

static unsigned given(const struct log *l)
{
	return (l->json ? JSON : 0) | (l->follow ? FOLLOW : 0) | (l->tree ? TREE : 0) | (l->timeline ? TIMELINE : 0) | (l->keep ? KEEP : 0);
}

/* More than one of the ways to show, but for --json and --follow. */
static bool many(unsigned of)
{
	unsigned ways = of & (JSON | FOLLOW | TREE | TIMELINE);
	return (ways & (ways - 1)) && ways != (JSON | FOLLOW);
}

bool log_form_holds(const struct log *l)
{
	const char *command = l->n_words ? l->words[0] : "";
	size_t i = 0;
	while (i < N_FORMS && strcmp(forms[i].command, command) != 0)
		i++;
	unsigned left = given(l) & ~(i < N_FORMS ? forms[i].has : JSON | FOLLOW | TREE | TIMELINE);
	for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
		if (!(left & options[k].flag))
			continue;
		if (i < N_FORMS)
			fprintf(stderr, "usher log: %s has no %s; see usher log --help\n", command, options[k].name);
		else
			fprintf(stderr, "usher log: --keep is of 'usher log prune --keep AGE [DIR]' alone: nothing is shown or removed\n");
		return false;
	}
	if (!many(given(l)))
		return true;
	fputs("usher log: of --json, --follow, --tree and --timeline only --json and --follow go together\n", stderr);
	return false;
}
