/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/json_build.h"

#include <json-c/json.h>
#include <string.h>

struct json_build json_build_of(struct json_object *o)
{
	return (struct json_build){ .o = o, .broken = !o };
}

struct json_build json_build_new(void)
{
	return json_build_of(json_object_new_object());
}

void json_put(struct json_build *b, const char *key, struct json_object *v)
{
	if (!b->broken && v && json_object_object_add(b->o, key, v) == 0)
		return;
	json_object_put(v);
	b->broken = true;
}

struct json_object *json_build_done(struct json_build *b)
{
	if (!b->broken)
		return b->o;
	json_object_put(b->o);
	return NULL;
}

struct json_object *json_append(struct json_object *list, struct json_object *v)
{
	if (list && v && json_object_array_add(list, v) == 0)
		return list;
	json_object_put(v);
	json_object_put(list);
	return NULL;
}

struct json_list json_list_new(size_t most)
{
	return (struct json_list){ .o = json_object_new_array(), .most = most };
}

bool json_list_room(struct json_list *l)
{
	bool room = l->used < l->most;
	l->left_off += !room;
	return room;
}

/* Nearly: long texts are arguments, and not written out to be counted. */
static size_t length_of(struct json_object *o)
{
	size_t all = 0;
	json_object_object_foreach(o, key, v) {
		size_t n = 0;
		if (json_object_is_type(v, json_type_string))
			n = (size_t)json_object_get_string_len(v);
		else
			(void)json_object_to_json_string_length(v, JSON_C_TO_STRING_PLAIN, &n);
		all += strlen(key) + n;
	}
	return all;
}

void json_list_add(struct json_list *l, struct json_object *v)
{
	if (v)
		l->used += length_of(v);
	l->o = json_append(l->o, v);
}

void json_put_list(struct json_build *b, const char *key, struct json_list *l)
{
	json_put(b, key, l->o);
	if (l->left_off)
		json_put(b, "more", json_object_new_int64(l->left_off));
}
