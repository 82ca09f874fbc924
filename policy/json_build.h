/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON objects under construction. MUST: memory that runs out is an end of the object, not of usher (json-c itself asserts), and half an
 * object is never sent: what could not be added leaves it broken, and then there is none.
 */
#ifndef USHER_POLICY_JSON_BUILD_H
#define USHER_POLICY_JSON_BUILD_H

#include <stdbool.h>
#include <stddef.h>

struct json_object;

struct json_build {
	struct json_object *o;
	bool broken;
};

struct json_build json_build_new(void);

/* Goes on with O, which it takes over; NULL is broken. */
struct json_build json_build_of(struct json_object *o);

/* Puts V, which it takes over, under KEY; NULL breaks. */
void json_put(struct json_build *b, const char *key, struct json_object *v);

/* The object, the caller's, or NULL when it is broken. */
struct json_object *json_build_done(struct json_build *b);

/* A list that is to be not much longer than MOST characters, and how many had no room in it. */
struct json_list {
	struct json_object *o;
	size_t used, most;
	unsigned left_off;
};

struct json_list json_list_new(size_t most);

/* Whether one more has room; else it is counted. What comes first always has. */
bool json_list_room(struct json_list *l);

/* Takes V into L. Without memory L->o is NULL from then on. */
void json_list_add(struct json_list *l, struct json_object *v);

/* Puts L under KEY, and under "more" how many were left off, if any. */
void json_put_list(struct json_build *b, const char *key, struct json_list *l);

/* Takes V into LIST. Returns LIST, or NULL (both are put) when either is missing. */
struct json_object *json_append(struct json_object *list, struct json_object *v);

#endif
