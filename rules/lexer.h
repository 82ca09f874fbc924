/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the rule language: comments, continued lines, quotes, escapes and variables are dealt with here. */
#ifndef USHER_RULES_LEXER_H
#define USHER_RULES_LEXER_H

#include "rules/glob.h"
#include "rules/source.h"
#include "rules/variables.h"

struct word {
	const glob_unit *units; /* variables put in */
	uint32_t n;
	uint32_t from; /* bytes FROM .. TO of the source as written */
	uint32_t to;
	bool quoted;   /* some part was in quotes */
};

/* A rule or statement has at most this many words, and a word this many bytes. */
#define LINE_WORDS 4096
#define WORD_UNITS 16384U

struct line {
	struct word *word;
	size_t n;
	uint32_t from; /* bytes of the source, continuation lines included */
	uint32_t to;
	bool broken;   /* an error was reported: do not parse it */
};

struct lexer {
	const struct source *source;
	struct variables *variables;
	struct diagnostics *found;
	struct arena *arena;   /* words live here */
	size_t at;
	uint32_t line_number;  /* of the byte LINE_START, from 1 */
	size_t line_start;
	bool tested;           /* lines that expect something are passed over */
	size_t first_end;      /* where the first of the line's continued lines ends */
};

/* The next line that has words. Returns 1 with *out set, 0 at the end, -ENOMEM. */
int lexer_next(struct lexer *lx, struct line *out);

/* Where byte AT (of the current line) stands; for messages. */
struct place lexer_place(const struct lexer *lx, size_t at);

/* Whether W is exactly this plain text. */
bool word_is(const struct word *w, const char *text);

/* W's bytes from unit SKIP on as a NUL-terminated string from A; NULL when memory ran out. */
char *word_text(struct arena *a, const struct word *w, size_t skip);

#endif
