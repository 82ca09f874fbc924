/* SPDX-License-Identifier: Apache-2.0 */
/* Times of records: RFC 3339 in UTC with microseconds, e.g. 2026-11-20T10:17:26.123456Z. */
#ifndef USHER_AUDIT_STAMP_H
#define USHER_AUDIT_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STAMP_LEN 27

/* Writes STAMP_LEN characters, no NUL. NS is the time since 1970 in nanoseconds. */
void stamp_write(char *out, uint64_t ns);

/* The last second that was written: the rest of a stamp is cheap. All zero to begin with; one thread at a time. */
struct stamp_memo {
	uint64_t second; /* since 1970 */
	char text[STAMP_LEN]; /* empty: none yet */
};

/* The same by way of MEMO. */
void stamp_write_memo(struct stamp_memo *memo, char *out, uint64_t ns);

/* Reads exactly what stamp_write() writes. */
bool stamp_read(const char *text, size_t len, uint64_t *ns);

/* The present time in nanoseconds since 1970. */
uint64_t stamp_now(void);

#endif
