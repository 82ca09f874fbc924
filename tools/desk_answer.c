/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/desk_answer.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "policy/question_json.h"

static void add(struct json_object *o, const char *key, const char *value)
{
	if (value)
		json_object_object_add(o, key, json_object_new_string(value));
}

static struct json_object *request(const char *what, uint64_t id, const struct desk_answer *a)
{
	struct json_object *o = desk_make(what, "id", id);
	add(o, "answer", a->word);
	if (a->scope && a->scope[0] >= '0' && a->scope[0] <= '9') {
		add(o, "scope", "time");
		add(o, "for", a->scope);
	} else {
		add(o, "scope", a->scope);
	}
	add(o, "directory", a->directory);
	add(o, "pattern", a->pattern);
	add(o, "message", a->message);
	add(o, "target", a->target);
	return o;
}

int desk_answer(struct desk_session *s, uint64_t id, const struct desk_answer *a, char *error, size_t cap)
{
	const char *said;
	struct json_object *reply = desk_request(s, request("answer", id, a));
	bool good = desk_ok(reply, &said);
	snprintf(error, cap, "%s", good ? "" : said);
	json_object_put(reply);
	return good ? 0 : -1;
}

/* The rules are lines of printable ASCII; anything else is not shown. */
static void copy_lines(char *out, size_t cap, const char *text)
{
	size_t n = 0;
	for (; text && *text && n + 1 < cap; text++)
		out[n++] = *text == '\n' || (*text >= 0x20 && *text < 0x7f) ? *text : '?';
	out[n] = '\0';
}

int desk_answer_rule(struct desk_session *s, uint64_t id, const struct desk_answer *a, char *text, size_t cap, char *file,
		     size_t file_cap)
{
	const char *said;
	struct json_object *reply = desk_request(s, request("rule", id, a));
	bool good = desk_ok(reply, &said);
	copy_lines(text, cap, good ? json_text(reply, "text") : said);
	desk_field(reply, "file", file, file_cap);
	json_object_put(reply);
	return good ? 0 : -1;
}
