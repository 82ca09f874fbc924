/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes from the watched side as a person may see them.
 *
 * MUST: printable ASCII only, one line, injective up to the cut; a cut text
 * names the length and a hash of the whole.
 */
#ifndef USHER_POLICY_SHOW_H
#define USHER_POLICY_SHOW_H

#include <stddef.h>
#include <stdint.h>

#include "rules/call.h"

/* A text under construction in a caller's buffer; always terminated, cut without harm at the end of the buffer. */
struct text_buffer {
	char *buf;
	size_t len;
	size_t cap;
};

void text_start(struct text_buffer *t, char *buf, size_t cap);
/* Trusted text: literals and numbers, never bytes from the watched side. */
void text_add(struct text_buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* V escaped: \\ for a backslash, \n \t, \xHH, a blank at the end too. At most MOST characters (0: all), else cut in the middle. */
void text_show(struct text_buffer *t, struct span v, size_t most);

/* The same without a blank in it: so that it ends where it ends in a line with other words. */
void text_word(struct text_buffer *t, struct span v, size_t most);

/* "read+modify" for a set of operations. */
void text_ops(struct text_buffer *t, op_set ops);

/* The object's name or endpoint ("/etc/passwd", "tcp:10.0.0.1:443", "unix:/run/x", "unix:@name"). */
void text_object(struct text_buffer *t, const struct object *o, size_t most);
void text_object_word(struct text_buffer *t, const struct object *o, size_t most); /* by text_word() */

/* Escapes IN into OUT as text_show() does, uncut. Returns the length it needs, as snprintf. */
size_t show_escape(struct span in, char *out, size_t cap);

/* The bytes that show_escape() made TEXT of. Returns their number, or -1 when TEXT is no such text or does not fit. */
long show_unescape(const char *text, char *out, size_t cap);

/* Takes the last letter of an escaped text off: one beyond ASCII is several escapes. Nothing when TEXT is empty. */
void show_erase(char *text);

/* Replaces whatever is not printable ASCII in a terminated string by '?'. For words that people typed. */
void show_clean(char *s);

#endif
