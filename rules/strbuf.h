/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text that grows as it is written, in memory.
 *
 * MUST: whole or not at all. Not even one piece that found no memory may be
 * missing from what strbuf_end() gives: open_memstream(3) of glibc 2.36 drops such
 * a piece and reports it neither by ferror(3) nor by fclose(3), and a rule or a
 * pattern that lost its end is another one.
 */
#ifndef USHER_RULES_STRBUF_H
#define USHER_RULES_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

/* Starts as { 0 }. One thread at a time. */
struct strbuf {
	char *bytes;
	size_t len;
	size_t cap;
	bool failed;
};

void strbuf_add(struct strbuf *b, const char *bytes, size_t len);
void strbuf_puts(struct strbuf *b, const char *text);
void strbuf_printf(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Ends B, which starts anew. *out is the whole text, malloc memory with a zero byte behind; LEN may be NULL.
 * Returns 0, or -ENOMEM when anything that was added is missing.
 */
int strbuf_end(struct strbuf *b, char **out, size_t *len);

void strbuf_free(struct strbuf *b);
#define CLEANUP_STRBUF __attribute__((cleanup(strbuf_free)))

#endif
