/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a decided call, and the names of results. */
#include "audit/digest.h"
#include "audit/record.h"
#include "audit/redact.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rules/endpoint_text.h"

#define ARGV_KEPT 4096
/* "unix:" and a sun_path or canonical name. */
#define PREFIXED_MAX (PATH_MAX + 16)

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

static void record_ops(struct record *r, op_set ops)
{
	record_list(r, "op");
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		const char *name = ops >> bit & 1 ? op_name(bit) : NULL;
		if (name)
			record_item(r, (struct span){ name, (uint32_t)strlen(name) });
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

static void record_objects(struct record *r, const struct call *call)
{
	record_list(r, "objects");
	for (uint32_t i = 0; i < call->n_objects; i++) {
		record_object(r, NULL);
		record_ops(r, call->object[i].ops);
		record_name(r, "object", &call->object[i]);
		record_named(r, &call->object[i]);
		record_close(r);
	}
	record_close(r);
}

/* A long argument vector is kept in part, with the length and the hash of the whole. */
void record_argv(struct record *r, const char *key, struct span argv)
{
	char name[32];
	struct digest whole;
	char hex[DIGEST_HEX];

	if (argv.len <= ARGV_KEPT) {
		record_bytes(r, key, argv);
		return;
	}
	size_t at, len;
	record_bytes(r, key, (struct span){ argv.bytes, ARGV_KEPT });
	snprintf(name, sizeof name, "%s_len", key);
	record_int(r, name, argv.len);
	/* A hash without a salt could be tried out. */
	if (r->redactor && redact_find_given(r->redactor, r->program, argv.bytes, argv.len, 0, &at, &len))
		return;
	digest_of(&whole, argv.bytes, argv.len);
	hex_write(hex, whole.bytes, sizeof whole.bytes);
	snprintf(name, sizeof name, "%s_hash", key);
	record_bytes(r, name, (struct span){ hex, sizeof hex });
}

void record_call(struct record *r, const struct call *call, const struct verdict *verdict)
{
	op_set ops = 0;
	for (uint32_t i = 0; i < call->n_objects; i++)
		ops |= call->object[i].ops;
	record_int(r, "pid", call->by.pid);
	record_int(r, "tid", call->by.tid);
	if (ops & OP_EXEC && call->by.n_ancestors) /* once for each image: the tree can be drawn */
		record_int(r, "ppid", call->by.ancestors[0].pid);
	record_bytes(r, "exe", call->by.image.exe);
	record_text(r, "call", call->syscall);
	record_ops(r, ops);
	if (call->n_objects) {
		record_name(r, "object", &call->object[0]);
		record_named(r, &call->object[0]);
	}
	if (call->n_objects > 1)
		record_objects(r, call);
	if (ops & OP_EXEC && call->n_objects) {
		r->program[0] = call->object[0].name;
		r->program[1] = call->object[0].named;
	}
	record_argv(r, "argv", call->argv);
	r->program[0] = (struct span){ 0 };
	record_text(r, "verdict", verdict_name(verdict->kind));
	record_text(r, "rule", verdict->where);
	if (verdict->log == LOG_ALERT)
		record_text(r, "log", "alert");
}

void record_result(struct record *r, int64_t result)
{
	const char *name = result < 0 && result >= -4095 ? errno_name((int)-result) : NULL;
	if (name)
		record_text(r, "result", name);
	else
		record_int(r, "result", result);
}

/* The kernel's own restart code has no name in the C library: the caller's handler runs first. */
#define RESTART 512

const char *errno_name(int err)
{
	if (err == RESTART)
		return "ERESTARTSYS";
	return err > 0 ? strerrorname_np(err) : NULL;
}
