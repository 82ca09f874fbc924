/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/desk_text.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/asked.h"
#include "policy/question_json.h"
#include "policy/show.h"
#include "rules/cleanup.h"
#include "tools/desk_client.h"

#define FIELD 20000 /* characters of a value; any name has room */

void desk_text_id(pid_t session, struct json_object *question, char *buf, size_t cap)
{
	struct text_buffer t;
	text_start(&t, buf, cap);
	text_add(&t, "%d:%llu", session, (unsigned long long)desk_number(question, "id"));
}

/* A value that is too long loses its middle, as on a terminal, and that is said: its end may be what matters. */
static void add_long(struct text_buffer *t, const char *text)
{
	size_t cap = strlen(text);
	CLEANUP_FREE char *bytes = malloc(cap);
	long n = bytes ? show_unescape(text, bytes, cap) : -1;
	if (n < 0)
		text_add(t, "[too long to be shown]");
	else
		text_show(t, (struct span){ bytes, (uint32_t)n }, FIELD - 1);
}

static void add_field(struct text_buffer *t, struct json_object *o, const char *key)
{
	char value[FIELD];
	const char *text = o ? json_text(o, key) : NULL;
	if (text && strlen(text) >= sizeof(value))
		add_long(t, text);
	else
		text_add(t, "%s", desk_field(o, key, value, sizeof(value)));
}

/* The items of a list of words, joined. */
static void add_list(struct text_buffer *t, struct json_object *o, const char *key, const char *between)
{
	struct json_object *list;
	if (!json_object_object_get_ex(o, key, &list) || !json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		char word[1024] = "";
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));
		struct text_buffer w;
		text_start(&w, word, sizeof(word));
		text_add(&w, "%s", text ? text : "");
		show_clean(word);
		text_add(t, "%s%s", i ? between : "", word);
	}
}

static bool has_items(struct json_object *o, const char *key)
{
	struct json_object *list;
	return json_object_object_get_ex(o, key, &list) && json_object_is_type(list, json_type_array) && json_object_array_length(list) > 0;
}

size_t desk_text_line(struct json_object *q, char *buf, size_t cap)
{
	struct text_buffer t;
	text_start(&t, buf, cap);
	add_list(&t, q, "op", "+");
	text_add(&t, " ");
	add_field(&t, q, "object");
	size_t alone = t.len;
	text_add(&t, " by ");
	add_field(&t, q, "exe");
	unsigned long long count = desk_number(q, "count");
	if (count > 1)
		text_add(&t, " (%llu times)", count);
	return alone;
}

static void add_line(struct text_buffer *t, struct json_object *q, const char *key)
{
	if (!json_text(q, key) || !*json_text(q, key))
		return;
	text_add(t, "%-10s", key);
	add_field(t, q, key);
	text_add(t, "\n");
}

/* The same of arguments: one that is there and empty is seen. */
static void add_whole_line(struct text_buffer *t, struct json_object *q, const char *key)
{
	const char *value = json_text(q, key);
	if (value && !*value)
		text_add(t, "%-10s\"\"\n", key);
	else
		add_line(t, q, key);
}

static void add_objects(struct text_buffer *t, struct json_object *q)
{
	struct json_object *list;
	if (!json_object_object_get_ex(q, "objects", &list) || !json_object_is_type(list, json_type_array)) {
		text_add(t, "%-10s", "object");
		add_list(t, q, "op", "+");
		text_add(t, " ");
		add_field(t, q, "object");
		text_add(t, "\n");
		add_line(t, q, "named");
		return;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		text_add(t, "%-10s", "object");
		add_list(t, o, "op", "+");
		text_add(t, " ");
		add_field(t, o, "object");
		text_add(t, "\n");
		add_line(t, o, "named");
	}
}

/* Escaped text whose newlines are the lines that people read: each behind a bar, so that none looks like a line of ours. */
static void add_lines(struct text_buffer *t, const char *key, const char *value)
{
	for (unsigned n = 0; *value; n++) {
		const char *stop = value;
		while (*stop && strncmp(stop, "\\n", 2) != 0)
			stop += stop[0] == '\\' && stop[1] ? 2 : 1;
		text_add(t, "%-9s | %.*s\n", n ? "" : key, n < FACT_LINES ? (int)(stop - value) : 3, n < FACT_LINES ? value : "...");
		if (n == FACT_LINES)
			return;
		value = *stop ? stop + 2 : stop;
	}
}

static void add_facts(struct text_buffer *t, struct json_object *q)
{
	char value[FIELD];
	struct json_object *list;
	if (!json_object_object_get_ex(q, "facts", &list) || !json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *fact = json_object_array_get_idx(list, i);
		char key[64];
		if (fact_has_lines(desk_field(fact, "key", key, sizeof(key)))) {
			add_lines(t, key, desk_field(fact, "value", value, sizeof(value)));
			continue;
		}
		text_add(t, "%-9s ", desk_field(fact, "key", key, sizeof(key)));
		add_field(t, fact, "value");
		text_add(t, "\n");
	}
}

