/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of usher log share: the arguments, and the ways to show a journal. */
#ifndef USHER_TOOLS_LOG_H
#define USHER_TOOLS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/render.h"

struct index;
struct query;

struct log {
	const char *dir;
	const char *other;  /* diff: the second session */
	const char **words; /* the query, or a command and its argument */
	size_t n_words;
	bool newest;        /* dir was not named */
	size_t shown;       /* records */
	struct query *query;
	bool json;
	bool follow;
	bool tree;
	bool timeline;
	bool colour;
	const char *keep;   /* prune: how long, e.g. 30d */
	char day[DAY_LEN + 1]; /* on which the session began, see log_day() */
	bool day_known;
};

typedef void (*log_fn)(void *context, const char *text, size_t len);

/* Every record of the journal in DIR, then (INTENTS) what is in flight. Returns 0 or a negative errno. */
int log_walk(const char *dir, bool intents, log_fn each, void *context);

/* After a name was not found: tells how many records have names that were redacted, which are not found by what was there, where there are any. */
void log_tell_redacted(const char *dir);

/*
 * The same, where an intent that stands in the chain is no record beside that of its outcome: those that have none come when the others are over, then
 * what is in flight.
 */
int log_walk_settled(const char *dir, log_fn each, void *context);

/* What is in flight alone. */
int log_walk_inflight(const char *dir, log_fn each, void *context);

/*
 * Every record that may answer the query, and others, by the index where there is one and that is quicker; then what is in flight.
 * Returns 0 or a negative errno. The second form compiles WORDS first.
 */
int log_find(const char *dir, const struct query *query, log_fn each, void *context);
int log_find_words(const char *dir, const char *const *words, size_t n, log_fn each, void *context);

/*
 * Calls ASK with the index, which is made anew when it is damaged (-EIO), and then again. Returns what ASK did, -ENOENT when there
 * is no index, or another negative errno when it cannot be used.
 */
typedef int (*log_index_fn)(void *context, struct index *x);
int log_by_index(const char *dir, log_index_fn ask, void *context);

/* Makes the index anew, and tells a terminal how far it is. */
int log_make_index(const char *dir);

/*
 * Prints a record as it stands in the journal, without a newline. Records are printable ASCII; what somebody else made of one must not reach a
 * terminal, and stands as \u00XX; what is no JSON is printed as {"damaged":TEXT}.
 * MUST: whoever prints bytes of a journal that audit/render.h has not been through prints them by this.
 */
void log_put(const char *text, size_t len);

/* A copy of LEN bytes with a NUL behind them; a line of a damaged journal may hold NULs itself. NULL without memory. */
char *log_copy(const char *text, size_t len);

/* The day on which the session began, for render_line(); NULL when its first record does not tell. */
const char *log_day(struct log *l);

/* Prints the record if it answers the query. CONTEXT is a struct log. */
void log_show(void *context, const char *text, size_t len);

/* The ways to show; each returns 0, or a negative errno, or 1 for what it has told itself. */
int log_tree(struct log *l);
int log_timeline(struct log *l);
int log_explain(struct log *l, uint64_t seq);
int log_prove(struct log *l, uint64_t seq);
int log_who_touched(struct log *l, const char *name);
int log_diff(struct log *l);
int log_prune(struct log *l);
int log_sessions(struct log *l);

/* Whether the form that the words name has every option that was given; if not, it is told. (log_forms.c) */
bool log_form_holds(const struct log *l);

/* Tells on standard error what is wrong with a word that query_new() refused. (log_words.c) */
void log_bad_word(const char *bad);

#endif
