/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every name is written so that it matches that name alone; what is written loads.
 */
#include "tools/review_rules.h"

#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "policy/guard.h"
#include "policy/show.h"
#include "rules/cleanup.h"
#include "rules/op.h"
#include "rules/ruleset.h"
#include "rules/strbuf.h"

#define JOINED 4 /* names of one directory, with the same operations, become one rule */

/* Of a process, whose number is another one next time. */
static const char PROC[] = "/proc/[0-9]*", PROC_TASK[] = "/proc/[0-9]*/task/[0-9]*";

struct done_to {
	const char *scheme; /* a pattern before the name */
	char *name;
	size_t directory; /* how much of the name is its directory; 0: it is not joined with others */
	op_set ops;
};

struct review_rules {
	void *tree; /* of struct done_to */
	struct done_to **list;
	size_t n, unnamed;
	bool failed;
};

static int by_name(const void *a, const void *b)
{
	const struct done_to *x = a, *y = b;
	int order = strcmp(x->scheme, y->scheme);

	return order ? order : strcmp(x->name, y->name);
}

static int by_directory(const void *a, const void *b)
{
	const struct done_to *x = *(struct done_to *const *)a, *y = *(struct done_to *const *)b;
	int order = memcmp(x->name, y->name, x->directory < y->directory ? x->directory : y->directory);

	if (!order && x->directory != y->directory)
		order = x->directory < y->directory ? -1 : 1;
	return order ? order : by_name(x, y);
}

struct review_rules *review_rules_new(void)
{
	return calloc(1, sizeof(struct review_rules));
}

static void free_one(void *of)
{
	struct done_to *w = of;

	free(w->name);
	free(w);
}

void review_rules_free(struct review_rules *r)
{
	if (!r)
		return;
	tdestroy(r->tree, free_one);
	free(r->list);
	free(r);
}

/* How long "/PREFIX/NUMBER" at the start of NAME is; 0: it does not start so. */
static size_t numbered(const char *name, const char *prefix)
{
	size_t len = strlen(prefix), n = len;

	if (strncmp(name, prefix, len) != 0)
		return 0;
	while (isdigit((unsigned char)name[n]))
		n++;
	return n > len && (name[n] == '/' || name[n] == '\0') ? n : 0;
}

/* Splits NAME into a pattern and what is taken by the byte. NULL: no rule can be on it. */
static const char *scheme_of(const char **name)
{
	size_t n;

	if (strncmp(*name, "unix:", 5) == 0) {
		bool abstract = (*name)[5] == '@';
		*name += abstract ? 6 : 5;
		return abstract ? "unix:@" : "unix:";
	}
	if (strncmp(*name, "tcp:", 4) == 0 || strncmp(*name, "udp:", 4) == 0)
		return (*name)[strspn(*name, "tcpudp0123456789abcdef:.[]%")] ? NULL : "";
	if (**name != '/')
		return NULL;
	n = numbered(*name, "/proc/");
	if (!n)
		return "";
	*name += n;
	n = numbered(*name, "/task/");
	*name += n;
	return n ? PROC_TASK : PROC;
}

/* Not what is executed, nor right below the root or a directory there. */
static size_t directory_of(const struct done_to *w)
{
	const char *slash = strrchr(w->name, '/');
	size_t len = w->name[0] == '/' && !*w->scheme ? (size_t)(slash - w->name) : 0;

	if ((w->ops & OP_EXEC) || strncmp(w->name, "/dev/", 5) == 0 || strncmp(w->name, "/proc/", 6) == 0)
		return 0;
	return len && memchr(w->name + 1, '/', len - 1) ? len : 0;
}

static void want(struct review_rules *r, const char *name, op_set ops)
{
	const char *scheme = scheme_of(&name);

	if (!scheme || !ops || (!*name && scheme != PROC && scheme != PROC_TASK)) {
		r->unnamed++;
		return;
	}
	struct done_to *w = calloc(1, sizeof(*w)), **at = NULL;
	if (w) {
		*w = (struct done_to){ .scheme = scheme, .name = strdup(name) };
		at = w->name ? tsearch(w, &r->tree, by_name) : NULL;
	}
	if (!at)
		r->failed = true;
	else
		(*at)->ops |= ops;
	if (at && *at == w)
		r->n++;
	else if (w)
		free_one(w);
}

static op_set ops_in(const struct field *list)
{
	struct fields all;
	struct field one;
	op_set ops = 0;

	fields_begin(&all, list->value, list->len);
	while (fields_next(&all, &one))
		ops |= op_parse(one.value, one.len);
	/* What was made is there next time. */
	return ops & OP_CREATE ? ops | OP_MODIFY : ops;
}

