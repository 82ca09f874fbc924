// SPDX-License-Identifier: Apache-2.0
/* usher check: read rule files as usher run would, and say what is wrong, weak or never used. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/channels.h"
#include "rules/cleanup.h"
#include "rules/colours.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

#define SHORTS ":h"

enum { OPT_EXPLAIN = 256, OPT_JSON, OPT_STRICT, OPT_ASK, OPT_PLAN, OPT_CALLS, OPT_HELP };

static const struct option options[] = {
	{ "explain", required_argument, NULL, OPT_EXPLAIN }, { "json", no_argument, NULL, OPT_JSON },
	{ "strict", no_argument, NULL, OPT_STRICT },	     { "ask", required_argument, NULL, OPT_ASK },
	{ "plan", no_argument, NULL, OPT_PLAN },	     { "help", no_argument, NULL, OPT_HELP },
	{ "calls", no_argument, NULL, OPT_CALLS },
	{ NULL, 0, NULL, 0 },
};

static int usage(void)
{
	printf(
		"usage: usher check %s\n\n"
		"Reads rule files as 'usher run -p' would, each a layer. Without FILE: builtin:agent.\n\n"
		"  --explain 'OP OBJECT [by EXE] [tree EXE] [uid N] [own] [vacant] [makes KIND] [argv WORD...]'\n"
		"                 name the rule that decides, what it beat, and each layer's verdict;\n"
		"                 answers for ever, from the file of grants, count as in a session\n"
		"  --plan         show where each system call is decided under these rules\n"
		"  --calls        print what each mediated call needs, whatever the rules\n"
		"  --ask CHANNEL  who would answer; an ask that nobody answers is a warning\n"
		"  --strict       warnings fail as well\n"
		"  --json         for editors and scripts\n\n"
		"Exit status: 0 in order, 1 with findings that fail (errors, expect lines), 2 for wrong usage.\n",
		tool_check.usage);
	return -1;
}

static bool is_channel(const char *word)
{
	const char *why;

	if (!word || channels_check(word, &why) == 0)
		return true;
	CLEANUP_FREE char *shown = shown_name(word);
	fprintf(stderr, "usher: check --ask=%s: %s\n", shown ? shown : "", why);
	return false;
}

/* What is wrong with options that do not go together, or NULL: one that has no effect is an error. */
static const char *no_effect(const struct check *c, bool calls)
{
	if (calls && c->json)
		return "--calls prints a table for people: it goes without --json";
	if (calls + c->plan + (c->explain != NULL) > 1)
		return "does one of --explain, --plan and --calls at a time";
	if (calls && c->n_files)
		return "--calls is about no rules: it goes without FILE";
	if (c->strict && (calls || c->plan || c->explain))
		return "--strict makes warnings fail, and --explain, --plan and --calls look for none: leave one of them out";
	if (c->channel && (calls || c->plan || c->explain))
		return "--ask is for warnings, and --explain, --plan and --calls look for none: leave one of them out";
	return NULL;
}

static int parse_arguments(int argc, char **argv, struct check *c)
{
	bool calls = false;
	int opt;
	optind = 1;
	while ((opt = getopt_long(argc, argv, SHORTS, options, NULL)) != -1) {
		if (opt == OPT_EXPLAIN)
			c->explain = optarg;
		else if (opt == OPT_ASK)
			c->channel = optarg;
		else if (opt == OPT_JSON)
			c->json = true;
		else if (opt == OPT_STRICT)
			c->strict = true;
		else if (opt == OPT_PLAN)
			c->plan = true;
		else if (opt == OPT_CALLS)
			calls = true;
		else if (opt == OPT_HELP || opt == 'h')
			return usage();
		else
			return tool_wrong_option("check", argv, opt, SHORTS, options), 2;
	}
	c->files = (const char *const *)argv + optind;
	c->n_files = (size_t)(argc - optind);
	const char *without = no_effect(c, calls);
	if (without) {
		fprintf(stderr, "usher: check %s\n", without);
		return 2;
	}
	if (calls)
		return check_calls(stdout), -1;
	return is_channel(c->channel) ? 0 : 2;
}

static void load(struct check *c)
{
	for (size_t i = 0; i < c->n_files; i++) {
		struct ruleset_source source = { .path = c->files[i], .variables = c->variables.item, .n_variables = c->variables.n };
		ruleset_load(&source, &c->found, &c->layer[i]);
	}
}

static void print_json_finding(const struct diagnostic *d, const char *before)
{
	printf("%s\n  {\"file\":", before);
	put_json(d->file, strlen(d->file), stdout);
	printf(",\"line\":%u,\"column\":%u,\"level\":\"%s\",\"message\":", d->line, d->column,
	       d->level == DIAGNOSTIC_ERROR ? "error" : "warning");
	put_json(d->message, strlen(d->message), stdout);
	fputs("}", stdout);
}

static void print_findings(const struct check *c)
{
	if (!c->json) {
		diagnostics_print(&c->found, stderr, colours_on(STDERR_FILENO));
		return;
	}
	fputs("[", stdout);
	for (size_t i = 0; i < c->found.count; i++)
		print_json_finding(&c->found.items[i], i ? "," : "");
	puts("\n]");
}

static void summary(const struct check *c)
{
	size_t warnings = 0, rules = 0, expects = 0;
	for (size_t i = 0; i < c->found.count; i++)
		warnings += c->found.items[i].level == DIAGNOSTIC_WARNING;
	for (size_t i = 0; i < c->n_files; i++) {
		for (size_t r = 0; c->layer[i] && ruleset_rule(c->layer[i], r); r++)
			rules++;
		const struct expectation *e;
		for (size_t x = 0; c->layer[i] && (e = ruleset_expectation(c->layer[i], x)); x++)
			expects += e->depth == 0;
	}
	if (!c->json)
		printf("%zu rule%s, %zu expectation%s: %zu error%s, %zu warning%s\n", rules, tool_plural(rules), expects, tool_plural(expects),
		       c->found.errors, tool_plural(c->found.errors), warnings, tool_plural(warnings));
}

static int run(struct check *c)
{
	load(c);
	if (!c->found.errors && c->explain)
		return check_explain(c);
	if (!c->found.errors && c->plan)
		return check_plan(c);
	if (!c->found.errors) {
		check_expectations(c);
		check_lint(c);
	}
	print_findings(c);
	summary(c);
	return c->found.errors || (c->strict && c->found.count) ? 1 : 0;
}

static int check_main(int argc, char **argv)
{
	static const char *const agent[] = { "builtin:agent" };
	struct check *c = calloc(1, sizeof(*c));
	int status = c ? parse_arguments(argc, argv, c) : 2;
	if (!status) {
		if (!c->n_files) {
			c->files = agent;
			c->n_files = 1;
		}
		rule_variables(&c->variables);
		c->layer = calloc(c->n_files, sizeof(struct ruleset *));
		status = c->layer ? run(c) : 1;
		for (size_t i = 0; c->layer && i < c->n_files; i++)
			ruleset_free(c->layer[i]);
		free(c->layer);
		diagnostics_free(&c->found);
	}
	free(c);
	return status < 0 ? 0 : status;
}

const struct tool tool_check = {
	.name = "check",
	.usage = "[--explain QUESTION | --plan | --calls] [--ask CHANNEL] [--strict] [--json] [FILE...]",
	.summary = "lint rule files, test them, explain a decision",
	.main = check_main,
};
