/* SPDX-License-Identifier: Apache-2.0 */
/* A record in one line for people: number, time, process, program, call, operations, object, verdict, rule, result. */
#include "audit/render.h"

#include <inttypes.h>

#include <string.h>

#include "audit/field.h"

/* The fields of one record that the line is made of, found in one walk. */
struct parts {
	struct field seq, time, type, pid, tid, exe, call, op, object, named, to, objects, verdict, rule, result, answer, intent,
		after, event, argv0, argv, to_argv, mode, owner, length, link, attribute, value, accessed, modified, deleted, inode,
		flags, project, given, heard, uid, check, raced, unverified, unseen;
};

static void collect(struct parts *p, const char *text, size_t len)
{
	const struct {
		const char *key;
		struct field *to;
	} map[] = { { "seq", &p->seq },	      { "time", &p->time },   { "type", &p->type },	{ "pid", &p->pid },
		    { "tid", &p->tid },	      { "exe", &p->exe },     { "call", &p->call },	{ "op", &p->op },
		    { "object", &p->object }, { "named", &p->named }, { "to", &p->to }, { "objects", &p->objects }, { "verdict", &p->verdict },
		    { "rule", &p->rule },     { "result", &p->result }, { "answer", &p->answer }, { "intent", &p->intent },
		    { "after", &p->after },   { "event", &p->event }, { "argv0", &p->argv0 }, { "argv", &p->argv },
		    { "to_argv", &p->to_argv }, { "mode", &p->mode },     { "owner", &p->owner },
		    { "length", &p->length }, { "link", &p->link },	    { "attribute", &p->attribute }, { "value", &p->value },
		    { "accessed", &p->accessed }, { "modified", &p->modified },
		    { "deleted", &p->deleted }, { "inode", &p->inode },	    { "flags", &p->flags },   { "project", &p->project },
		    { "given", &p->given },   { "heard", &p->heard },   { "uid", &p->uid },	    { "check", &p->check },   { "raced", &p->raced },
		    { "unverified", &p->unverified }, { "failed", &p->unseen } };
	struct fields f;
	struct field one;
	*p = (struct parts){ 0 };
	fields_begin(&f, text, len);
	while (fields_next(&f, &one))
		for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
			if (field_key(&one, map[i].key))
				*map[i].to = one;
}

static void put(FILE *to, const struct field *f)
{
	if (f->len)
		fwrite(f->value, 1, f->len, to);
}

static void put_quoted(FILE *to, const struct field *f)
{
	fputc('"', to);
	put(to, f);
	fputc('"', to);
}

void render_value(FILE *to, const struct field *f)
{
	if (!f->len || memchr(f->value, ' ', f->len) || memchr(f->value, '(', f->len) || memchr(f->value, ')', f->len))
		put_quoted(to, f);
	else
		put(to, f);
}

void render_argv(FILE *to, const struct field *f)
{
	if (!f->len || memmem(f->value, f->len, "  ", 2) || f->value[0] == ' ' || f->value[f->len - 1] == ' ')
		put_quoted(to, f);
	else
		put(to, f);
}

static const char *verdict_colour(const struct field *v)
{
	if (field_is(v, "deny") || field_is(v, "kill"))
		return "\033[31m";
	if (field_is(v, "ask"))
		return "\033[33m";
	if (field_is(v, "rewrite"))
		return "\033[36m";
	return "\033[32m";
}

static void put_leaf(FILE *to, const struct field *exe)
{
	size_t i = exe->len;
	if (!i)
		return;
	while (i && exe->value[i - 1] != '/')
		i--;
	render_value(to, &(struct field){ .value = exe->value + i, .len = exe->len - i });
}

static void put_ops(FILE *to, const struct field *ops)
{
	struct fields f;
	struct field one;
	const char *separator = "";
	fields_begin(&f, ops->value, ops->len);
	while (fields_next(&f, &one)) {
		fputs(separator, to);
		put(to, &one);
		separator = "+";
	}
}

/* What has the name now, if anything has, is another. */
static void put_deleted(FILE *to, const struct field *deleted, const struct field *inode)
{
	if (!deleted->len)
		return;
	fputs(" (deleted", to);
	if (inode->len) {
		fputs(", inode ", to);
		put(to, inode);
	}
	fputc(')', to);
}

static void put_named(FILE *to, const struct field *named)
{
	fputs(" (named ", to);
	render_value(to, named);
	fputc(')', to);
}

