/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a decided call, and the names of results. */
#include "audit/digest.h"
#include "audit/record.h"
#include "audit/record_put.h"
#include "audit/redact.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rules/endpoint_text.h"

#define ARGV_KEPT 4096
#define VALUE_KEPT 1024 /* beside two names of PATH_MAX that are escapes alone it has room in a record */
/* "unix:" and a sun_path or canonical name, which may be as long as three paths (supervisor/resolve_deep.c). */
#define PREFIXED_MAX (3 * PATH_MAX + 16)

static void prefixed(struct record *r, const char *key, const char *prefix, struct span name)
{
	char text[PREFIXED_MAX];
	size_t n = strlen(prefix);
	if (!name.bytes)
		return;
	if (name.len > sizeof text - n) {
		r->broken = true;
		return;
	}
	memcpy(text, prefix, n);
	memcpy(text + n, name.bytes, name.len);
	record_bytes(r, key, (struct span){ text, (uint32_t)(n + name.len) });
}

void record_name(struct record *r, const char *key, const struct object *object)
{
	char endpoint[ENDPOINT_TEXT_MAX];
	switch (object->kind) {
	case OBJECT_NONE:
		break;
	case OBJECT_FILE:
	case OBJECT_MEMFD:
	case OBJECT_SOCKET:
		record_bytes(r, key, object->name);
		break;
	case OBJECT_INET:
		record_bytes(r, key, (struct span){ endpoint, (uint32_t)endpoint_text(&object->inet, endpoint) });
		break;
	case OBJECT_UNIX:
		prefixed(r, key, "unix:", object->name);
		break;
	case OBJECT_ABSTRACT:
		prefixed(r, key, "unix:@", object->name);
		break;
	}
}

static void record_op(struct record *r, const char *name)
{
	size_t n = strlen(name);
	char *at = record_lead(r, "op", n + 4);
	if (!at)
		return;
	at = put_literal(at, "[\"");
	at = put_short(at, name, n);
	put_literal(at, "\"]");
}

static void record_ops(struct record *r, op_set ops)
{
	if (ops && !(ops & (ops - 1))) { /* nearly always */
		record_op(r, op_name((unsigned)__builtin_ctz(ops)));
		return;
	}
	record_list(r, "op");
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		const char *name = ops >> bit & 1 ? op_name(bit) : NULL;
		if (name)
			record_word(r, NULL, name);
	}
	record_close(r);
}

/* What the program said, where it is not the canonical name already. */
static void record_named(struct record *r, const struct object *o)
{
	if (o->named.bytes && o->name.bytes && o->named.len == o->name.len && !memcmp(o->named.bytes, o->name.bytes, o->name.len))
		return;
	record_bytes(r, "named", o->named);
}

/* By its name alone it would be taken for what has that name now; under another one it may still be there. */
static void record_deleted(struct record *r, const struct object *o)
{
	if (!o->deleted || o->kind != OBJECT_FILE)
		return;
	record_bool(r, "deleted", true);
	if (!o->nlink)
		return;
	put_int(r, "links", (int64_t)o->nlink);
	put_int(r, "inode", (int64_t)o->ino);
}

static void record_led(struct record *r, const struct object *o)
{
	struct object led = *o;
	led.name = o->to;
	record_name(r, "to", &led);
}

static void record_objects(struct record *r, const struct call *call)
{
	record_list(r, "objects");
	for (uint32_t i = 0; i < call->n_objects; i++) {
		record_object(r, NULL);
		record_ops(r, call->object[i].ops);
		record_name(r, "object", &call->object[i]);
		record_named(r, &call->object[i]);
		record_deleted(r, &call->object[i]);
		if (call->object[i].to.bytes)
			record_led(r, &call->object[i]);
		record_bytes(r, "sha256", call->object[i].sha256);
		record_close(r);
	}
	record_close(r);
}

static bool finds(const struct record *r, struct span text, size_t from, size_t *at, size_t *len)
{
	return r->redactor && redact_find_given(r->redactor, r->program, text.bytes, text.len, from, at, len);
}

/* What is longer than MOST is kept in part, with the length and the hash of the whole. */
static void record_long(struct record *r, const char *key, struct span text, size_t most)
{
	char name[32];
	struct digest whole;
	char hex[DIGEST_HEX];

	if (text.len <= most) {
		record_bytes(r, key, text);
		return;
	}
	size_t at, len;
	size_t kept = redact_cut(r->redactor, r->program, text.bytes, text.len, most);
	record_bytes(r, key, (struct span){ text.bytes, (uint32_t)kept });
	snprintf(name, sizeof name, "%s_len", key);
	record_int(r, name, text.len);
	/* A hash without a salt could be tried out. */
	if (finds(r, text, 0, &at, &len))
		return;
	digest_of(&whole, text.bytes, text.len);
	hex_write(hex, whole.bytes, sizeof whole.bytes);
	snprintf(name, sizeof name, "%s_hash", key);
	record_bytes(r, name, (struct span){ hex, sizeof hex });
}

void record_argv(struct record *r, const char *key, struct span argv)
{
	record_long(r, key, argv, ARGV_KEPT);
}

