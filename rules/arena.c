// SPDX-License-Identifier: Apache-2.0
/* Bump allocation in chunks that double up to a bound. */
#include "rules/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/pages.h"

#define CHUNK_MIN 4096U
#define CHUNK_MAX (256U * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t room;
	alignas(max_align_t) char bytes[];
};

static struct arena_chunk *grow(struct arena *a, size_t n)
{
	size_t room = a->total < CHUNK_MIN ? CHUNK_MIN : a->total;
	if (room > CHUNK_MAX)
		room = CHUNK_MAX;
	if (room < n)
		room = n;
	struct arena_chunk *c = pages_zeroed(sizeof(*c) + room);
	if (!c)
		return NULL;
	c->room = room;
	c->next = a->head;
	a->head = c;
	a->total += sizeof(*c) + room;
	return c;
}

static void *take(struct arena *a, size_t n, size_t align)
{
	struct arena_chunk *c = a->head;
	size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
	if (!c || at > c->room || n > c->room - at) {
		c = grow(a, n);
		at = 0;
	}
	if (!c)
		return NULL;
	c->used = at + n;
	return c->bytes + at;
}

void *arena_alloc(struct arena *a, size_t n)
{
	return take(a, n, alignof(max_align_t));
}

char *arena_copy(struct arena *a, const char *bytes, size_t n)
{
	char *copy = take(a, n + 1, 1);
	if (copy && n)
		memcpy(copy, bytes, n);
	return copy;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = NULL;
	int n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	char *copy = arena_copy(a, text, (size_t)n);
	free(text);
	return copy;
}

void arena_reset(struct arena *a)
{
	if (!a->head || a->head->next || a->head->room > CHUNK_MAX) {
		arena_free(a);
		return;
	}
	memset(a->head->bytes, 0, a->head->used);
	a->head->used = 0;
}

void arena_free(struct arena *a)
{
	while (a->head) {
		struct arena_chunk *next = a->head->next;
		free(a->head);
		a->head = next;
	}
	a->total = 0;
}
