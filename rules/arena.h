/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once. Not thread safe. */
#ifndef USHER_RULES_ARENA_H
#define USHER_RULES_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *head;
	size_t total; /* bytes taken from the system */
};

/* N zeroed bytes, aligned for any type; NULL when memory ran out. */
void *arena_alloc(struct arena *a, size_t n);

/* A copy of N bytes with a NUL behind; NULL when memory ran out. */
char *arena_copy(struct arena *a, const char *bytes, size_t n);

/* A formatted string; NULL when memory ran out. */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forgets all that was allocated; keeps a chunk for what comes next. */
void arena_reset(struct arena *a);

void arena_free(struct arena *a);

#endif
