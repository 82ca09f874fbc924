/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a question. Everything from the watched side goes through text_show(). */
#include <fcntl.h>
#include <string.h>

#include "policy/asked.h"
#include "rules/rule.h"

struct flag {
	uint64_t bit;
	const char *word;
};

/* O_* of the open family, in words. */
static const struct flag open_flags[] = {
	{ O_CREAT, "create" }, { O_EXCL, "exclusive" }, { O_TRUNC, "truncate" }, { O_APPEND, "append" },
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

static void flag_words(const struct asked *a, struct text_buffer *t)
{
	if (strncmp(a->call.syscall, "open", 4) != 0 && strcmp(a->call.syscall, "creat") != 0)
		return;
	for (size_t i = 0; i < sizeof(open_flags) / sizeof(open_flags[0]); i++) {
		if (a->call.flags & open_flags[i].bit)
			text_add(t, ", %s", open_flags[i].word);
	}
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
	text_show(t, by->image.exe, most);
	text_add(t, " (pid %d", by->pid);
	uint32_t count = atomic_load(&((struct asked *)a)->count);
	if (count > 1)
		text_add(t, ", asked %u times", count);
	text_add(t, ")\n");
	if (a->call.argv.len)
		line_show(t, "args", a->call.argv, most);
	if (!by->n_ancestors || asked_fact(a, "ancestry").bytes)
		return;
	line(t, "under");
	for (uint32_t i = 0; i < by->n_ancestors && i < 6; i++) {
		text_add(t, "%s", i ? " < " : "");
		text_show(t, by->ancestors[i].exe, 80);
	}
	text_add(t, by->n_ancestors > 6 ? " < ...\n" : "\n");
}

void asked_text(const struct asked *a, unsigned width, struct text_buffer *t)
{
	size_t most = width > 60 ? 4 * width : 240; /* a few lines each: what decides must be seen whole */
	line(t, "call");
	text_add(t, "%s", a->call.syscall);
	flag_words(a, t);
	text_add(t, "\n");
	text_objects(a, most, t);
	text_caller(a, most, t);
	for (uint32_t i = 0; i < a->n_facts; i++) {
		char label[16];
		show_escape(span_of(a->facts[i].key), label, sizeof(label));
		line_show(t, label, a->facts[i].value, most);
	}
	line_show(t, "rule", span_of(a->verdict.where ? a->verdict.where : "default"), most);
	if (a->verdict.rule && a->verdict.rule->reason)
		line_show(t, "reason", span_of(a->verdict.rule->reason), most);
}
