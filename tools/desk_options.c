/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/desk_options.h"

#include <stdio.h>
#include <string.h>

#include "policy/question_json.h"
#include "tools/tool.h"

/* Whether ARGV[*I] is an option with a value, which is taken; NULL in *VALUE where it has none. */
static bool take_value(struct desk_options *o, int argc, char **argv, int *i, const char **value)
{
	const struct {
		const char *name;
		unsigned kind;
		const char **to;
	} known[] = { { "--for", DESK_SCOPE, &o->answer.scope },	   { "--directory", DESK_SCOPE, &o->answer.directory },
		      { "--pattern", DESK_SCOPE, &o->answer.pattern }, { "--message", DESK_MESSAGE, &o->answer.message } };
	*value = NULL;
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		if (!tool_value(known[k].name, argc, argv, i, value))
			continue;
		o->given |= known[k].kind;
		*known[k].to = *value;
		return true;
	}
	return false;
}

static bool take(struct desk_options *o, const char *arg)
{
	if (strcmp(arg, "--json") == 0) {
		o->given |= DESK_JSON;
		return o->json = true;
	}
	bool always = strcmp(arg, "--always") == 0;
	if (!always && strcmp(arg, "--yes") != 0)
		return false;
	o->given |= DESK_SCOPE;
	if (always)
		o->answer.scope = "always";
	else
		o->yes = true;
	return true;
}

bool desk_options_parse(struct desk_options *o, int argc, char **argv)
{
	o->word = argv[1];
	for (int i = 2; i < argc; i++) {
		bool option = argv[i][0] == '-';
		const char *value;
		if (option && take_value(o, argc, argv, &i, &value)) {
			if (value)
				continue;
			fprintf(stderr, "usher desk %s: %s needs a value behind it; 'usher desk --help' tells which\n", o->word, argv[i]);
			return false;
		}
		if (option && take(o, argv[i]))
			continue;
		if (!option && !o->id) {
			o->id = argv[i];
		} else if (!option && !o->answer.target && strcmp(o->word, "rewrite") == 0) {
			o->answer.target = argv[i];
		} else {
			tool_unexpected("desk", argv[i]);
			return false;
		}
	}
	return true;
}

static bool scope_known(const char *scope)
{
	static const char *const words[] = { "once", "session", "tree", "always" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(scope, words[i]) == 0)
			return true;
	}
	return duration_parse(scope) > 0;
}

bool desk_options_hold(const struct desk_options *o, unsigned has)
{
	unsigned left = o->given & ~has;
	const char *scope = o->answer.scope;
	if (left) {
		fprintf(stderr, "usher desk %s: it has no %s; 'usher desk --help' tells what has\n", o->word,
			left & DESK_JSON ? "--json" : left & DESK_SCOPE ? "--for, --always, --yes, --directory or --pattern" : "--message");
		return false;
	}
	if (scope && !scope_known(scope)) {
		fprintf(stderr, "usher desk %s: --for is once, session, tree or a time: 90s, 10m, 2h\n", o->word);
		return false;
	}
	if (o->id && !o->answer.target && strcmp(o->word, "rewrite") == 0) {
		fputs("usher desk rewrite: the NAME of the other object stands behind the ID\n", stderr);
		return false;
	}
	if (o->yes && !(scope && strcmp(scope, "always") == 0)) {
		fprintf(stderr, "usher desk %s: --yes is the answer to what --always asks: it goes with that\n", o->word);
		return false;
	}
	return true;
}