/* One of a call's further objects behind WORD; where it was not found, what the program said. */
static void put_other(FILE *to, const struct field *one, const char *word, const struct field *led)
{
	struct field name, there, gone, inode;

	if (!field_find(one->value, one->len, "object", &name)) {
		if (!field_find(one->value, one->len, "named", &name))
			return;
		fputs(word, to);
		put_named(to, &name);
		return;
	}
	if (field_find(one->value, one->len, "to", &there) && (there.len != led->len || memcmp(there.value, led->value, led->len) != 0))
		name = there;
	fprintf(to, "%s ", word);
	render_value(to, &name);
	if (field_find(one->value, one->len, "deleted", &gone))
		put_deleted(to, &gone, field_find(one->value, one->len, "inode", &inode) ? &inode : &(struct field){ 0 });
}

/* The second object of a rename, a link, an exec; and what else the call touches. Of those that LED does not tell of, where they were led. */
static void put_others(FILE *to, const struct field *objects, const struct field *led)
{
	struct fields f;
	struct field one;
	fields_begin(&f, objects->value, objects->len);
	for (unsigned at = 0; fields_next(&f, &one); at++) {
		if (at > 0 && one.kind == FIELD_OBJECT)
			put_other(to, &one, at == 1 ? " ->" : " with", led);
	}
}

static void put_one(FILE *to, const char *label, const struct field *f)
{
	if (!f->key)
		return;
	fputs(label, to);
	render_value(to, f);
}

/* The mode of what an open creates, that it empties what is there, and the noreplace of each mv would stand in too many lines. */
static void put_said(FILE *to, const struct parts *p)
{
	bool opens = p->call.len >= 4 && (!memcmp(p->call.value, "open", 4) || !memcmp(p->call.value, "crea", 4));
	if (!opens) {
		put_one(to, " mode ", &p->mode);
		put_one(to, " length ", &p->length);
	}
	put_one(to, " owner ", &p->owner);
	put_one(to, " link ", &p->link);
	put_one(to, " attribute ", &p->attribute);
	put_one(to, " value ", &p->value);
	put_one(to, " accessed ", &p->accessed);
	put_one(to, " modified ", &p->modified);
	if (!field_is(&p->flags, "noreplace"))
		put_one(to, " flags ", &p->flags);
	put_one(to, " project ", &p->project);
	put_one(to, " given ", &p->given);
	put_one(to, " heard on ", &p->heard);
	put_one(to, " uid ", &p->uid);
	put_one(to, " as ", &p->argv0);
}

/* Of an exec whose result alone would say that the program ran, or why it did not. */
static void put_ran(FILE *to, const struct parts *p)
{
	put_one(to, " check ", &p->check);
	put_one(to, " raced ", &p->raced);
	put_one(to, " unverified ", &p->unverified);
	put_one(to, " failed ", &p->unseen);
}

static void put_argv(FILE *to, const char *label, const struct field *f)
{
	if (!f->key)
		return;
	fputs(label, to);
	render_argv(to, f);
}

static void put_call(FILE *to, const struct parts *p, bool colour)
{
	put(to, &p->tid);
	fputc(' ', to);
	put_leaf(to, &p->exe);
	fputs(": ", to);
	put(to, &p->call);
	fputc(' ', to);
	if (p->op.kind == FIELD_LIST)
		put_ops(to, &p->op);
	fputc(' ', to);
	if (p->object.len)
		render_value(to, &p->object);
	put_deleted(to, &p->deleted, &p->inode);
	if (p->objects.kind == FIELD_LIST)
		put_others(to, &p->objects, &p->to);
	if (p->named.len)
		put_named(to, &p->named);
	if (p->to.len) {
		fputs(" -> ", to);
		render_value(to, &p->to);
	}
	put_said(to, p);
	put_argv(to, " argv ", &p->argv);
	put_argv(to, "  -> ", &p->to_argv); /* two blanks end what the program itself has said */
	fputs(colour ? verdict_colour(&p->verdict) : "", to);
	fputs("  ", to);
	put(to, &p->verdict);
	fputs(colour ? "\033[0m" : "", to);
	if (p->rule.len) {
		fputs(" by ", to);
		render_value(to, &p->rule);
	}
	if (p->answer.len) {
		fputs(" answer ", to);
		put(to, &p->answer);
	}
	if (p->result.len) {
		fputs(" = ", to);
		put(to, &p->result);
	}
	put_ran(to, p);
	/* In the chain: where it has an outcome, that is another record. */
	const char *intent = p->seq.len ? " (about to happen)" : " (outcome not recorded)";
	if (p->intent.len)
		fprintf(to, "%s%s%s", colour ? "\033[33m" : "", intent, colour ? "\033[0m" : "");
}