/* Whether the memo had it. */
static bool recall_subject(struct record *r, const struct subject *by)
{
	const struct record_memo *m = r->memo;
	struct span exe = by->image.exe;
	if (!m || !m->len || m->tid != by->tid || m->pid != by->pid || m->redactor != r->redactor || m->exe_len != exe.len ||
	    memcmp(m->exe, exe.bytes, exe.len) != 0)
		return false;
	record_plain(r, m->text, m->len);
	return true;
}

/* A secret has another commitment in each record. */
static bool keeps_secret(const struct record *r, struct span s)
{
	size_t at, len;
	return finds(r, s, 0, &at, &len);
}

/* TEXT of LEN bytes is what stands in the record for BY. */
static void memorise(struct record *r, const struct subject *by, const char *text, size_t len)
{
	struct record_memo *m = r->memo;
	struct span exe = by->image.exe;
	if (!m || r->broken || !exe.len || exe.len > sizeof m->exe || len > sizeof m->text || keeps_secret(r, exe))
		return;
	m->redactor = r->redactor;
	m->pid = by->pid;
	m->tid = by->tid;
	m->exe_len = exe.len;
	m->len = (uint32_t)len;
	memcpy(m->exe, exe.bytes, exe.len);
	memcpy(m->text, text, len);
}

static void record_subject(struct record *r, const struct subject *by, bool parent)
{
	size_t from = r->len;
	bool first = r->first;
	record_int(r, "pid", by->pid);
	record_int(r, "tid", by->tid);
	if (parent)
		record_int(r, "ppid", by->ancestors[0].pid);
	record_bytes(r, "exe", by->image.exe);
	if (!parent && !first)
		memorise(r, by, r->buf + from, r->len - from);
}

static void record_times(struct record *r, const struct call *call)
{
	char text[CALL_TIME_TEXT];
	if (call_time_text(call, CALL_ACCESSED, text))
		put_word(r, "accessed", text);
	if (call_time_text(call, CALL_MODIFIED, text))
		put_word(r, "modified", text);
}

static void record_flags(struct record *r, const struct call *call)
{
	char text[CALL_FLAGS_TEXT];
	uint32_t project;
	if (call_flags_text(call, text))
		put_word(r, "flags", text);
	if (call_project(call, &project))
		put_int(r, "project", project);
}

/* What else an investigation asks: who may use the object now, where a link leads, how old a file was made to look. */
static void record_said(struct record *r, const struct call *call)
{
	char text[SAYS_TEXT];
	uint64_t length;
	if (call_mode_text(call, text))
		put_word(r, "mode", text);
	if (call_owner_text(call, text))
		put_word(r, "owner", text);
	if (call_length(call, &length))
		put_int(r, "length", (int64_t)length);
	if (call->says == SAYS_LINK)
		record_bytes(r, "link", call->text);
	record_flags(r, call);
	if (call->says == SAYS_TIMES)
		record_times(r, call);
	if (call->says != SAYS_ATTRIBUTE)
		return;
	record_bytes(r, "attribute", call->text);
	record_long(r, "value", call->value, VALUE_KEPT);
}

void record_call(struct record *r, const struct call *call, const struct verdict *verdict)
{
	op_set ops = 0;
	for (uint32_t i = 0; i < call->n_objects; i++)
		ops |= call->object[i].ops;
	bool parent = ops & OP_EXEC && call->by.n_ancestors; /* once for each image: the tree can be drawn */
	if (parent || !recall_subject(r, &call->by))
		record_subject(r, &call->by, parent);
	put_word(r, "call", call->syscall);
	record_ops(r, ops);
	if (call->n_objects) {
		record_name(r, "object", &call->object[0]);
		record_named(r, &call->object[0]);
		record_deleted(r, &call->object[0]);
		if (call->object[0].sha256.bytes)
			record_bytes(r, "sha256", call->object[0].sha256);
	}
	if (call->n_objects > 1)
		record_objects(r, call);
	if (call->says)
		record_said(r, call);
	else if (call->said)
		record_flags(r, call);
	if (ops & OP_EXEC && call->n_objects) {
		r->program[0] = call->object[0].name;
		r->program[1] = call->object[0].named;
	}
	record_argv(r, "argv0", call_called(call));
	record_argv(r, "argv", call->argv);
	r->program[0] = (struct span){ 0 };
	put_word(r, "verdict", verdict_name(verdict->kind));
	record_text(r, "rule", verdict->where);
	if (verdict->log == LOG_ALERT)
		record_word(r, "log", "alert");
}

void record_result(struct record *r, int64_t result)
{
	const char *name = result < 0 && result >= -4095 ? errno_name((int)-result) : NULL;
	if (name)
		record_text(r, "result", name);
	else
		put_int(r, "result", result);
}

/* The kernel's own restart code has no name in the C library: the caller's handler runs first. */
#define RESTART 512

const char *errno_name(int err)
{
	if (err == RESTART)
		return "ERESTARTSYS";
	return err > 0 ? strerrorname_np(err) : NULL;
}
