/* SPDX-License-Identifier: Apache-2.0 */
/* A record in one line for people. MUST: printable ASCII only, as the record itself; nothing is unescaped onto a terminal. */
#ifndef USHER_AUDIT_RENDER_H
#define USHER_AUDIT_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct field;

#define DAY_LEN 10

/* A value as it is in a line: in quotes, which none has in it bare, where it holds a blank or a parenthesis or is empty, so that it ends where it ends. */
void render_value(FILE *to, const struct field *f);

/* Arguments, which two blanks end in a line: in quotes where they hold two, or one at an end. */
void render_argv(FILE *to, const struct field *f);

/* DAY (2026-11-20): a record of another one has its date; NULL: all go without, but the session's first and last. */
void render_line(FILE *to, const char *text, size_t len, bool colour, const char *day);

/* All fields of the record, one in a line, for explain. */
void render_full(FILE *to, const char *text, size_t len);

#endif
