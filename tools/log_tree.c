/* SPDX-License-Identifier: Apache-2.0 */
/* usher log --tree: the processes of a session, each below the one that started it, with what was recorded of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/query.h"
#include "audit/render.h"
#include "audit/stamp.h"
#include "tools/log.h"
#include "tools/log_lives.h"
#include "tools/tool.h"

#define DEPTH_MAX 200

struct tree {
	struct log *log;
	struct log_lives lives;
	struct log_process **child; /* all, by their parents and by when they began: those without one first */
};

static void keep_text(char **to, const struct field *f)
{
	char *text = strndup(f->value, f->len);
	if (!text)
		return;
	free(*to);
	*to = text;
}

static void count_ops(struct log_process *p, const struct field *list)
{
	struct fields each;
	struct field op;

	fields_begin(&each, list->value, list->len);
	while (fields_next(&each, &op))
		for (unsigned bit = 0; bit < OP_COUNT; bit++)
			if (op_name(bit) && field_is(&op, op_name(bit)))
				p->did[bit]++;
}

static void note_refused(struct log_process *p, const char *text, size_t len)
{
	struct field call, object, rule;
	char *line = NULL;
	size_t size;

	p->denied++;
	if (p->n_refused == LOG_REFUSED_MAX || !field_find(text, len, "call", &call) || !field_find(text, len, "object", &object))
		return;
	if (!field_find(text, len, "rule", &rule))
		rule = (struct field){ .value = "?", .len = 1 };
	FILE *to = open_memstream(&line, &size);
	if (!to)
		return;
	fprintf(to, "%.*s ", (int)call.len, call.value);
	render_value(to, &object);
	fprintf(to, " (%.*s)", (int)rule.len, rule.value);
	if (fclose(to) != 0) {
		free(line);
		return;
	}
	for (size_t i = 0; i < p->n_refused; i++)
		if (!strcmp(p->refused[i], line)) {
			free(line);
			return;
		}
	p->refused[p->n_refused++] = line;
}

static void note_record(void *context, const char *text, size_t len)
{
	struct tree *t = context;
	struct field type, pid, f = { 0 };
	int64_t number;
	uint64_t time = 0;

	if (!field_find(text, len, "type", &type) || !field_is(&type, "call") || !field_find(text, len, "pid", &pid) ||
	    !field_number(&pid, &number) || !query_match(t->log->query, text, len))
		return;
	if (field_find(text, len, "time", &f))
		(void)stamp_read(f.value, f.len, &time);
	struct log_process *p = log_lives_find(&t->lives, number, time);
	if (!p)
		return;
	p->shown = true;
	p->records++;
	if (field_find(text, len, "verdict", &f) && (field_is(&f, "deny") || field_is(&f, "kill")))
		note_refused(p, text, len);
	else if ((field_is(&f, "allow") || field_is(&f, "rewrite")) && field_find(text, len, "op", &f) && f.kind == FIELD_LIST)
		count_ops(p, &f);
	if (field_find(text, len, "ppid", &f) && field_number(&f, &number))
		p->ppid = number;
	if (field_find(text, len, "exe", &f) && p->records == 1)
		keep_text(&p->exe, &f);
	/* A successful exec: the image from here on is the object. */
	struct field call, result;
	if (field_find(text, len, "call", &call) && (field_is(&call, "execve") || field_is(&call, "execveat")) &&
	    field_find(text, len, "result", &result) && field_is(&result, "0")) {
		if (field_find(text, len, "object", &f))
			keep_text(&p->exe, &f);
		if (field_find(text, len, "argv", &f))
			keep_text(&p->argv, &f);
	}
}

static void print_sum(const struct tree *t, const struct log_process *p, unsigned depth)
{
	const char *red = t->log->colour ? "\033[31m" : "", *plain = t->log->colour ? "\033[0m" : "";

	printf("  (%lu record%s", (unsigned long)p->records, tool_plural(p->records));
	for (unsigned bit = 0; bit < OP_COUNT; bit++)
		if (p->did[bit])
			printf(", %s %lu", op_name(bit), (unsigned long)p->did[bit]);
	if (p->denied)
		printf(", %s%lu denied%s", red, (unsigned long)p->denied, plain);
	if (p->end)
		printf(", %s", p->end);
	puts(")");
	for (size_t i = 0; i < p->n_refused; i++)
		printf("%*s%s- %s%s\n", (int)depth * 2 + 2, "", red, p->refused[i], plain);
}

static void put_text(void (*render)(FILE *, const struct field *), const char *text)
{
	render(stdout, &(struct field){ .value = text, .len = strlen(text) });
}

static struct log_process *shown_parent(const struct log_process *p)
{
	return p->parent && p->parent->shown ? p->parent : NULL;
}

static int by_parent(const void *a, const void *b)
{
	const struct log_process *x = *(struct log_process *const *)a, *y = *(struct log_process *const *)b;
	uintptr_t up = (uintptr_t)shown_parent(x), other = (uintptr_t)shown_parent(y);

	if (up != other)
		return up < other ? -1 : 1;
	return log_process_order(x, y);
}

/* The first child of UP, of which all stand together; t->lives.n: it has none. */
static size_t first_child(const struct tree *t, const struct log_process *up)
{
	size_t from = 0, to = t->lives.n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if ((uintptr_t)shown_parent(t->child[middle]) < (uintptr_t)up)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void print_process(const struct tree *t, const struct log_process *p, unsigned depth)
{
	printf("%*s%ld ", (int)depth * 2, "", (long)p->pid);
	put_text(render_value, p->exe ? p->exe : "?");
	if (p->argv && *p->argv) {
		putchar(' ');
		put_text(render_argv, p->argv);
	}
	print_sum(t, p, depth);
}

static void print_from(const struct tree *t, struct log_process *p, unsigned depth)
{
	if (p->printed || depth > DEPTH_MAX)
		return;
	p->printed = true;
	print_process(t, p, depth);
	for (size_t i = first_child(t, p); i < t->lives.n && shown_parent(t->child[i]) == p; i++)
		if (t->child[i]->shown)
			print_from(t, t->child[i], depth + 1);
}

static int print_tree(struct tree *t)
{
	struct log_lives *l = &t->lives;

	for (size_t i = 0; i < l->n; i++)
		l->all[i]->shown |= !t->log->n_words;
	t->child = calloc(l->n + 1, sizeof(l->all[0]));
	if (!t->child)
		return -ENOMEM;
	if (l->n)
		memcpy(t->child, l->all, l->n * sizeof(l->all[0]));
	qsort(t->child, l->n, sizeof(l->all[0]), by_parent);
	for (size_t i = 0; i < l->n && !shown_parent(t->child[i]); i++)
		if (t->child[i]->shown)
			print_from(t, t->child[i], 0);
	for (size_t i = 0; i < l->n; i++) /* a circle hides nobody, nor does a long line */
		if (l->all[i]->shown)
			print_from(t, l->all[i], 0);
	free(t->child);
	return 0;
}

int log_tree(struct log *l)
{
	struct tree t = { .log = l };
	int rc = log_walk_settled(l->dir, log_lives_note, &t.lives);

	log_lives_sort(&t.lives);
	if (rc == 0)
		rc = log_walk_settled(l->dir, note_record, &t);
	log_lives_join(&t.lives);
	if (rc == 0 && t.lives.failed)
		rc = -ENOMEM;
	if (rc == 0)
		rc = print_tree(&t);
	log_lives_clear(&t.lives);
	return rc;
}
