/* SPDX-License-Identifier: Apache-2.0 */
/* usher log --tree: the processes of a session, each below the one that started it, with what was recorded of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/query.h"
#include "tools/log.h"

struct process {
	int64_t pid;
	int64_t parent; /* 0: not known */
	char *exe;      /* escaped, the latest */
	char *argv;
	uint64_t records, denied;
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

static void note_record(void *context, const char *text, size_t len)
{
	struct tree *t = context;
	struct field type, pid, f;
	int64_t number, parent;
	if (!field_find(text, len, "type", &type) || !field_is(&type, "call") || !field_find(text, len, "pid", &pid) ||
	    !field_number(&pid, &number) || !query_match(t->log->query, text, len))
		return;
	struct process *p = find(t, number);
	if (!p)
		return;
	p->records++;
	if (field_find(text, len, "verdict", &f) && (field_is(&f, "deny") || field_is(&f, "kill")))
		p->denied++;
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

static void print_from(struct tree *t, struct process *p, unsigned depth)
{
	if (p->printed || depth > 200)
		return;
	p->printed = true;
	printf("%*s%ld %s", (int)depth * 2, "", (long)p->pid, p->exe ? p->exe : "?");
	if (p->argv && *p->argv)
		printf(" %s", p->argv);
	printf("  (%lu records", (unsigned long)p->records);
	if (p->denied)
		printf(", %s%lu denied%s", t->log->colour ? "\033[31m" : "", (unsigned long)p->denied,
		       t->log->colour ? "\033[0m" : "");
	puts(")");
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].parent == p->pid)
			print_from(t, &t->all[i], depth + 1);
}

int log_tree(struct log *l)
{
	struct tree t = { .log = l };
	int rc = log_walk(l->dir, true, note_record, &t);
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
	}
	free(t.all);
	return rc;
}
