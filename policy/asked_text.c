/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a question. Everything from the watched side goes through text_show(). */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policy/asked.h"
#include "rules/rule.h"

struct flag {
	uint64_t bit;
	const char *word;
};

/* O_* of the open family, in words. */
static const struct flag open_flags[] = {
	{ O_CREAT, "created if missing" }, { O_EXCL, "must not exist" }, { O_TRUNC, "emptied" },
	{ O_APPEND, "appending" }, { O_TMPFILE, "without a name" }, { O_NOFOLLOW, "not over a link" },
};

static void line(struct text_buffer *t, const char *label)
{
	text_add(t, "  %-9s ", label);
}

static void line_show(struct text_buffer *t, const char *label, struct span v, size_t most)
{
	line(t, label);
	text_show(t, v, most);
	text_add(t, "\n");
}

static struct span span_of(const char *s)
{
	return (struct span){ s, (uint32_t)strlen(s) };
}

static const struct flag rename_flags[] = {
	{ RENAME_NOREPLACE, "unless it exists" }, { RENAME_EXCHANGE, "both change places" },
	{ RENAME_WHITEOUT, "leaving a whiteout" },
};

static void add_flags(const struct asked *a, const struct flag *f, size_t n, struct text_buffer *t)
{
	for (size_t i = 0; i < n; i++) {
		if ((a->call.said & f[i].bit) == f[i].bit)
			text_add(t, ", %s", f[i].word);
	}
}

/* The question holds no more of a long one. */
static void add_value(const struct asked *a, struct text_buffer *t)
{
	uint64_t len = a->call.said >> SAYS_ABOVE;
	text_add(t, ", value ");
	text_show(t, a->call.value, ASKED_VALUE);
	if (len > a->call.value.len)
		text_add(t, " [...%" PRIu64 " bytes]", len);
}

static void add_marks(const struct asked *a, struct text_buffer *t)
{
	char text[CALL_FLAGS_TEXT];
	uint32_t project;
	if (call_flags_text(&a->call, text))
		text_add(t, ", flags %s", text);
	if (call_project(&a->call, &project))
		text_add(t, ", project %" PRIu32, project);
}

static void add_time(const struct asked *a, enum call_time which, const char *label, struct text_buffer *t)
{
	char text[CALL_TIME_TEXT];
	if (call_time_text(&a->call, which, text))
		text_add(t, "%s%s", label, text);
}

#define TEXT_SAID 240 /* characters of a link's text: it is the caller's, and the whole is in the journal */

void asked_flags(const struct asked *a, struct text_buffer *t)
{
	static const char *const access[] = { ", for reading", ", for writing", ", for reading and writing", "" };
	char said[SAYS_TEXT];
	if (strncmp(a->call.syscall, "rename", 6) == 0)
		add_flags(a, rename_flags, sizeof(rename_flags) / sizeof(rename_flags[0]), t);
	if (a->call.says == SAYS_OPEN) {
		text_add(t, "%s", a->call.said & O_PATH ? ", as a place" : access[a->call.said & O_ACCMODE]);
		add_flags(a, open_flags, sizeof(open_flags) / sizeof(open_flags[0]), t);
	}
	if (call_mode_text(&a->call, said))
		text_add(t, ", mode %s", said);
	if (call_owner_text(&a->call, said))
		text_add(t, ", owner %s", said);
	if (a->call.says == SAYS_MARKS)
		add_marks(a, t);
	if (a->call.says == SAYS_LENGTH)
		text_add(t, ", to %" PRIu64 " bytes", a->call.said);
	if (a->call.says == SAYS_LINK || a->call.says == SAYS_ATTRIBUTE) {
		text_add(t, a->call.says == SAYS_LINK ? ", a link to " : ", attribute ");
		text_show(t, a->call.text, TEXT_SAID);
	}
	if (a->call.value.bytes)
		add_value(a, t);
	add_time(a, CALL_ACCESSED, ", accessed ", t);
	add_time(a, CALL_MODIFIED, ", modified ", t);
}

static void text_objects(const struct asked *a, size_t most, struct text_buffer *t)
{
	for (uint32_t i = 0; i < a->call.n_objects; i++) {
		const struct object *o = &a->call.object[i];
		char ops[96];
		struct text_buffer words;
		text_start(&words, ops, sizeof(ops));
		text_ops(&words, o->ops);
		line(t, ops);
		text_object(t, o, most);
		text_add(t, "\n");
		bool same = o->named.len == o->name.len &&
			    (o->name.len == 0 || memcmp(o->named.bytes, o->name.bytes, o->name.len) == 0);
		if (o->named.bytes && !same)
			line_show(t, "named", o->named, most);
	}
}

static void text_caller(const struct asked *a, size_t most, struct text_buffer *t)
{
	const struct subject *by = &a->call.by;
	line(t, "by");
	text_word(t, by->image.exe, most);
	text_add(t, " (pid %d", by->pid);
	uint32_t count = asked_count(a);
	if (count > 1)
		text_add(t, ", asked %u times", count);
	text_add(t, ")\n");
	struct span called = call_called(&a->call);
	if (called.bytes)
		line_show(t, "called", called, most);
	if (a->call.argv.bytes)
		line_show(t, "args", a->call.argv.len ? a->call.argv : SPAN_LITERAL("\"\""), most);
	if (!by->n_ancestors || asked_fact(a, "ancestry").bytes)
		return;
	line(t, "under");
	for (uint32_t i = 0; i < by->n_ancestors && i < 6; i++) {
		text_add(t, "%s", i ? " < " : "");
		text_show(t, by->ancestors[i].exe, 80);
	}
	text_add(t, by->n_ancestors > 6 ? " < ...\n" : "\n");
}

/* A fact of several lines: each on its own line behind a bar, so that none looks like a line of usher's. */
static void line_lines(struct text_buffer *t, const char *label, struct span v, size_t most)
{
	const char *at = v.bytes, *end = v.bytes + v.len;
	for (unsigned n = 0; at < end; n++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			stop = end;
		line(t, n ? "" : label);
		text_add(t, "| ");
		text_show(t, (struct span){ n < FACT_LINES ? at : "...", n < FACT_LINES ? (uint32_t)(stop - at) : 3 }, most);
		text_add(t, "\n");
		if (n == FACT_LINES)
			return;
		at = stop + 1;
	}
}

bool fact_has_lines(const char *key)
{
	return strcmp(key, "script") == 0 || strcmp(key, "diff") == 0;
}

void asked_text(const struct asked *a, unsigned width, struct text_buffer *t)
{
	size_t most = width > 60 ? 4 * width : 240; /* a few lines each: what decides must be seen whole */
	line(t, "call");
	text_add(t, "%s", a->call.syscall);
	asked_flags(a, t);
	text_add(t, "\n");
	text_objects(a, most, t);
	text_caller(a, most, t);
	line_show(t, "rule", span_of(a->verdict.where ? a->verdict.where : "default"), most);
	if (a->verdict.rule && a->verdict.rule->reason)
		line_show(t, "reason", span_of(a->verdict.rule->reason), most);
	for (uint32_t i = 0; i < a->n_facts; i++) {
		char label[16];
		show_escape(span_of(a->facts[i].key), label, sizeof(label));
		if (fact_has_lines(a->facts[i].key))
			line_lines(t, label, a->facts[i].value, most / 4);
		else
			line_show(t, label, a->facts[i].value, most);
	}
}
