/* SPDX-License-Identifier: Apache-2.0 */
/* usher log diff DIR DIR: what one session did, or was refused, that the other was not. Times, processes and order do not count. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/render.h"
#include "tools/log.h"

/* The different deeds of a session, one line each. */
struct deeds {
	char **all;
	size_t n, cap;
	bool failed;
};

static void add(struct deeds *d, char *text)
{
	if (text && d->n == d->cap) {
		size_t cap = d->cap ? 2 * d->cap : 256;
		char **grown = realloc(d->all, cap * sizeof *grown);
		if (grown) {
			d->all = grown;
			d->cap = cap;
		}
	}
	if (!text || d->n == d->cap) {
		d->failed = true;
		free(text);
		return;
	}
	d->all[d->n++] = text;
}

/* The operations as they are shown elsewhere: read+modify. */
static void put_ops(FILE *to, const struct field *list)
{
	struct fields each;
	struct field op;
	const char *separator = "";
	fields_begin(&each, list->value, list->len);
	while (fields_next(&each, &op)) {
		fprintf(to, "%s%.*s", separator, (int)op.len, op.value);
		separator = "+";
	}
}

static void put_deed(FILE *to, const char *text, size_t len)
{
	struct field f;
	if (field_find(text, len, "verdict", &f))
		fprintf(to, "%.*s", (int)f.len, f.value);
	fputc(' ', to);
	if (field_find(text, len, "op", &f))
		put_ops(to, &f);
	fputc(' ', to);
	if (field_find(text, len, "object", &f))
		render_value(to, &f);
	fputs(" by ", to);
	if (field_find(text, len, "exe", &f))
		render_value(to, &f);
}

static void note_deed(void *context, const char *text, size_t len)
{
	struct field type;
	char *line = NULL;
	size_t size;
	if (!field_find(text, len, "type", &type) || !field_is(&type, "call"))
		return;
	FILE *to = open_memstream(&line, &size);
	if (to)
		put_deed(to, text, len);
	if (to && fclose(to) != 0) {
		free(line);
		line = NULL;
	}
	add(context, line);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int load(const char *dir, struct deeds *d)
{
	int rc = log_walk(dir, true, note_deed, d);
	if (rc == 0 && d->failed)
		rc = -ENOMEM;
	if (rc != 0 || !d->n)
		return rc;
	qsort(d->all, d->n, sizeof *d->all, by_text);
	size_t n = 1;
	for (size_t i = 1; i < d->n; i++) {
		if (!strcmp(d->all[i], d->all[n - 1]))
			free(d->all[i]);
		else
			d->all[n++] = d->all[i];
	}
	d->n = n;
	return 0;
}

static void print(char sign, const char *colour, const char *text)
{
	printf("%s%c %s%s\n", colour ? colour : "", sign, text, colour ? "\033[0m" : "");
}

static void compare(const struct deeds *a, const struct deeds *b, bool colour)
{
	for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
		int order = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->all[i], b->all[k]);
		if (order < 0)
			print('-', colour ? "\033[31m" : NULL, a->all[i]);
		if (order > 0)
			print('+', colour ? "\033[32m" : NULL, b->all[k]);
		i += order <= 0;
		k += order >= 0;
	}
}

static void release(struct deeds *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->all[i]);
	free(d->all);
}

int log_diff(struct log *l)
{
	struct deeds a = { 0 }, b = { 0 };
	int rc = load(l->dir, &a);
	if (rc == 0) {
		l->dir = l->other; /* for the message, should it fail */
		rc = load(l->other, &b);
	}
	if (rc == 0)
		compare(&a, &b, l->colour);
	release(&a);
	release(&b);
	return rc;
}
