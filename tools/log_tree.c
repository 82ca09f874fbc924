/* SPDX-License-Identifier: Apache-2.0 */
/* usher log --tree: the processes of a session, each below the one that started it, with what was recorded of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/query.h"
#include "audit/render.h"
#include "rules/op.h"
#include "tools/log.h"

#define REFUSED_MAX 8

struct process {
	int64_t pid;
	int64_t parent; /* 0: not known */
	char *exe;      /* escaped, the latest */
	char *argv;
	char *end;      /* "exit 0", "signal 9"; NULL: not known */
	uint64_t records, denied;
	uint64_t did[OP_COUNT];     /* allowed, by operation */
	char *refused[REFUSED_MAX]; /* the first different ones */
	size_t n_refused;
	bool printed;
};

struct tree {
	struct log *log;
	struct process *all;
	size_t n, cap;
	bool failed;
};

static struct process *find(struct tree *t, int64_t pid)
{
	for (size_t i = t->n; i--;) /* who acts now has mostly acted lately */
		if (t->all[i].pid == pid)
			return &t->all[i];
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		struct process *grown = realloc(t->all, cap * sizeof *grown);
		if (!grown) {
			t->failed = true;
			return NULL;
		}
		t->all = grown;
		t->cap = cap;
	}
	t->all[t->n] = (struct process){ .pid = pid };
	return &t->all[t->n++];
}

static void keep_text(char **to, const struct field *f)
{
	char *text = strndup(f->value, f->len);
	if (!text)
		return;
	free(*to);
	*to = text;
}

static void count_ops(struct process *p, const struct field *list)
{
	struct fields each;
	struct field op;

	fields_begin(&each, list->value, list->len);
	while (fields_next(&each, &op))
		for (unsigned bit = 0; bit < OP_COUNT; bit++)
			if (op_name(bit) && field_is(&op, op_name(bit)))
				p->did[bit]++;
}

static void note_refused(struct process *p, const char *text, size_t len)
{
	struct field call, object, rule;
	char *line = NULL;
	size_t size;

	p->denied++;
	if (p->n_refused == REFUSED_MAX || !field_find(text, len, "call", &call) || !field_find(text, len, "object", &object))
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

static void note_exit(struct tree *t, const char *text, size_t len)
{
	struct field event, pid, f;
	int64_t number;
	char *with;

	if (!field_find(text, len, "event", &event) || !field_is(&event, "exit") || !field_find(text, len, "pid", &pid) ||
	    !field_number(&pid, &number))
		return;
	struct process *p = find(t, number);
	if (!p)
		return;
	bool signalled = field_find(text, len, "signal", &f);
	if (!p->end && (signalled || field_find(text, len, "status", &f)) &&
	    asprintf(&p->end, "%s %.*s", signalled ? "signal" : "exit", (int)f.len, f.value) < 0)
		p->end = NULL;
	if (p->end && field_find(text, len, "cpu_ms", &f) && asprintf(&with, "%s, %.*s ms", p->end, (int)f.len, f.value) > 0) {
		free(p->end);
		p->end = with;
	}
	if (!p->parent && field_find(text, len, "ppid", &f))
		(void)field_number(&f, &p->parent);
	if (!p->exe && field_find(text, len, "exe", &f))
		keep_text(&p->exe, &f);
}

static void note_record(void *context, const char *text, size_t len)
{
	struct tree *t = context;
	struct field type, pid, f = { 0 };
	int64_t number, parent;
	if (field_find(text, len, "type", &type) && field_is(&type, "note") && !t->log->n_words)
		note_exit(t, text, len);
	if (!field_find(text, len, "type", &type) || !field_is(&type, "call") || !field_find(text, len, "pid", &pid) ||
	    !field_number(&pid, &number) || !query_match(t->log->query, text, len))
		return;
	struct process *p = find(t, number);
	if (!p)
		return;
	p->records++;
	if (field_find(text, len, "verdict", &f) && (field_is(&f, "deny") || field_is(&f, "kill")))
		note_refused(p, text, len);
	else if ((field_is(&f, "allow") || field_is(&f, "rewrite")) && field_find(text, len, "op", &f) && f.kind == FIELD_LIST)
		count_ops(p, &f);
	if (field_find(text, len, "ppid", &f) && field_number(&f, &parent))
		p->parent = parent;
	if (field_find(text, len, "exe", &f) && !p->exe)
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

static bool has_parent(const struct tree *t, const struct process *p)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].pid == p->parent && p->parent != p->pid)
			return true;
	return false;
}

static void print_sum(const struct tree *t, const struct process *p, unsigned depth)
{
	const char *red = t->log->colour ? "\033[31m" : "", *plain = t->log->colour ? "\033[0m" : "";

	printf("  (%lu records", (unsigned long)p->records);
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

static void print_from(struct tree *t, struct process *p, unsigned depth)
{
	if (p->printed || depth > 200)
		return;
	p->printed = true;
	printf("%*s%ld ", (int)depth * 2, "", (long)p->pid);
	put_text(render_value, p->exe ? p->exe : "?");
	if (p->argv && *p->argv) {
		putchar(' ');
		put_text(render_argv, p->argv);
	}
	print_sum(t, p, depth);
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].parent == p->pid)
			print_from(t, &t->all[i], depth + 1);
}

int log_tree(struct log *l)
{
	struct tree t = { .log = l };
	int rc = log_walk_settled(l->dir, note_record, &t);
	if (rc == 0 && t.failed)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < t.n; i++)
		if (!has_parent(&t, &t.all[i]))
			print_from(&t, &t.all[i], 0);
	for (size_t i = 0; rc == 0 && i < t.n; i++) /* a circle of reused numbers hides nobody */
		print_from(&t, &t.all[i], 0);
	for (size_t i = 0; i < t.n; i++) {
		free(t.all[i].exe);
		free(t.all[i].argv);
		free(t.all[i].end);
		while (t.all[i].n_refused)
			free(t.all[i].refused[--t.all[i].n_refused]);
	}
	free(t.all);
	return rc;
}