static bool has_fact(struct json_object *q, const char *key)
{
	struct json_object *list;
	char have[64];
	if (!json_object_object_get_ex(q, "facts", &list) || !json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		if (strcmp(desk_field(json_object_array_get_idx(list, i), "key", have, sizeof(have)), key) == 0)
			return true;
	}
	return false;
}

void desk_text_all(struct json_object *q, char *buf, size_t cap)
{
	struct text_buffer t;
	text_start(&t, buf, cap);
	add_line(&t, q, "session");
	text_add(&t, "%-10s", "call");
	add_field(&t, q, "call");
	text_add(&t, "%s", json_text(q, "flags") ? ", " : "");
	add_field(&t, q, "flags");
	text_add(&t, "\n");
	add_objects(&t, q);
	text_add(&t, "%-10s", "by");
	add_field(&t, q, "exe");
	text_add(&t, " (pid %llu, uid %llu)\n", (unsigned long long)desk_number(q, "pid"),
		 (unsigned long long)desk_number(q, "uid"));
	add_whole_line(&t, q, "argv0");
	add_whole_line(&t, q, "argv");
	if (!has_fact(q, "ancestry") && has_items(q, "ancestry")) {
		text_add(&t, "%-10s", "under");
		add_list(&t, q, "ancestry", " < ");
		text_add(&t, "\n");
	}
	add_line(&t, q, "rule");
	add_line(&t, q, "text");
	add_line(&t, q, "reason");
	add_facts(&t, q);
	unsigned long long count = desk_number(q, "count");
	if (desk_number(q, "id") && !json_text(q, "answer") && count > 1)
		text_add(&t, "%-10s%llu callers wait for this answer\n", "count", count);
	add_line(&t, q, "mark");
	add_line(&t, q, "answer");
	add_line(&t, q, "scope");
	add_line(&t, q, "channel");
	add_line(&t, q, "who");
	add_line(&t, q, "message");
}

/* A name may have stars, too: what is more than a name is said to be. */
static void add_covered(struct text_buffer *t, struct json_object *g)
{
	static const char *const wide[] = { "directory", "pattern" };
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
		if (!json_text(g, wide[i]))
			continue;
		text_add(t, "%s ", wide[i]);
		add_field(t, g, wide[i]);
		return;
	}
	add_field(t, g, "object");
}

static void add_word(struct text_buffer *t, struct json_object *o, const char *key, const char *word)
{
	const char *value = json_text(o, key);
	if (!value)
		return;
	text_add(t, " %s ", word);
	if (*value)
		add_field(t, o, key);
	else
		text_add(t, "\"\"");
}

void desk_text_grant(struct json_object *g, char *buf, size_t cap)
{
	struct text_buffer t;
	text_start(&t, buf, cap);
	add_field(&t, g, "answer");
	text_add(&t, " ");
	add_field(&t, g, "op");
	text_add(&t, " ");
	add_covered(&t, g);
	text_add(&t, " by ");
	add_field(&t, g, "exe");
	add_word(&t, g, "argv0", "as");
	add_word(&t, g, "argv", "args");
	text_add(&t, ", ");
	add_field(&t, g, "scope");
	unsigned long long left = desk_number(g, "left"), tree = desk_number(g, "tree");
	if (left)
		text_add(&t, " %llu s left", left);
	if (tree)
		text_add(&t, " of %llu", tree);
	text_add(&t, " (");
	add_field(&t, g, "who");
	text_add(&t, ")");
}

void desk_text_review(struct json_object *v, char *buf, size_t cap)
{
	struct text_buffer t;
	char mark[8];
	text_start(&t, buf, cap);
	text_add(&t, "%-5s %4llux ", desk_field(v, "mark", mark, sizeof(mark)), (unsigned long long)desk_number(v, "count"));
	add_list(&t, v, "op", "+");
	text_add(&t, " ");
	add_field(&t, v, "object");
	text_add(&t, " by ");
	add_field(&t, v, "exe");
	text_add(&t, " (");
	add_field(&t, v, "rule");
	text_add(&t, ")");
}

void desk_text_past(struct json_object *p, char *buf, size_t cap)
{
	struct text_buffer t;
	char when[16] = "";
	time_t at = (time_t)desk_number(p, "at");
	struct tm tm;
	if (localtime_r(&at, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	text_start(&t, buf, cap);
	text_add(&t, "%s ", when);
	add_field(&t, p, "answer");
	text_add(&t, " ");
	add_field(&t, p, "scope");
	text_add(&t, ": ");
	add_list(&t, p, "op", "+");
	text_add(&t, " ");
	add_field(&t, p, "object");
	text_add(&t, " by ");
	add_field(&t, p, "exe");
	text_add(&t, " (");
	add_field(&t, p, "channel");
	text_add(&t, " ");
	add_field(&t, p, "who");
	text_add(&t, ")");
}
