/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that do not go into the journal as they are: tokens, keys, and what stands behind the words of redact
 * lines. In the record's text a value is replaced by <redacted:COMMITMENT>, where COMMITMENT is the BLAKE2b-256 of its
 * bytes keyed with a random salt of its own; salt and value go to a file beside the journal, by which its holder can prove
 * later what was there.
 *
 * MUST: the text stays injective (a name that holds "<redacted:" is redacted behind it); the file is its owner's alone.
 */
#ifndef USHER_AUDIT_REDACT_H
#define USHER_AUDIT_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "audit/digest.h"
#include "rules/call.h"

#define REDACT_OPEN "<redacted:"
#define REDACT_LEN (sizeof REDACT_OPEN - 1 + DIGEST_HEX + 1)

struct redactor;

/* With the set of tokens and keys that is always there. SALTS names the file, made when the first value is met. 0 or -ENOMEM. */
int redactor_new(const char *salts, struct redactor **out);
void redactor_free(struct redactor *r);

/* Makes and opens the file now: for where the threads that meet values cannot reach it by name. 0 or a negative errno. */
int redactor_open(struct redactor *r);

/* How many values could not be kept in the file so far, and why the first of them: a positive errno, 0 where all were. Any thread. Safe on NULL. */
unsigned redactor_lost(const struct redactor *r, int *error);

/*
 * What stands behind LEAD (at least three bytes) is a value, up to a blank, a quote, '&' or ';'. The case of letters does not
 * count; a blank in LEAD is also one between two arguments. 0, -EINVAL or -ENOMEM. Before the first redact_find().
 */
int redactor_add(struct redactor *r, const char *lead);

/* The first value in N BYTES from FROM on. Any thread. */
bool redact_find(const struct redactor *r, const char *bytes, size_t n, size_t from, size_t *at, size_t *len);

/* The same in the arguments that PROGRAM (its names, an empty one ends them) was given, with the options of well-known programs. */
bool redact_find_given(const struct redactor *r, const struct span program[2], const char *bytes, size_t n, size_t from, size_t *at,
		       size_t *len);

/*
 * How many of the N BYTES that PROGRAM was given are kept where only MOST can be: what ends within a secret ends before it, as many are not found
 * without their end. R may be NULL.
 */
size_t redact_cut(const struct redactor *r, const struct span program[2], const char *bytes, size_t n, size_t most);

/* Whether the argument ends in a lead whose blank is the end of the argument: the next argument is a value. */
bool redact_follows(const struct redactor *r, const char *bytes, size_t n);

/* Whether argument I of ARGV is to be left out whole: by the argument before it, or as an option of a well-known program. */
bool redact_argument(const struct redactor *r, char *const *argv, size_t i);

/* Keeps N bytes of VALUE with a new salt and writes REDACT_LEN bytes to OUT. Any thread. */
void redact_commit(struct redactor *r, const char *value, size_t n, char *out);

#endif
