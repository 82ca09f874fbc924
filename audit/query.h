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

struct query;

/* Compiles N words. Returns 0, or -EINVAL with *bad the word that is none, or -ENOMEM. NOW is in ns since 1970. */
int query_new(const char *const *words, size_t n, uint64_t now, struct query **out, const char **bad);
void log_query_free(struct query *q);

/* Whether the record TEXT answers Q. */
bool query_match(const struct query *q, const char *text, size_t len);

/* Shell-like match of bytes: * within a component, ** across, ?, [a-z], {a,b}; a glob that ends in / ** also means what stands before. */
bool query_glob(const char *glob, const char *bytes, size_t n);

#endif
