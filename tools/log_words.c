/* SPDX-License-Identifier: Apache-2.0 */
/* What to say of a word that is none of usher log's queries. */
#include <stdio.h>
#include <string.h>

#include "rules/cleanup.h"
#include "rules/parser.h"
#include "tools/log.h"
#include "tools/rule_files.h"

static const struct {
	const char *key, *expected;
} keys[] = {
	{ "op", "read, modify, create, delete, attr, stat, exec, connect, bind, send, write, open or net" },
	{ "pid", "a number or a range A-B" },
	{ "seq", "a number or a range A-B, the lower first" },
	{ "since", "a span back from now (10m, 2h, 1d) or a time such as 2026-11-20T10:17" },
	{ "until", "a span back from now (10m, 2h, 1d) or a time such as 2026-11-20T10:17" },
	{ "verdict", "allow, deny, ask, rewrite, kill or none" },
	{ "type", "start, call, answer, note, seal or end" },
	{ "path", "a name or a pattern" },
	{ "by", "a program" },
	{ "call", "a system call" },
	{ "result", "a number or the name of an errno" },
	{ "event", "the name of an event" },
	{ "rule", "a part of FILE:LINE" },
};

#define KEYS (sizeof keys / sizeof keys[0])

/* The known key that TEXT begins with, ended by a colon (or an equals sign, as options of rules have it). */
static size_t find_key(const char *text, size_t len)
{
	size_t i = 0;
	while (i < KEYS && (strlen(keys[i].key) != len || memcmp(keys[i].key, text, len) != 0))
		i++;
	return i;
}

void log_bad_word(const char *bad)
{
	static const char *const words[] = { "denied", "asked", "failed", "alert", "in-flight", "who-touched", "explain", "prove", "diff", "prune",
					     "index", "--tree", "--timeline", "--json", "--follow", NULL };
	const char *text = bad + (bad[0] == '!');
	size_t len = strcspn(text, ":=");
	size_t i = text[len] ? find_key(text, len) : KEYS;
	const char *meant = suggest(text, words);
	CLEANUP_FREE char *shown = shown_name(bad); /* the name of a file that the program made, perhaps */
	fprintf(stderr, "usher log: '%s' is no directory and no word of a query", shown ? shown : "");
	if (shown && i < KEYS && text[len] == '=')
		fprintf(stderr, " (did you mean '%s:%s'?)", keys[i].key, shown + (text - bad) + len + 1);
	else if (i < KEYS)
		fprintf(stderr, "; behind %s: %s was expected", keys[i].key, keys[i].expected);
	else if (!strcmp(text, "tree") || !strcmp(text, "timeline") || !strcmp(text, "json") || !strcmp(text, "follow"))
		fprintf(stderr, " (did you mean '--%s'?)", text);
	else if (!strcmp(text, "deny") || !strcmp(text, "refused"))
		fputs(" (did you mean 'denied'?)", stderr);
	else if (meant && !strcmp(meant, text))
		fputs("; it stands in front, behind nothing but the journal's directory", stderr);
	else if (meant)
		fprintf(stderr, " (did you mean '%s'?)", meant);
	fputs("; 'usher log --help' lists them\n", stderr);
}
