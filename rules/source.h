/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a rule file safely. */
#ifndef USHER_RULES_SOURCE_H
#define USHER_RULES_SOURCE_H

#include <stddef.h>

#include "rules/arena.h"
#include "rules/findings.h"
#include "rules/ruleset.h"

/* A rule file longer than this is refused. */
#define SOURCE_MAX (16U * 1024 * 1024)

struct source {
	const char *name; /* as given */
	const char *text; /* NUL-terminated, LEN bytes before it */
	size_t len;
};

/*
 * Reads PATH. The opened descriptor must be a regular file of at most SOURCE_MAX bytes, owned by
 * root or by this user, and writable by neither group nor others. Returns 0, or a
 * negative errno with the reason in FOUND, reported at AT.
 */
int source_read(struct arena *a, const char *path, const struct place *at, struct diagnostics *found,
		struct source *out);

/* Whether the text is one: no NUL, no BOM, no carriage return, no other control bytes. 0, or 1 with an error in FOUND. */
int source_check(const struct source *s, struct diagnostics *found);

/* The line of S that holds byte AT, searched from line LINE on, which begins at byte START: its number, the column of AT, its bytes. */
struct place source_place(const struct source *s, uint32_t line, size_t start, size_t at);

#endif
