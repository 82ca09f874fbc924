/* SPDX-License-Identifier: Apache-2.0 */
/* A stack as the journal and people get to see it. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/unwind.h"
#include "supervisor/unwind_internal.h"

#define FRAMES_TOLD 8 /* to a person */

bool unwound_lacks(const struct unwound *u)
{
	return u && u->lacks;
}

/* A file's name: what is a secret in others is one here. */
static void write_name(struct record *r, const char *key, const char *name)
{
	record_bytes(r, key, (struct span){ name, (uint32_t)strlen(name) });
}

static void write_frame(struct record *r, const struct unwound *u, const struct frame *f)
{
	record_object(r, NULL);
	if (f->object)
		write_name(r, "object", u->text + f->object);
	if (f->build_id)
		record_text(r, "build_id", u->text + f->build_id);
	if (f->function) {
		record_text(r, "function", u->text + f->function);
		record_int(r, "in_function", (int64_t)f->in_function);
	}
	record_int(r, "offset", (int64_t)f->offset);
	record_close(r);
}

static void write_python(struct record *r, const struct unwound *u)
{
	if (!u->n_python)
		return;
	record_list(r, "python");
	for (unsigned i = 0; i < u->n_python; i++) {
		record_object(r, NULL);
		if (u->python[i].file)
			write_name(r, "file", u->text + u->python[i].file);
		if (u->python[i].line)
			record_int(r, "line", u->python[i].line);
		if (u->python[i].function)
			record_text(r, "function", u->text + u->python[i].function);
		record_close(r);
	}
	record_close(r);
}

void unwound_record(const struct unwound *u, struct record *r)
{
	if (!u || !u->known) {
		record_text(r, "unwind", "none");
		return;
	}
	record_list(r, "stack");
	for (unsigned i = 0; i < u->n; i++)
		write_frame(r, u, &u->frame[i]);
	record_close(r);
	record_text(r, "unwind", u->complete ? "complete" : "partial");
	write_python(r, u);
}

size_t unwound_size(const struct unwound *u)
{
	return u ? offsetof(struct unwound, text) + u->used : 0;
}

void unwound_text(const struct unwound *u, char *text, size_t cap)
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned i = 0; u && i < u->n && i < FRAMES_TOLD; i++) {
		const struct frame *f = &u->frame[i];
		const char *object = f->object ? u->text + f->object : "?", *before = i ? " < " : "";
		int len = f->function ? snprintf(text + at, cap - at, "%s%s in %s", before, u->text + f->function, object) :
					snprintf(text + at, cap - at, "%s+0x%" PRIx64 " in %s", before, f->offset, object);

		if (len < 0 || (size_t)len >= cap - at) {
			text[at] = '\0';
			return;
		}
		at += (size_t)len;
	}
}
