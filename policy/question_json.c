/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/question_json.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "policy/json_build.h"
#include "policy/limits.h"
#include "rules/rule.h"

#define LINE_FLAGS (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

struct json_object *json_span(struct span v)
{
	size_t need = show_escape(v, NULL, 0) + 1;
	char *text = malloc(need);
	if (!text)
		return NULL;
	show_escape(v, text, need);
	struct json_object *o = json_object_new_string(text);
	free(text);
	return o;
}

static void add_span(struct json_build *b, const char *key, struct span v)
{
	if (v.bytes)
		json_put(b, key, json_span(v));
}

static void add_text(struct json_build *b, const char *key, const char *v)
{
	if (v)
		add_span(b, key, (struct span){ v, (uint32_t)strlen(v) });
}

static struct json_object *json_ops(op_set ops)
{
	struct json_object *list = json_object_new_array();
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (ops & (1u << bit))
			list = json_append(list, json_object_new_string(op_name(bit)));
	}
	return list;
}

void json_put_name(struct json_build *b, const struct object *o, const char *tail)
{
	char endpoint[128];
	struct text_buffer t;
	text_start(&t, endpoint, sizeof(endpoint));
	if (o->kind == OBJECT_INET) {
		text_object(&t, o, 0);
		add_text(b, "object", endpoint);
		return;
	}
	size_t prefix = o->kind == OBJECT_UNIX ? 5 : o->kind == OBJECT_ABSTRACT ? 6 : 0;
	size_t need = prefix + show_escape(o->name, NULL, 0) + strlen(tail) + 1;
	char *text = malloc(need);
	if (!text) {
		b->broken = true;
		return;
	}
	memcpy(text, "unix:@", prefix);
	show_escape(o->name, text + prefix, need - prefix);
	strcat(text, tail);
	json_put(b, "object", json_object_new_string(text));
	free(text);
}

static struct json_object *json_objects(const struct asked *a)
{
	struct json_object *list = json_object_new_array();
	for (uint32_t i = 0; i < a->call.n_objects; i++) {
		struct json_build one = json_build_new();
		json_put(&one, "op", json_ops(a->call.object[i].ops));
		json_put_name(&one, &a->call.object[i], "");
		add_span(&one, "named", a->call.object[i].named);
		list = json_append(list, json_build_done(&one));
	}
	return list;
}

static void add_caller(struct json_build *b, const struct subject *by)
{
	json_put(b, "pid", json_object_new_int(by->pid));
	json_put(b, "tid", json_object_new_int(by->tid));
	json_put(b, "uid", json_object_new_int64(by->uid));
	add_span(b, "exe", by->image.exe);
	struct json_object *list = json_object_new_array();
	for (uint32_t i = 0; i < by->n_ancestors; i++)
		list = json_append(list, json_span(by->ancestors[i].exe));
	json_put(b, "ancestry", list);
}

static void add_facts(struct json_build *b, const struct asked *a)
{
	struct json_object *list = json_object_new_array();
	for (uint32_t i = 0; i < a->n_facts; i++) {
		struct json_build one = json_build_new();
		add_text(&one, "key", a->facts[i].key);
		add_span(&one, "value", a->facts[i].value);
		list = json_append(list, json_build_done(&one));
	}
	json_put(b, "facts", list);
}

static void add_filed(struct json_build *b, const struct filed *f)
{
	uint64_t now = clock_now_ns();
	uint64_t end = filed_deadline_ns(f);
	int64_t left = end > now ? (int64_t)((end - now) / 1000000000u) : 0;
	json_put(b, "id", json_object_new_uint64(f->id));
	add_text(b, "session", f->session);
	json_put(b, "asked", json_object_new_int64(f->asked_at));
	json_put(b, "left", json_object_new_int64(left));
	json_put(b, "count", json_object_new_int64(atomic_load(&f->count)));
}

static struct json_object *asked_json(const struct asked *a)
{
	struct json_build b = json_build_new();
	const struct rule *rule = a->verdict.rule;
	add_filed(&b, a->of);
	add_text(&b, "call", a->call.syscall);
	char flags[512];
	struct text_buffer t;
	text_start(&t, flags, sizeof(flags));
	asked_flags(a, &t);
	if (t.len > 2)
		add_text(&b, "flags", flags + 2);
	if (a->call.n_objects) {
		const struct object *first = &a->call.object[a->verdict.object < a->call.n_objects ? a->verdict.object : 0];
		json_put(&b, "op", json_ops(first->ops));
		json_put_name(&b, first, "");
		add_span(&b, "named", first->named);
	}
	if (a->call.n_objects > 1)
		json_put(&b, "objects", json_objects(a));
	add_span(&b, "argv0", call_called(&a->call));
	add_span(&b, "argv", a->call.argv);
	add_caller(&b, &a->call.by);
	add_text(&b, "rule", a->verdict.where);
	add_text(&b, "text", rule ? rule->text : NULL);
	add_text(&b, "reason", rule ? rule->reason : NULL);
	add_facts(&b, a);
	return json_build_done(&b);
}

struct json_object *question_json(struct filed *f)
{
	struct asked *a = filed_open(f);
	struct json_object *o = a ? asked_json(a) : NULL;
	asked_free(a);
	return o;
}

char *json_line(struct json_object *o, size_t *len)
{
	size_t n = 0;
	const char *text = o ? json_object_to_json_string_length(o, LINE_FLAGS, &n) : NULL;
	char *line = text ? malloc(n + 2) : NULL;
	if (!line)
		return NULL;
	memcpy(line, text, n);
	memcpy(line + n, "\n", 2);
	*len = n + 1;
	return line;
}

struct json_object *json_read(const char *line, size_t len)
{
	struct json_tokener *t = len < INT_MAX ? json_tokener_new_ex(8) : NULL;
	if (!t)
		return NULL;
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	struct json_object *o = json_tokener_parse_ex(t, line, (int)len);
	bool whole = o && json_object_is_type(o, json_type_object);
	for (size_t i = json_tokener_get_parse_end(t); whole && i < len; i++)
		whole = strchr(" \t\r\n", line[i]) && line[i];
	json_tokener_free(t);
	if (whole)
		return o;
	json_object_put(o);
	return NULL;
}

const char *json_text(struct json_object *o, const char *key)
{
	struct json_object *v;
	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return NULL;
	const char *s = json_object_get_string(v);
	return strlen(s) == (size_t)json_object_get_string_len(v) ? s : NULL;
}
