/* SPDX-License-Identifier: Apache-2.0 */
/* Questions and answers as JSON, for helpers and the desk. The fields are described in usher-desk(5). */
#ifndef USHER_POLICY_QUESTION_JSON_H
#define USHER_POLICY_QUESTION_JSON_H

#include <limits.h>

#include "policy/channel.h"

struct json_object;

struct json_build;
struct object;
struct span;

/* Bytes as a string, escaped as show_escape() does. NULL without memory. */
struct json_object *json_span(struct span v);
/* Puts O's name under "object", as rules have it, TAIL behind it. */
void json_put_name(struct json_build *b, const struct object *o, const char *tail);

/* The question as an object (json_object_put() it), or NULL. Names are escaped as show_escape() does: printable ASCII only. */
struct json_object *question_json(struct filed *f);

/* As one line with a newline, in malloc memory, or NULL. */
char *json_line(struct json_object *o, size_t *len);

/* One line from an untrusted writer; NULL unless it is exactly one JSON object. */
struct json_object *json_read(const char *line, size_t len);

/* Strings of an object: NULL when absent or of another type. */
const char *json_text(struct json_object *o, const char *key);

/* "90", "90s", "10m", "2h" in seconds; 0 when it is none of these or longer than a year. */
uint32_t duration_parse(const char *text);

struct answer_read {
	struct settlement settlement;
	char directory[PATH_MAX]; /* what settlement.directory points to */
	char pattern[PATH_MAX];   /* and settlement.pattern */
};

/*
 * An answer: {"answer":"allow|deny|kill|rewrite", "scope":"once|time|tree|session|always", "for":"10m", "message":..., "target":...,
 * "directory":..., "pattern":...}. channel and who stay empty. Returns 0, or -EINVAL with *why (static).
 */
int answer_json(struct json_object *o, struct answer_read *out, const char **why);

#endif
