/* SPDX-License-Identifier: Apache-2.0 */
/* A record in one line for people. MUST: printable ASCII only, as the record itself; nothing is unescaped onto a terminal. */
#ifndef USHER_AUDIT_RENDER_H
#define USHER_AUDIT_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

void render_line(FILE *to, const char *text, size_t len, bool colour);

/* All fields of the record, one in a line, for explain. */
void render_full(FILE *to, const char *text, size_t len);

#endif
