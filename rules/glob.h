/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern over names or argument lists, compiled to a short program. The
 * program is what the index is built from and what decides where no index is used.
 */
#ifndef USHER_RULES_GLOB_H
#define USHER_RULES_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/arena.h"

/* One byte of a pattern as written; GLOB_LITERAL marks what stands for itself (escapes, variables). */
typedef uint16_t glob_unit;
#define GLOB_LITERAL 0x100

enum glob_op {
	GLOB_BYTE = 1, /* this byte, not a separator */
	GLOB_SEP,      /* the separator */
	GLOB_ANY,      /* ?: one byte that is no separator */
	GLOB_CLASS,    /* [...]: one byte of a class, no separator */
	GLOB_STAR,     /* *: any bytes up to a separator */
	GLOB_ALL,      /* **: any bytes */
	GLOB_DIRS,     /* component ** with more behind: nothing, or components with their separators */
	GLOB_TAIL,     /* separator before a last **: the end, or a separator; GLOB_ALL follows */
};

/* Small: rules have some hundred thousand, and a page that is touched for the first time costs a microsecond. */
struct glob_token {
	uint8_t op;
	union {
		uint8_t byte;
		uint8_t class; /* its number: of GLOB_CLASS */
	};
};

struct glob_class {
	uint8_t bits[32];
};

struct glob {
	const struct glob_token *token;
	const struct glob_class *class;
	const char *literal; /* the bytes it matches when it matches exactly one name, else NULL; a slash stands before them */
	uint16_t n;          /* tokens */
	uint16_t prefix;     /* leading tokens that are bytes or separators */
	char sep;            /* '/' or ' ' */
};

/* Longest program: a name of PATH_MAX bytes and then some. */
#define GLOB_TOKENS 4200

/* What is wrong with a pattern, and at which unit. */
struct glob_error {
	const char *message;
	size_t at;
};

/*
 * Compiles N units. SEP is '/' for names (without the leading slash of an absolute
 * one) or ' ' for argument lists. Returns 0, 1 with *wrong set, or -ENOMEM.
 */
int glob_compile(struct arena *a, const glob_unit *units, size_t n, char sep, struct glob_error *wrong,
		 struct glob *out);

/* Leading tokens of G that are whole literal components: all of a literal, "usr" of usr and all below, none of us*. */
uint32_t glob_literal_components(const struct glob *g);

/* G with its first WHOLE tokens (glob_literal_components) replaced by N literal units. 0, 1 (too long) or -ENOMEM. */
int glob_graft(struct arena *a, const glob_unit *units, size_t n, const struct glob *g, uint32_t whole, struct glob *out);

/* Whether the whole of the LEN bytes at NAME match. Does not allocate. */
bool glob_match(const struct glob *g, const char *name, size_t len);

/* Whether TOKENS[0..N) of G match the whole of LEN bytes; for parts of a program. */
bool glob_match_part(const struct glob *g, const struct glob_token *tokens, size_t n, const char *name, size_t len);

/* As above for tokens of one component (no separator, no **): quick. */
bool glob_match_component(const struct glob *g, const struct glob_token *tokens, size_t n, const char *name,
			  size_t len);

/* Whether WIDE matches everything NARROW can match. May say no where the truth is yes. */
bool glob_covers(const struct glob *wide, const struct glob *narrow);

#endif
