/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands about rule files share. */
#ifndef USHER_TOOLS_RULE_FILES_H
#define USHER_TOOLS_RULE_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "policy/policy.h"
#include "rules/user.h"

/* The variables a rule file starts with, as usher run sets them. Not to be copied: it points into itself. */
struct rule_variables {
	struct variable item[5];
	size_t n;
	char home[PATH_MAX];
	char pwd[PATH_MAX];
	char tmp[PATH_MAX];
	char uid[16];
	char user[USER_NAME];
};

void rule_variables(struct rule_variables *out);

/* What usher check was asked for. */
struct check {
	const char *const *files;
	size_t n_files;
	const char *explain; /* NULL: lint */
	const char *channel; /* --ask: who would answer; NULL: not said */
	bool json;
	bool strict;
	bool plan;
	const char *grants;  /* --explain: the file of answers for ever; NULL: none */
	struct rule_variables variables;
	struct ruleset **layer; /* n_files, as loaded */
	struct diagnostics found;
};

/* Warnings about what is written in the files that were loaded; appended to c->found. (check_lint.c) */
void check_lint(struct check *c);

/*
 * Whether the rules let a directory above (or at) a pattern of RULE, a refusal to run what lies below, be renamed so that the refusal does not
 * reach it any more: *column of the pattern, and in words in OUT. What a rename must not gain otherwise usher sees to. (lint_rename.c)
 */
bool check_renames(const struct check *c, const struct rule *rule, uint32_t *column, char *out, size_t cap);

/*
 * Whether RULE of layer number LAYER gives sockets past what rules say of addresses, or ones that another layer withholds: in words in
 * OUT. (lint_sockets.c)
 */
bool check_sockets(const struct check *c, size_t layer, const struct rule *rule, char *out, size_t cap);

/* Expect lines that do not hold, as errors. (check_lint.c) */
void check_expectations(struct check *c);

/* Prints what decides the question, and what it beat. Returns the exit status. (check_explain.c) */
int check_explain(struct check *c);

/* Where each call is decided under these rules. Returns the exit status. (check_plan.c) */
int check_plan(struct check *c);

/* The table of calls, in Markdown. (check_calls.c) */
void check_calls(FILE *to);

/* N bytes as text that is printable ASCII and looks like no other bytes: as in the journal (audit/escape.h). */
void put_text(const char *bytes, size_t n, FILE *to);

/* The same of NAME, for a message: malloc'd, NULL without memory. */
char *shown_name(const char *name);

/* The same as a JSON string with quotes. */
void put_json(const char *bytes, size_t n, FILE *to);

#endif
