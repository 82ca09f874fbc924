/* SPDX-License-Identifier: Apache-2.0 */
/* Adding to a list of findings (struct diagnostics). */
#ifndef USHER_RULES_FINDINGS_H
#define USHER_RULES_FINDINGS_H

#include "rules/ruleset.h"

/* Where in a file something stands. */
struct place {
	const char *file;
	uint32_t line;      /* from 1; 0: the file as a whole */
	uint32_t column;    /* from 1, in bytes */
	struct span source; /* the line's bytes, absent when there is none */
	uint32_t indent;    /* how many bytes of the line stand before them */
};

/* More findings than this are counted, not kept. */
#define FINDINGS_KEPT 1000

/* Appends one finding; all text is copied. When memory runs out the finding is only counted. */
void findings_add(struct diagnostics *d, enum diagnostic_level level, const struct place *at, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
