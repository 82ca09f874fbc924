/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: what builtin:secrets denies is allowed where it was done, by a rule before the include: a rule on more than was done, all files of a directory or all ports of an
 * address, stands behind it.
 */
#include "tools/review_lines.h"

#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/cleanup.h"
#include "rules/op.h"
#include "tools/review_place.h"

static void put_ops(struct strbuf *to, const char *between, op_set ops)
{
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (!(ops & (1u << bit)))
			continue;
		strbuf_printf(to, "%s%s", between, op_name(bit));
		between = ",";
	}
}

/* Whether the rule that W makes is on OTHER as well, which had the same done to it: some letters that were drawn by lot look like a word. */
static bool is_alike(const struct done_to *w, const struct done_to *other)
{
	size_t len = strlen(w->name);

	if (w->ops != other->ops || *other->scheme || strlen(other->name) != len)
		return false;
	struct unsteady u = review_end(w);
	size_t end = len - u.suffix, lot = u.lot;
	if (!lot || strncmp(w->name, other->name, end - lot) != 0 || strcmp(w->name + end, other->name + end) != 0)
		return false;
	return strspn(other->name + end - lot, u.one->letters) >= lot;
}

#define NEAR 64 /* names to each side that are looked at; more are rare, and have a rule each */

/* Whether what is to be said of the name at AT is said by the rule of one beside it. */
static bool is_told(const struct review_names *of, size_t at)
{
	const struct done_to *w = of->list[at];

	for (size_t i = at > NEAR ? at - NEAR : 0; i < of->listed && i < at + NEAR; i++) {
		if (i != at && of->list[i]->first == w->first && is_alike(of->list[i], w) && (i < at || !is_alike(w, of->list[i])))
			return true;
	}
	return false;
}

static void put_one(struct strbuf *to, const struct review_rules *r, const struct done_to *w, op_set ops, bool joined)
{
	bool own_port = w->scheme == review_own_port, address = own_port || (w->name[0] != '/' && !*w->scheme);
	struct unsteady end = joined ? (struct unsteady){ 0 } : review_end(w);
	if (!joined && !*w->scheme && !address && !review_unsteady_len(&end))
		end = review_end_spread(r, w);
	size_t len = joined ? w->directory : strlen(w->name);

	put_ops(to, "allow ", ops);
	if (own_port)
		strbuf_printf(to, " %s:%d-65535", w->name, REVIEW_PORTS);
	else if (address && joined)
		strbuf_printf(to, " %.*s:%d-65535", (int)w->directory, w->name, REVIEW_PORTS);
	else if (address)
		strbuf_printf(to, " %s", w->name);
	else
		review_put_name(to, r, w, len - review_unsteady_len(&end) - end.suffix);
	review_put_unsteady(to, &end);
	if (!address)
		strbuf_printf(to, "%s%s\"", joined ? "/*" : "", w->name + strlen(w->name) - end.suffix);
	strbuf_puts(to, w->scheme == review_terminal || own_port ? " own\n" : "\n");
}

/* What the rule on all files of its directory would let be done to the program W that was not: what runs under these rules stays what was run. */
static op_set changed_with(const struct review_names *of, const struct done_to *w)
{
	size_t len = w->ops & OP_EXEC && w->name[0] == '/' ? (size_t)(strrchr(w->name, '/') - w->name) : 0;

	for (size_t i = 0; len && i < of->listed; i++) {
		const struct done_to *other = of->list[i];
		if (other->shared & REVIEW_CHANGES && other->directory == len && memcmp(other->name, w->name, len) == 0)
			return other->shared & REVIEW_CHANGES & (op_set)~w->ops;
	}
	return 0;
}

/* What a line is about, and all that lines on it allow so far. */
struct said {
	char *what;
	op_set ops;
};

static int by_what(const void *a, const void *b)
{
	const struct said *x = a, *y = b;

	return strcmp(x->what, y->what);
}

static void free_said(void *of)
{
	struct said *s = of;

	free(s->what);
	free(s);
}

/* The line that begins at FROM, and allows OPS, goes where those before it say as much. LINES is a tree of struct said. */
static void drop_twin(struct strbuf *b, size_t from, op_set ops, void **lines)
{
	struct said *line = b->failed ? NULL : calloc(1, sizeof(*line)), **at = NULL;
	const char *what = line ? memchr(b->bytes + from + strlen("allow "), ' ', b->len - from - strlen("allow ")) : NULL;

	if (what)
		line->what = strndup(what, b->len - (size_t)(what - b->bytes));
	if (what && line->what)
		at = tsearch(line, lines, by_what);
	if (!at)
		b->failed = true;
	else if (!(ops & (op_set)~(*at)->ops))
		b->len = from;
	else
		(*at)->ops |= ops;
	if (line && (!at || *at != line))
		free_said(line);
}

static void put_unchanged(struct strbuf *to, const struct review_rules *r, const struct done_to *w, op_set ops)
{
	if (!ops)
		return;
	put_ops(to, "deny ", ops);
	review_put_name(to, r, w, strlen(w->name));
	strbuf_puts(to, "\"\n");
}

void review_lines_put(struct strbuf *to, const struct review_rules *r)
{
	const struct review_names *of = &r->names;
	size_t said = SIZE_MAX; /* in whose directory the rule on all its files was the last */
	void *lines = NULL;

	for (size_t i = 0; i < of->listed; i++) {
		const struct done_to *w = of->list[i];
		if (!w->first && (!i || of->list[i - 1]->first))
			strbuf_puts(to, "include " REVIEW_SECRETS "\n");
		size_t from = to->len;
		if (w->shared && (said == SIZE_MAX || !review_names_together(of->list[said], w))) {
			put_one(to, r, w, w->shared, true);
			drop_twin(to, from, w->shared, &lines);
			said = i;
			from = to->len;
		}
		if (!(w->ops & (op_set)~w->shared) || is_told(of, i))
			continue;
		put_one(to, r, w, w->ops, false);
		drop_twin(to, from, w->ops, &lines);
		put_unchanged(to, r, w, changed_with(of, w));
	}
	tdestroy(lines, free_said);
}
