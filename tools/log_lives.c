/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/log_lives.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/stamp.h"

/* What a killed caller's call came to is decided a moment after it has ended, and is its own all the same. */
#define LATE_NS 1000000000

static struct log_process *add(struct log_lives *l, int64_t pid)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct log_process **grown = realloc(l->all, cap * sizeof(*grown));

		if (!grown)
			return NULL;
		l->all = grown;
		l->cap = cap;
	}
	struct log_process *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->ended = UINT64_MAX;
	return l->all[l->n++] = p;
}

static bool time_of(const char *text, size_t len, const char *key, uint64_t *ns)
{
	struct field f;

	return field_find(text, len, key, &f) && stamp_read(f.value, f.len, ns);
}

/* "exit 0, 12 ms" */
static char *end_of(const char *text, size_t len)
{
	struct field how, cpu;
	char *end = NULL;
	bool signalled = field_find(text, len, "signal", &how);

	if (!signalled && !field_find(text, len, "status", &how))
		return NULL;
	bool timed = field_find(text, len, "cpu_ms", &cpu);
	if (asprintf(&end, "%s %.*s%s%.*s%s", signalled ? "signal" : "exit", (int)how.len, how.value, timed ? ", " : "", timed ? (int)cpu.len : 0,
		     timed ? cpu.value : "", timed ? " ms" : "") < 0)
		return NULL;
	return end;
}

void log_lives_note(void *lives, const char *text, size_t len)
{
	struct log_lives *l = lives;
	struct field f;
	int64_t pid;

	if (!field_find(text, len, "event", &f) || !field_is(&f, "exit") || !field_find(text, len, "pid", &f) || !field_number(&f, &pid))
		return;
	struct log_process *p = add(l, pid);
	if (!p) {
		l->failed = true;
		return;
	}
	(void)time_of(text, len, "began", &p->began);
	(void)time_of(text, len, "time", &p->ended);
	p->end = end_of(text, len);
	if (field_find(text, len, "ppid", &f))
		(void)field_number(&f, &p->ppid);
	if (field_find(text, len, "exe", &f))
		p->exe = strndup(f.value, f.len);
}

static int by_number(const void *a, const void *b)
{
	const struct log_process *x = *(struct log_process *const *)a, *y = *(struct log_process *const *)b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->began > y->began) - (x->began < y->began);
}

int log_process_order(const struct log_process *a, const struct log_process *b)
{
	if (a->began != b->began)
		return a->began < b->began ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_time(const void *a, const void *b)
{
	return log_process_order(*(struct log_process *const *)a, *(struct log_process *const *)b);
}

static int by_pid(const void *a, const void *b)
{
	const struct log_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

void log_lives_sort(struct log_lives *l)
{
	if (l->n)
		qsort(l->all, l->n, sizeof(l->all[0]), by_number);
	l->n_ended = l->n;
}

/* The one that ended which had PID at TIME, or had it last before that; without one the first that had it. NULL: nobody had. */
static struct log_process *ended_at(const struct log_lives *l, int64_t pid, uint64_t time)
{
	const struct log_process key = { .pid = pid, .began = time }, *want = &key;
	size_t from = 0, to = l->n_ended;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (by_number(&l->all[middle], &want) <= 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (from && l->all[from - 1]->pid == pid)
		return l->all[from - 1];
	return from < l->n_ended && l->all[from]->pid == pid ? l->all[from] : NULL;
}

static struct log_process *open_at(const struct log_lives *l, int64_t pid)
{
	const struct log_process key = { .pid = pid };
	struct log_process **found = tfind(&key, &l->open, by_pid);

	return found ? *found : NULL;
}

struct log_process *log_lives_find(struct log_lives *l, int64_t pid, uint64_t time)
{
	struct log_process *p = ended_at(l, pid, time);

	if (p && (p->ended == UINT64_MAX || time <= p->ended || time - p->ended < LATE_NS))
		return p;
	p = open_at(l, pid);
	if (p)
		return p;
	p = add(l, pid);
	if (p)
		p->began = time;
	if (!p || !tsearch(p, &l->open, by_pid))
		l->failed = true;
	return p;
}

/* Who had the number of P's parent when P began. */
static struct log_process *parent_of(const struct log_lives *l, const struct log_process *p)
{
	struct log_process *up = ended_at(l, p->ppid, p->began), *open = open_at(l, p->ppid);

	if (open && (!up || up->ended < p->began))
		up = open;
	return up == p ? NULL : up;
}

void log_lives_join(struct log_lives *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->all[i]->parent = parent_of(l, l->all[i]);
	if (l->n)
		qsort(l->all, l->n, sizeof(l->all[0]), by_time);
	l->n_ended = 0;
}

static void keep_it(void *p)
{
	(void)p; /* it is one of all */
}

void log_lives_clear(struct log_lives *l)
{
	tdestroy(l->open, keep_it);
	for (size_t i = 0; i < l->n; i++) {
		struct log_process *p = l->all[i];

		free(p->exe);
		free(p->argv);
		free(p->end);
		while (p->n_refused)
			free(p->refused[--p->n_refused]);
		free(p);
	}
	free(l->all);
}
