/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/desk_options.h"

#include <stdio.h>
#include <string.h>

#include "policy/question_json.h"
#include "tools/tool.h"

static bool take(struct desk_options *o, const char *arg)
{
	static const struct {
		const char *name;
		unsigned kind;
	} known[] = { { "--json", DESK_JSON },	{ "--always", DESK_SCOPE },	{ "--yes", DESK_SCOPE },	{ "--for", DESK_SCOPE },
		      { "--directory", DESK_SCOPE }, { "--pattern", DESK_SCOPE }, { "--message", DESK_MESSAGE } };
	const char **const values[] = { NULL, NULL, NULL, &o->answer.scope, &o->answer.directory, &o->answer.pattern, &o->answer.message };
	const char *value = strchr(arg, '=');
	size_t len = value ? (size_t)(value - arg) : strlen(arg), i = 0, n = sizeof(known) / sizeof(known[0]);
	while (i < n && (strlen(known[i].name) != len || memcmp(known[i].name, arg, len) != 0))
		i++;
	if (i == n || (value != NULL) != (values[i] != NULL))
		return false;
	o->given |= known[i].kind;
	if (values[i])
		*values[i] = value + 1;
	else if (i == 0)
		o->json = true;
	else if (i == 1)
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
