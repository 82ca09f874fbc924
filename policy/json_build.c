/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/json_build.h"

#include <json-c/json.h>

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
