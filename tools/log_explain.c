/* SPDX-License-Identifier: Apache-2.0 */
/* usher log explain SEQ: the record, the rule as it stood when the session began, and what the same thread did before. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/render.h"
#include "rules/cleanup.h"
#include "tools/log.h"

#define BEFORE 5

struct explain {
	struct log *log;
	int64_t seq;
	char *text; /* the record */
	size_t len;
	char *rule; /* "FILE:LINE" as written in the record */
	int64_t tid;
	struct {
		char *text;
		size_t len;
	} before[BEFORE]; /* a ring of what TID did */
	size_t n_before;
	char *rules; /* the file of the rule, as far as it was read */
	size_t rules_len;
	int64_t part; /* of it, the last one read */
};

static int64_t number_of(const char *text, size_t len, const char *key)
{
	struct field f;
	int64_t v;
	return field_find(text, len, key, &f) && field_number(&f, &v) ? v : -1;
}

static void find_record(void *context, const char *text, size_t len)
{
	struct explain *e = context;
	if (e->text || number_of(text, len, "seq") != e->seq)
		return;
	e->text = log_copy(text, len);
	e->len = len;
}

static void find_before(void *context, const char *text, size_t len)
{
	struct explain *e = context;
	int64_t seq = number_of(text, len, "seq");
	if (seq < 0 || seq >= e->seq || number_of(text, len, "tid") != e->tid)
		return;
	size_t slot = e->n_before++ % BEFORE;
	free(e->before[slot].text);
	e->before[slot].text = log_copy(text, len);
	e->before[slot].len = len;
}

/* Line NUMBER of TEXT and what continues it. */
static void print_rule(const char *text, size_t len, int64_t number)
{
	const char *p = text, *end = text + len;
	for (int64_t n = 1; n < number && p; n++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	while (p && p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		size_t n = stop ? (size_t)(stop - p) : (size_t)(end - p);
		printf("  | ");
		for (size_t i = 0; i < n; i++) /* a rule file may hold anything */
			putchar(p[i] >= 0x20 && p[i] < 0x7f ? p[i] : p[i] == '\t' ? ' ' : '?');
		putchar('\n');
		if (!n || p[n - 1] != '\\')
			return;
		p = stop ? stop + 1 : NULL;
	}
}

/* The file of the rule; a long one stands in several records. */
static void find_rule(void *context, const char *text, size_t len)
{
	struct explain *e = context;
	struct field event, file, body;
	const char *colon = e->rule ? strrchr(e->rule, ':') : NULL;
	int64_t part = number_of(text, len, "part");
	if (!colon || !field_find(text, len, "event", &event) || !field_is(&event, "rules") ||
	    !field_find(text, len, "file", &file) || !field_find(text, len, "text", &body))
		return;
	if (file.len != (size_t)(colon - e->rule) || memcmp(file.value, e->rule, file.len) != 0 || (e->rules && part != e->part + 1))
		return;
	char *grown = realloc(e->rules, e->rules_len + body.len + 1);
	if (!grown)
		return;
	e->rules = grown;
	e->part = part;
	long n = field_bytes(&body, e->rules + e->rules_len);
	e->rules_len += n > 0 ? (size_t)n : 0;
}

static void show_rule(const struct explain *e)
{
	if (!e->rules)
		return;
	printf("\nThe rule as it stood, %s:\n", e->rule);
	print_rule(e->rules, e->rules_len, atoll(strrchr(e->rule, ':') + 1));
}

static void show_found(struct explain *e)
{
	struct field rule;
	render_line(stdout, e->text, e->len, e->log->colour, log_day(e->log));
	putchar('\n');
	render_full(stdout, e->text, e->len);
	if (field_find(e->text, e->len, "rule", &rule))
		e->rule = strndup(rule.value, rule.len);
	e->tid = number_of(e->text, e->len, "tid");
}

static void show_before(struct explain *e)
{
	if (!e->n_before)
		return;
	printf("\nBefore that, the same thread:\n");
	size_t first = e->n_before > BEFORE ? e->n_before - BEFORE : 0;
	for (size_t i = first; i < e->n_before; i++) {
		const char *text = e->before[i % BEFORE].text;
		if (text)
			render_line(stdout, text, e->before[i % BEFORE].len, e->log->colour, log_day(e->log));
	}
}

/* The words of the queries are for the index: each record is looked at again. */
static int find(const struct explain *e, const char *first, const char *second, log_fn each)
{
	const char *const words[] = { first, second };
	return log_find_words(e->log->dir, words, second ? 2 : 1, each, (void *)(uintptr_t)e);
}

int log_explain(struct log *l, uint64_t seq)
{
	struct explain e = { .log = l, .seq = (int64_t)seq };
	char this[32], before[32], thread[32];
	snprintf(this, sizeof this, "seq:%" PRIu64, seq);
	snprintf(before, sizeof before, "seq:1-%" PRIu64, seq);
	int rc = find(&e, this, NULL, find_record);
	if (rc == 0 && !e.text) {
		fprintf(stderr, "usher log: there is no record %" PRIu64 "\n", seq);
		rc = 1;
	}
	if (rc == 0) {
		show_found(&e);
		rc = find(&e, "event:rules", NULL, find_rule);
		show_rule(&e);
	}
	if (rc == 0 && e.tid >= 0) {
		snprintf(thread, sizeof thread, "pid:%" PRId64, e.tid);
		rc = find(&e, before, thread, find_before);
		show_before(&e);
	}
	for (size_t i = 0; i < BEFORE; i++)
		free(e.before[i].text);
	free(e.rule);
	free(e.rules);
	free(e.text);
	return rc;
}
