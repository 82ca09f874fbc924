/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every byte of a name is written so that it matches itself alone; wildcards stand only where a number, letters drawn by lot, or directories over which
 * files are spread were generalized, as usher(1) tells under SERVICES.
 */
#include "tools/review_place.h"

#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "policy/guard.h"
#include "rules/cleanup.h"

#define DEEPEST 24 /* directories below the root among which those are looked for over which files are spread */

struct unsteady review_end(const struct done_to *w)
{
	if (*w->scheme || !(w->ops & OP_CREATE))
		return (struct unsteady){ 0 };
	if (!(w->ops & OP_DELETE))
		return review_numbered(w->name);
	return w->drawn ? review_like_word(w->name) : review_unsteady(w->name);
}

/* A name without the letters that may have been drawn by lot, and who had it first. */
struct worded {
	char *name;
	struct done_to *first;
};

static int by_rest(const void *a, const void *b)
{
	const struct worded *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void free_worded(void *of)
{
	struct worded *w = of;

	free(w->name);
	free(w);
}

/* Letters that look like words: where two names differ in nothing else they were drawn, both. FALSE without memory. */
static bool look_at_word(void **tree, struct done_to *w, const struct unsteady *word)
{
	struct worded *key = calloc(1, sizeof(*key)), **at = NULL;

	if (key) {
		*key = (struct worded){ .name = strdup(w->name), .first = w };
		if (key->name)
			memset(key->name + strlen(w->name) - word->suffix - word->lot, '?', word->lot);
		at = key->name ? tsearch(key, tree, by_rest) : NULL;
	}
	if (at && *at != key)
		(*at)->first->drawn = w->drawn = true;
	if (key && (!at || *at != key))
		free_worded(key);
	return at;
}

static void look_for_words(struct review_names *of)
{
	void *tree = NULL;

	for (size_t i = 0; i < of->listed; i++) {
		struct done_to *w = of->list[i];
		bool gone = !*w->scheme && !w->first && w->ops & OP_CREATE && w->ops & OP_DELETE;
		struct unsteady word = gone ? review_like_word(w->name) : (struct unsteady){ 0 };
		if (word.lot && !look_at_word(&tree, w, &word))
			of->failed = true;
	}
	tdestroy(tree, free_worded);
}

/* Some of a name, with a wildcard in the place of each process's number. */
static void put_part(struct strbuf *to, const char *part, size_t len)
{
	size_t done = 0;

	for (const char *hole; (hole = memchr(part + done, REVIEW_NUMBER, len - done)); done = (size_t)(hole - part) + 1) {
		guard_escape(to, (struct span){ part + done, (uint32_t)((size_t)(hole - part) - done) });
		strbuf_puts(to, "[0-9]*");
	}
	guard_escape(to, (struct span){ part + done, (uint32_t)(len - done) });
}

void review_put_unsteady(struct strbuf *to, const struct unsteady *u)
{
	if (u->whole)
		strbuf_puts(to, "*");
	for (size_t i = 0; i < u->lot; i++)
		strbuf_puts(to, u->one->pattern);
	if (u->digits)
		strbuf_puts(to, "[0-9]*");
}

/* The same, where it stands before letters DRAWN by lot with a wildcard in the place of a day in its last name: Ruby's puma20261130-4242-8sfjq1. */
static void put_dated(struct strbuf *to, const char *part, size_t len, bool drawn)
{
	const char *slash = memrchr(part, '/', len);
	size_t n = 0, at = slash ? (size_t)(slash - part) : 0;

	for (; drawn && at < len; at += n + !n) {
		n = strspn(part + at, "0123456789");
		if (at + n <= len && review_is_day(part + at, n))
			break;
	}
	if (!drawn || at >= len) {
		put_part(to, part, len);
		return;
	}
	put_part(to, part, at);
	strbuf_puts(to, "20[0-9][0-9][0-9][0-9][0-9][0-9]");
	put_part(to, part + at + n, len - at - n);
}

/* What the first LEN bytes of the name are a directory of. */
static const struct done_to *above(const struct review_rules *r, const struct done_to *w, size_t len)
{
	char name[PATH_MAX];

	if (len >= sizeof(name) || (*w->scheme && strcmp(w->scheme, "unix:") != 0))
		return NULL;
	memcpy(name, w->name, len);
	name[len] = 0;
	return review_names_find(&r->names, "", name);
}

/* A directory that was made and is gone again, in one of which all files may be allowed. */
static bool has_passed(const struct done_to *d)
{
	return d && d->directory && !d->first && d->done & OP_CREATE && d->done & OP_DELETE;
}

/*
 * The last directory, or name, of the first LEN bytes, where files are spread over those beside it; PARENT is what the rule says of what is above.
 * Of what is secret each stays what it is.
 */
static struct unsteady spread_at(const struct review_rules *r, const struct done_to *w, size_t len, const char *parent)
{
	const char *slash = memrchr(w->name, '/', len);
	size_t n = slash ? len - (size_t)(slash - w->name) - 1 : 0;

	if (!n || w->first)
		return (struct unsteady){ 0 };
	if (has_passed(above(r, w, len)) && review_spread_passes(&r->spread, parent))
		return (struct unsteady){ .whole = n };
	const struct lot_letter *one = review_spread_is(slash + 1, n) ? review_spread_find(&r->spread, parent, n) : NULL;
	return one ? (struct unsteady){ .lot = n, .one = one } : (struct unsteady){ 0 };
}

/* What is another one next time of the directory that the first LEN bytes of the name are. */
static struct unsteady directory_above(const struct review_rules *r, const struct done_to *w, size_t len, const char *parent)
{
	const struct done_to *d = above(r, w, len);
	struct unsteady u = d ? review_end(d) : (struct unsteady){ 0 };

	return review_unsteady_len(&u) ? u : spread_at(r, w, len, parent);
}

/* What was written from START on, as a string. */
static const char *written(struct strbuf *to, size_t start)
{
	strbuf_add(to, "", 1);
	if (to->failed)
		return "";
	to->len--;
	return to->bytes + start;
}

void review_put_name(struct strbuf *to, const struct review_rules *r, const struct done_to *w, size_t len)
{
	size_t start = to->len, done = 0;

	strbuf_printf(to, " \"%s", w->scheme);
	for (size_t at = 1; at <= len && w->name[at]; at++) {
		if (w->name[at] != '/')
			continue;
		struct unsteady u = directory_above(r, w, at, written(to, start));
		put_dated(to, w->name + done, at - done - u.suffix - review_unsteady_len(&u), review_unsteady_len(&u));
		review_put_unsteady(to, &u);
		put_part(to, w->name + at - u.suffix, u.suffix);
		done = at;
	}
	put_dated(to, w->name + done, len - done, w->name[len] && w->name[len] != '/');
}

/* Of the name itself. The rule on all of its directory says as much where there is one. */
struct unsteady review_end_spread(const struct review_rules *r, const struct done_to *w)
{
	const char *slash = strrchr(w->name, '/');
	CLEANUP_STRBUF struct strbuf b = { 0 };

	review_put_name(&b, r, w, slash ? (size_t)(slash - w->name) : 0);
	struct unsteady u = spread_at(r, w, strlen(w->name), written(&b, 0));
	return u.whole && w->shared ? (struct unsteady){ 0 } : u;
}

/* The name of the directory that the first LEN bytes are, from FROM on, joins those beside it. */
static void add_spread(struct review_rules *r, const struct done_to *w, size_t from, size_t len)
{
	const struct done_to *d = above(r, w, len);
	bool spread = review_spread_is(w->name + from, len - from), passed = has_passed(d);
	struct unsteady u = passed ? review_end(d) : (struct unsteady){ 0 };
	CLEANUP_STRBUF struct strbuf b = { 0 };

	if (!spread && !passed)
		return;
	review_put_name(&b, r, w, from - 1);
	const char *parent = written(&b, 0);
	r->spread.failed |= b.failed;
	if (spread)
		review_spread_add(&r->spread, parent, w->name + from, len - from);
	if (passed && !review_unsteady_len(&u))
		review_spread_passed(&r->spread, parent, w->name + from, len - from);
}

/* The directory DEPTH below the root of what was made. Returns whether there may be more below. */
static bool look_at(struct review_rules *r, const struct done_to *w, size_t depth)
{
	size_t from = 1;

	if (*w->scheme || w->name[0] != '/' || w->first || !(w->ops & w->done & OP_CREATE))
		return false;
	for (; depth && w->name[from]; from++)
		depth -= w->name[from] == '/';
	size_t len = from + strcspn(w->name + from, "/");
	if (depth || !w->name[len])
		return false;
	add_spread(r, w, from, len);
	return true;
}

/* From the root downwards, since a directory below one of those is told by what all of these have for a name. */
static void look_for_spread(struct review_rules *r)
{
	bool more = true;

	for (size_t depth = 0; more && depth < DEEPEST; depth++) {
		more = false;
		for (size_t i = 0; i < r->names.listed; i++)
			more |= look_at(r, r->names.list[i], depth);
	}
}

void review_places_find(struct review_rules *r)
{
	look_for_words(&r->names);
	look_for_spread(r);
}