/* A string as a value is; a list is as it stands. */
static void put_member(FILE *to, const struct field *f)
{
	if (f->kind == FIELD_STRING)
		render_value(to, f);
	else
		put(to, f);
}

/* One field: an object's members each by itself, operations as in calls. */
static void put_field(FILE *to, const struct field *f)
{
	struct fields members;
	struct field one;
	if (f->kind != FIELD_OBJECT) {
		fprintf(to, " %.*s=", (int)f->key_len, f->key);
		if (f->kind == FIELD_LIST && field_key(f, "op"))
			put_ops(to, f);
		else
			put_member(to, f);
		return;
	}
	fields_begin(&members, f->value, f->len);
	while (fields_next(&members, &one)) {
		if (field_key(&one, "shown")) /* a hash */
			continue;
		fprintf(to, " %.*s.%.*s=", (int)f->key_len, f->key, (int)one.key_len, one.key);
		put_member(to, &one);
	}
}

/*
 * Any other record: its fields but those that the line already has, or that nobody reads in a line: the text of a file, a stack (explain
 * shows it, frame by frame).
 */
static void put_rest(FILE *to, const char *text, size_t len)
{
	struct field file;
	bool of_file = field_find(text, len, "file", &file);
	static const char *const skip[] = { "seq", "time", "prev", "type", "environment", "sig", "root", "format", "stack", "python" };
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		bool skipped = false;
		for (size_t i = 0; i < sizeof skip / sizeof skip[0]; i++)
			skipped |= field_key(&one, skip[i]);
		skipped |= of_file && field_key(&one, "text");
		if (skipped)
			continue;
		put_field(to, &one);
	}
}

/* The time of day, in UTC as in the record; with the date where a session starts and ends, and of another day than DAY. */
static void put_time(FILE *to, const struct parts *p, const char *day)
{
	bool whole = field_is(&p->type, "start") || field_is(&p->type, "end");

	whole |= day && p->time.len > 23 && strncmp(p->time.value, day, DAY_LEN) != 0;
	if (p->time.len <= 23)
		fputs("  ", to);
	else if (whole)
		fprintf(to, " %.23sZ ", p->time.value);
	else
		fprintf(to, " %.12s ", p->time.value + 11);
}

void render_line(FILE *to, const char *text, size_t len, bool colour, const char *day)
{
	struct parts p;
	collect(&p, text, len);
	if (p.seq.len)
		put(to, &p.seq);
	else
		fprintf(to, ">%.*s", (int)p.after.len, p.after.len ? p.after.value : "");
	put_time(to, &p, day);
	if (field_is(&p.type, "call")) {
		put_call(to, &p, colour);
	} else {
		put(to, &p.type);
		put_rest(to, text, len);
	}
	fputc('\n', to);
}

/* A member's text, or "" when there is none. */
static struct field member(const struct field *of, const char *key)
{
	struct field f;

	return field_find(of->value, of->len, key, &f) ? f : (struct field){ .value = "", .len = 0 };
}

/* One line: function+where in object, or what is known of it; a language's own frame: function in file:line. */
static void put_frame(FILE *to, const struct field *frame)
{
	struct field function = member(frame, "function"), in = member(frame, "in_function"), object = member(frame, "object");
	struct field offset = member(frame, "offset"), file = member(frame, "file"), line = member(frame, "line");
	int64_t at = 0;

	fprintf(to, "\n            ");
	put(to, &function);
	if (file.len) {
		fputs(" in ", to);
		put(to, &file);
		fprintf(to, "%s%.*s", line.len ? ":" : "", (int)line.len, line.value);
		return;
	}
	if (function.len)
		fprintf(to, "+%.*s", (int)in.len, in.value);
	(void)field_number(&offset, &at);
	fprintf(to, "%s0x%" PRIx64, function.len ? " at " : "", (uint64_t)at);
	if (object.len) {
		fputs(" of ", to);
		put(to, &object);
	}
}

static void put_frames(FILE *to, const struct field *list)
{
	struct fields each;
	struct field frame;

	fields_begin(&each, list->value, list->len);
	while (fields_next(&each, &frame)) {
		if (frame.kind == FIELD_OBJECT)
			put_frame(to, &frame);
	}
}

void render_full(FILE *to, const char *text, size_t len)
{
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		fprintf(to, "  %-9.*s ", (int)one.key_len, one.key);
		if (one.kind == FIELD_LIST && (field_key(&one, "stack") || field_key(&one, "python")))
			put_frames(to, &one);
		else
			put(to, &one);
		fputc('\n', to);
	}
}
