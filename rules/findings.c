// SPDX-License-Identifier: Apache-2.0
/*
 * Findings about rule files: collected in an arena, printed with line and caret.
 *
 * MUST: what is printed holds no control bytes of the file (a rule file may be
 * anybody's); the count of errors is right even when memory ran out.
 */
#include "rules/findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rules/arena.h"

/* The part of a long line that is shown: this much before and after the column. */
#define SHOWN_BEFORE 100U
#define SHOWN_AFTER 100U

static struct arena *memory_of(struct diagnostics *d)
{
	if (!d->memory)
		d->memory = calloc(1, sizeof(struct arena));
	return d->memory;
}

static const char *keep_source(struct arena *a, const struct place *at)
{
	if (!at->source.bytes)
		return NULL;
	size_t n = strnlen(at->source.bytes, at->source.len);
	return arena_copy(a, at->source.bytes, n > 65536 ? 65536 : n);
}

static bool keep(struct diagnostics *d, enum diagnostic_level level, const struct place *at, const char *message)
{
	struct arena *a = memory_of(d);
	struct diagnostic *items = reallocarray(d->items, d->count + 1, sizeof(*items));
	if (items)
		d->items = items;
	if (!a || !items)
		return false;
	struct diagnostic *item = &items[d->count];
	*item = (struct diagnostic){ .level = level, .line = at->line, .column = at->column, .indent = at->indent };
	item->file = arena_copy(a, at->file, strlen(at->file));
	item->message = arena_copy(a, message, strlen(message));
	item->source = keep_source(a, at);
	if (!item->file || !item->message)
		return false;
	d->count++;
	return true;
}

void findings_add(struct diagnostics *d, enum diagnostic_level level, const struct place *at, const char *format, ...)
{
	if (level == DIAGNOSTIC_ERROR)
		d->errors++;
	if (d->count >= FINDINGS_KEPT)
		return;
	char *message = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&message, format, args);
	va_end(args);
	if (n < 0)
		return;
	keep(d, level, at, message);
	free(message);
}

void diagnostics_free(struct diagnostics *d)
{
	if (d->memory)
		arena_free(d->memory);
	free(d->memory);
	free(d->items);
	*d = (struct diagnostics){ 0 };
}

/* What a terminal might obey, or show as something else, is written as a rule file would write it; but TEXT that is a line of one
 * keeps its own backslashes. Returns the columns it took. */
static size_t put_safe(const char *bytes, size_t n, bool text, FILE *to)
{
	size_t width = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];
		bool plain = (c >= 0x20 && c < 0x7f) || (c == '\t' && text);
		if (plain && (text || c != '\\')) {
			fputc(c == '\t' ? ' ' : c, to);
			width++;
		} else {
			width += (size_t)fprintf(to, plain ? "\\\\" : "\\x%02x", c);
		}
	}
	return width;
}

static void put_line(const struct diagnostic *item, const char *caret, const char *plain, FILE *to)
{
	size_t len = strlen(item->source);
	size_t column = item->column > item->indent ? item->column - item->indent - 1 : 0;
	if (column > len)
		column = len;
	size_t from = column > SHOWN_BEFORE ? column - SHOWN_BEFORE : 0;
	size_t end = len - column > SHOWN_AFTER ? column + SHOWN_AFTER : len;
	fputs("    ", to);
	size_t before = put_safe(item->source + from, column - from, true, to);
	put_safe(item->source + column, end - column, true, to);
	fprintf(to, "\n    %*s%s^%s\n", (int)before, "", caret, plain);
}

static void print_one(const struct diagnostic *item, FILE *to, bool colour)
{
	bool error = item->level == DIAGNOSTIC_ERROR;
	const char *tint = !colour ? "" : error ? "\033[1;31m" : "\033[1;35m";
	const char *caret = colour ? "\033[1;32m" : "";
	const char *plain = colour ? "\033[0m" : "";
	put_safe(item->file, strlen(item->file), false, to);
	if (item->line)
		fprintf(to, ":%u", item->line);
	if (item->line && item->column)
		fprintf(to, ":%u", item->column);
	fprintf(to, ": %s%s%s: ", tint, error ? "error" : "warning", plain);
	put_safe(item->message, strlen(item->message), true, to);
	fputc('\n', to);
	if (item->line && item->source)
		put_line(item, caret, plain, to);
}

void diagnostics_print(const struct diagnostics *d, FILE *to, bool colour)
{
	size_t kept = 0;
	for (size_t i = 0; i < d->count; i++) {
		print_one(&d->items[i], to, colour);
		kept += d->items[i].level == DIAGNOSTIC_ERROR;
	}
	if (d->errors > kept)
		fprintf(to, "and %zu more errors\n", d->errors - kept);
}