/* The members "op" and "object" of the record, or of one of its objects. */
static void add_object(struct review_rules *r, const char *text, size_t len)
{
	struct field op, object;

	if (!field_find(text, len, "op", &op) || op.kind != FIELD_LIST || !field_find(text, len, "object", &object) || object.kind != FIELD_STRING)
		return;
	CLEANUP_FREE char *name = malloc(object.len + 1);
	long n = name ? field_bytes(&object, name) : -1;
	if (!name)
		r->failed = true;
	if (n < 0)
		return;
	name[n] = '\0';
	want(r, strlen(name) == (size_t)n ? name : "", ops_in(&op));
}

void review_rules_add(struct review_rules *r, const char *text, size_t len)
{
	struct field list, one;
	struct fields all;

	if (!field_find(text, len, "objects", &list) || list.kind != FIELD_LIST) {
		add_object(r, text, len);
		return;
	}
	fields_begin(&all, list.value, list.len);
	while (fields_next(&all, &one))
		add_object(r, one.value, one.len);
}

static void collect(const void *node, VISIT which, void *to)
{
	struct review_rules *r = to;

	if (which != postorder && which != leaf)
		return;
	struct done_to *w = *(struct done_to *const *)node;
	w->directory = directory_of(w);
	r->list[r->n++] = w;
}

static void put_ops(struct strbuf *to, op_set ops)
{
	const char *between = "allow ";

	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (!(ops & (1u << bit)))
			continue;
		strbuf_printf(to, "%s%s", between, op_name(bit));
		between = ",";
	}
}

static void put_one(struct strbuf *to, const struct done_to *w, bool joined)
{
	size_t len = joined ? w->directory : strlen(w->name);

	put_ops(to, w->ops);
	if (w->name[0] != '/' && !*w->scheme)
		strbuf_printf(to, " %s", w->name);
	else
		guard_pattern(to, w->scheme, (struct span){ w->name, (uint32_t)len }, joined ? "/*" : "");
	strbuf_puts(to, "\n");
}

static bool together(const struct done_to *a, const struct done_to *b)
{
	return a->directory && a->directory == b->directory && strncmp(a->name, b->name, a->directory) == 0;
}

/* Those from FROM up to END are of one directory. */
static void put_directory(struct strbuf *to, struct done_to *const *from, struct done_to *const *end)
{
	uint32_t alike[1u << OP_COUNT] = { 0 };

	for (struct done_to *const *at = from; at < end; at++)
		alike[(*at)->ops]++;
	for (struct done_to *const *at = from; at < end; at++) {
		uint32_t n = alike[(*at)->ops];
		bool joined = n == 0 || ((*at)->directory && n >= JOINED);
		if (n)
			put_one(to, *at, joined);
		if (joined)
			alike[(*at)->ops] = 0; /* said */
	}
}

static void put_all(struct strbuf *to, const struct review_rules *r)
{
	for (size_t i = 0, end; i < r->n; i = end) {
		for (end = i + 1; end < r->n && together(r->list[i], r->list[end]);)
			end++;
		put_directory(to, r->list + i, r->list + end);
	}
}

static bool loads(const char *text, size_t len)
{
	struct diagnostics found = { 0 };
	struct ruleset_source none = { .path = "rules" };
	struct ruleset *rules = NULL;
	bool good = ruleset_parse("rules", text, len, &none, &found, &rules) == 0;

	diagnostics_free(&found);
	if (rules)
		ruleset_free(rules);
	return good;
}

static int write_out(struct review_rules *r, const char *journal, FILE *to)
{
	CLEANUP_STRBUF struct strbuf b = { 0 };
	CLEANUP_FREE char *text = NULL, *shown = NULL;
	struct span where = { journal, (uint32_t)strlen(journal) };
	size_t len, need = show_escape(where, NULL, 0) + 1;

	shown = malloc(need);
	if (!shown)
		return -ENOMEM;
	show_escape(where, shown, need);
	qsort(r->list, r->n, sizeof(struct done_to *), by_directory);
	strbuf_printf(&b, "# What was allowed for review in %s. Read it before it is used: it allows whatever was done,\n"
			  "# what was made to be changed as well, and of a directory with %d names or more that were used alike all its files.\n", shown, JOINED);
	if (r->unnamed)
		strbuf_printf(&b, "# Of what has no name, or none that a rule can be on: %zu calls, which these rules do not allow.\n", r->unnamed);
	put_all(&b, r);
	strbuf_puts(&b, "default deny\n");
	if (r->failed || strbuf_end(&b, &text, &len) < 0)
		return -ENOMEM;
	if (!loads(text, len))
		return -EINVAL;
	fputs(text, to);
	return 0;
}

int review_rules_put(struct review_rules *r, const char *journal, FILE *to)
{
	r->list = calloc(r->n + 1, sizeof(struct done_to *));
	if (!r->list)
		return -ENOMEM;
	r->n = 0;
	twalk_r(r->tree, collect, r);
	return write_out(r, journal, to);
}
