/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries over records: words that must all hold.
 *
 *   denied asked failed alert in-flight    what became of it
 *   path:GLOB by:NAME op:OP call:NAME pid:N verdict:V rule:TEXT type:T result:R seq:A-B
 *   since:10m until:TIME                   a span back from now (s m h d), or a time as records have it
 *   !WORD                                  not so;  a word that begins with / is path:
 *
 * MUST: a query never allocates while it matches; names are compared as bytes, unescaped.
 */
#ifndef USHER_AUDIT_QUERY_H
#define USHER_AUDIT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field;
struct query;

/* What a word of a query looks at: the values that an index keeps. */
enum query_key {
	KEY_NONE = 0, /* nothing that narrows: what is not so */
	KEY_NAME,     /* object, named, to and given, of every object */
	KEY_EXE,
	KEY_OP, /* each of the list */
	KEY_CALL,
	KEY_VERDICT,
	KEY_TYPE,
	KEY_RESULT,
	KEY_EVENT,
	KEY_TASK, /* pid and tid */
	KEY_RULE,
	KEY_LOG,
	KEY_ANSWER, /* whether there is one */
	KEY_INTENT,
	KEY_MOVE,   /* whether the call moves or links names */
	KEY_VALUES, /* those above are values, these are ranges: */
	KEY_TIME = KEY_VALUES,
	KEY_SEQ,
};

/* Compiles N words. Returns 0, or -EINVAL with *bad the word that is none, or -ENOMEM. NOW is in ns since 1970. */
int query_new(const char *const *words, size_t n, uint64_t now, struct query **out, const char **bad);
void log_query_free(struct query *q);

/* Whether the record TEXT answers Q. */
bool query_match(const struct query *q, const char *text, size_t len);

/* The key of a record's field, KEY_NONE for those that no word looks at. */
enum query_key query_key_of(const struct field *f);

/*
 * Word by word, for an index. Word I < query_words(Q) looks at query_word_key(); where that is a value, a record answers the word
 * exactly if one of its values does; where it is a range, if the number is in it.
 */
size_t query_words(const struct query *q);
enum query_key query_word_key(const struct query *q, size_t i);
bool query_value(const struct query *q, size_t i, const struct field *value);
void query_range(const struct query *q, size_t i, uint64_t *low, uint64_t *high);
/* The name F without the word that says it is a socket, where that is a file's; else F. */
struct field query_path(const struct field *f);
/* The one name that word I means, in bytes; NULL when it is a pattern or looks at something else. */
const char *query_literal(const struct query *q, size_t i);

/*
 * Shell-like match of bytes: * within a component, ** across, ?, [a-z], {a,b}; as in rules, a whole component ** is none, too: a glob that
 * ends in / ** also means what stands before.
 */
bool query_glob(const char *glob, const char *bytes, size_t n);

#endif
