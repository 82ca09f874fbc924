/* SPDX-License-Identifier: Apache-2.0 */
/* From words to rules. What the files of the parser share. */
#ifndef USHER_RULES_PARSER_H
#define USHER_RULES_PARSER_H

#include "rules/compiled.h"
#include "rules/lexer.h"

#define INCLUDE_DEPTH 16U
#define INCLUDE_FILES 256U

/* Bounds on what a file can make usher allocate. */
#define RULES_MEMORY (256U * 1024 * 1024)
#define RULES_MAX 200000U
#define RULE_PATTERNS 100000U

/* One file on the way in, innermost first. */
struct inclusion {
	const struct inclusion *by;
	const char *name;
};

struct parser {
	struct ruleset *rs;
	struct diagnostics *found;
	struct variables *variables;
	const struct inclusion *file;
	struct lexer *lexer;
	struct arena scratch; /* words of one line */
	uint32_t depth;
	bool builtin;
	bool tested;          /* see struct ruleset_source */
	int error;            /* -ENOMEM, or the first file that could not be read */
	const char *default_where; /* of this file's own default */
};

/* Reports an error at byte AT of the source; always returns 1. */
int parser_fail(struct parser *p, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* statements.c: parses all lines of a source. Returns 0 or -ENOMEM; errors are in FOUND. */
int parse_source(struct parser *p, const struct source *source);

/* rule_parser.c: VERDICT OPERATION PATTERN... [OPTION...]. All of these return 0, 1 (reported) or -ENOMEM. */
int parse_rule(struct parser *p, const struct line *line, enum verdict_kind kind);

/* object_parser.c: the patterns one word stands for, appended to LIST. */
struct pattern_list {
	struct pattern *item;
	uint32_t n, room;
	bool each; /* what is ruled of a process's own files (/proc/self) is ruled of every process's */
};
int parse_patterns(struct parser *p, const struct word *w, op_set ops, struct pattern_list *list);

/* A list of programs for by= tree= (SEP '/') and argv= (SEP ' '): the units of W from SKIP on. */
int parse_globs(struct parser *p, const struct word *w, size_t skip, char sep, const struct glob **out, uint32_t *n);

/* What a rewrite leads to: the word behind ->, for a rule whose one pattern is FROM (as written: W_FROM). */
int parse_target(struct parser *p, const struct word *w, op_set ops, const struct pattern *from, const struct rewrite **out);

/* option_parser.c: whether W is an option; and its meaning. */
bool is_option(const struct word *w);
bool is_flag_word(const struct word *w); /* one that takes no value */
/* The option that W, letters and digits alone, was probably meant to be, or NULL, into *out. Returns 0 or -ENOMEM. */
int option_meant(struct parser *p, const struct word *w, const char **out);
int parse_option(struct parser *p, const struct word *w, struct compiled_rule *rule, struct conditions *when);
int check_options(struct parser *p, const struct line *line, const struct compiled_rule *rule, uint32_t given);

/*
 * exec_edit.c: args= (W's units from SKIP on), argv0=, and, when all options are known (AT: where to report), what ** stands for.
 */
int parse_args(struct parser *p, const struct word *w, size_t skip, struct compiled_rule *rule);
int parse_argv0(struct parser *p, const char *value, struct compiled_rule *rule);
int finish_edit(struct parser *p, size_t at, const struct conditions *when, struct compiled_rule *rule);

/* braces.c: W's units from SKIP on with {a,b} expanded. EACH is told of every form; a non-zero return ends it. */
typedef int (*form_fn)(void *context, const glob_unit *units, size_t n);
int expand_braces(struct parser *p, const struct word *w, size_t skip, form_fn each, void *context);

/*
 * suggest.c: of the NULL-terminated KNOWN words (without '=', that says a value follows) the one that WORD was probably meant to be, or NULL;
 * and all of them, as "a, b or c".
 */
#define WORD_LIST 384
const char *suggest(const char *word, const char *const *known);
const char *list_words(char out[WORD_LIST], const char *const *known);

/* As parser_fail(), with the word that was probably meant. WORD NULL: none is there. */
int parser_fail_word(struct parser *p, size_t at, const char *word, const char *const *known, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* "ENOENT" to its number; 0 when there is none of that name. */
int errno_parse(const char *name);

/* limits.c: a limit line. */
int parse_limit(struct parser *p, const struct line *line);

/* environment.c: an env line. */
int parse_env(struct parser *p, const struct line *line);

/* query.c: the rest of an expect line from word FIRST on. */
int parse_expect(struct parser *p, const struct line *line);

#endif
