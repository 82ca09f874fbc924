/* SPDX-License-Identifier: Apache-2.0 */
/* usher log --timeline: how much happened when, in at most forty steps from the first record to the last. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audit/field.h"
#include "audit/intents.h"
#include "audit/query.h"
#include "audit/stamp.h"
#include "tools/log.h"

#define STEPS 40
#define BAR 50
#define NS UINT64_C(1000000000)

struct step {
	uint64_t records, denied;
};

struct timeline {
	struct log *log;
	uint64_t first, last, width;
	struct step step[STEPS + 1];
	struct intents intents; /* in the chain: no record beside that of the outcome */
};

static bool time_of(const struct timeline *t, const char *text, size_t len, uint64_t *ns)
{
	struct field f;
	return field_find(text, len, "time", &f) && stamp_read(f.value, f.len, ns) &&
	       query_match(t->log->query, text, len);
}

static void measure(void *context, const char *text, size_t len)
{
	struct timeline *t = context;
	uint64_t ns;
	if (!time_of(t, text, len, &ns))
		return;
	if (!t->first || ns < t->first)
		t->first = ns;
	if (ns > t->last)
		t->last = ns;
}

static void add(struct timeline *t, const char *text, size_t len)
{
	struct field f;
	uint64_t ns;
	if (!time_of(t, text, len, &ns) || ns < t->first || ns > t->last) /* a live session goes on */
		return;
	struct step *s = &t->step[(ns - t->first) / t->width];
	s->records++;
	if (field_find(text, len, "verdict", &f) && (field_is(&f, "deny") || field_is(&f, "kill")))
		s->denied++;
}

static void count(void *context, const char *text, size_t len)
{
	struct timeline *t = context;
	if (!intents_note(&t->intents, text, len))
		add(t, text, len);
}

/* The operations that had no outcome. */
static int count_rest(struct timeline *t)
{
	for (size_t i = 0; i < t->intents.n; i++)
		add(t, t->intents.at[i].text, t->intents.at[i].len);
	int rc = t->intents.failed ? -ENOMEM : 0;
	intents_free(&t->intents);
	return rc;
}

/* The finest width of a human size that gives at most STEPS. */
static uint64_t choose(uint64_t span)
{
	static const uint64_t widths[] = { NS / 1000, NS / 100, NS / 10, NS, 10 * NS, 60 * NS, 600 * NS, 3600 * NS, 86400 * NS };
	for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
		if (span / widths[i] < STEPS)
			return widths[i];
	return span / STEPS + 1;
}

static void print(const struct timeline *t)
{
	uint64_t most = 1;
	char stamp[STAMP_LEN + 1] = "";
	size_t n = (size_t)((t->last - t->first) / t->width);
	for (size_t i = 0; i <= n; i++)
		most = t->step[i].records > most ? t->step[i].records : most;
	for (size_t i = 0; i <= n; i++) {
		const struct step *s = &t->step[i];
		stamp_write(stamp, t->first + i * t->width);
		printf("%.23s %8lu ", stamp, (unsigned long)s->records);
		for (uint64_t k = 0; k < (s->records * BAR + most - 1) / most; k++)
			putchar('#');
		if (s->denied)
			printf(" %s%lu denied%s", t->log->colour ? "\033[31m" : "", (unsigned long)s->denied,
			       t->log->colour ? "\033[0m" : "");
		putchar('\n');
	}
}

int log_timeline(struct log *l)
{
	struct timeline t = { .log = l };
	int rc = log_find(l->dir, l->query, measure, &t);
	if (rc != 0 || !t.first)
		return rc;
	t.width = choose(t.last - t.first);
	t.first -= t.first % t.width;
	if ((t.last - t.first) / t.width > STEPS)
		t.last = t.first + STEPS * t.width;
	rc = log_find(l->dir, l->query, count, &t);
	int rest = count_rest(&t);
	if (rc != 0 || rest != 0)
		return rc ? rc : rest;
	print(&t);
	return 0;
}
