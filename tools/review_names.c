/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: comes to an end whatever the journal says. Two directories that were moved below each other in turn make ever longer names: of those that the
 * journal does not have there are at most COPIES, of which each was made by at most DEEPEST moves.
 */
#include "tools/review_names.h"

#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/review_place.h"

#define DEEPEST 4
#define COPIES 65536

static int by_name(const void *a, const void *b)
{
	const struct done_to *x = a, *y = b;
	int order = strcmp(x->scheme, y->scheme);

	return order ? order : strcmp(x->name, y->name);
}

static int by_directory(const void *a, const void *b)
{
	const struct done_to *x = *(struct done_to *const *)a, *y = *(struct done_to *const *)b;

	if (x->first != y->first)
		return x->first ? -1 : 1;
	int order = memcmp(x->name, y->name, x->directory < y->directory ? x->directory : y->directory);

	if (!order && x->directory != y->directory)
		order = x->directory < y->directory ? -1 : 1;
	return order ? order : by_name(x, y);
}

static int by_ends(const void *a, const void *b)
{
	const struct moved *x = a, *y = b;
	int order = by_name(x->from, y->from);

	return order ? order : by_name(x->to, y->to);
}

static void free_name(void *of)
{
	struct done_to *w = of;

	free(w->name);
	free(w);
}

void review_names_free(struct review_names *of)
{
	tdestroy(of->moved, free);
	tdestroy(of->tree, free_name);
	free(of->list);
	free(of->move);
}

struct done_to *review_names_want(struct review_names *of, const char *scheme, const char *name, op_set ops)
{
	struct done_to *w = calloc(1, sizeof(*w)), **at = NULL;

	if (w) {
		*w = (struct done_to){ .scheme = scheme, .name = strdup(name) };
		at = w->name ? tsearch(w, &of->tree, by_name) : NULL;
	}
	if (at)
		(*at)->ops |= ops;
	else
		of->failed = true;
	if (at && *at == w)
		of->n++;
	else if (w)
		free_name(w);
	return at ? *at : NULL;
}

struct done_to *review_names_find(const struct review_names *of, const char *scheme, const char *name)
{
	struct done_to key = { .scheme = scheme, .name = (char *)name };
	struct done_to **at = tfind(&key, &of->tree, by_name);

	return at ? *at : NULL;
}

void review_names_move(struct review_names *of, struct done_to *from, struct done_to *to, op_set given)
{
	if (!from || !to || from == to)
		return;
	struct moved *m = calloc(1, sizeof(*m)), **at = NULL;
	if (m) {
		*m = (struct moved){ .from = from, .to = to };
		at = tsearch(m, &of->moved, by_ends);
	}
	if (at)
		(*at)->given |= given;
	else
		of->failed = true;
	if (at && *at == m)
		of->n_moved++;
	else
		free(m);
}

static void take_name(const void *node, VISIT which, void *to)
{
	struct review_names *of = to;

	if (which == postorder || which == leaf)
		of->list[of->listed++] = *(struct done_to *const *)node;
}

static void take_move(const void *node, VISIT which, void *to)
{
	struct review_names *of = to;

	if (which == postorder || which == leaf)
		of->move[of->n_moved++] = *(struct moved *const *)node;
}

void review_names_list(struct review_names *of)
{
	struct done_to **list = reallocarray(of->list, of->n + 1, sizeof(struct done_to *));

	of->listed = 0;
	if (!list) {
		of->failed = true;
		return;
	}
	of->list = list;
	twalk_r(of->tree, take_name, of);
}

/* Ports that anybody may take: where they are many they are others each time. */
static size_t address_of(const struct done_to *w)
{
	const char *colon = strrchr(w->name, ':');

	return colon && strtoul(colon + 1, NULL, 10) >= REVIEW_PORTS ? (size_t)(colon - w->name) : 0;
}

/* Devices, and what is a process's; /dev/shm is a directory of files like any other. */
static bool is_special(const char *name)
{
	return (strncmp(name, "/dev/", 5) == 0 && strncmp(name, "/dev/shm/", 9) != 0) || strncmp(name, "/proc/", 6) == 0;
}

/* Not what is executed, nor right below the root or a directory there. */
static size_t directory_of(const struct done_to *w)
{
	if (w->name[0] != '/' && !*w->scheme)
		return address_of(w);
	const char *slash = strrchr(w->name, '/');
	size_t len = w->name[0] == '/' && !*w->scheme ? (size_t)(slash - w->name) : 0;

	if ((w->ops & OP_EXEC) || is_special(w->name))
		return 0;
	return len && memchr(w->name + 1, '/', len - 1) ? len : 0;
}

bool review_names_together(const struct done_to *a, const struct done_to *b)
{
	return a->directory && a->first == b->first && a->directory == b->directory && strncmp(a->name, b->name, a->directory) == 0;
}

/* What a rule knows by letters drawn by lot, however many there were of it: a number's file is written beside a program, under another name each time. */
static bool is_passing(const struct done_to *w)
{
	struct unsteady end = w->ops & OP_DELETE ? review_end(w) : (struct unsteady){ 0 };

	return review_unsteady_len(&end) != 0;
}

/*
 * Whether W is one of those for which all of its directory are allowed: that changes were tried, and failed, is no reason to let others be made, nor
 * are names that take no such rule.
 */
static bool counts(const struct done_to *w)
{
	return w->directory && !(w->ops & REVIEW_CHANGES & (op_set)~w->done) && !is_passing(w);
}

/* Those from FROM up to END are of one directory. */
static void share(struct done_to *const *from, struct done_to *const *end)
{
	uint32_t alike[1u << OP_COUNT] = { 0 };
	op_set shared = 0;

	for (struct done_to *const *at = from; at < end; at++) {
		if (counts(*at) && ++alike[(*at)->ops] >= REVIEW_JOINED)
			shared |= (*at)->ops;
	}
	for (struct done_to *const *at = from; at < end; at++)
		(*at)->shared = shared;
}

void review_names_sort(struct review_names *of)
{
	review_names_list(of);
	for (size_t i = 0; i < of->listed; i++) {
		struct done_to *w = of->list[i];
		w->directory = directory_of(w);
		w->first = w->looked ? w->first : of->first(of->context, w);
		w->looked = true;
	}
	if (of->listed)
		qsort(of->list, of->listed, sizeof(struct done_to *), by_directory);
	for (size_t i = 0, end; i < of->listed; i = end) {
		for (end = i + 1; end < of->listed && review_names_together(of->list[i], of->list[end]);)
			end++;
		share(of->list + i, of->list + end);
	}
}

/* OPS more on W; whether it had not all of them. */
static bool raise(struct done_to *w, op_set ops)
{
	w->done |= ops;
	if (!(ops & (op_set)~(w->ops | w->shared)))
		return false;
	w->ops |= ops;
	return true;
}

/* The first name of the list that is not before NAME. */
static size_t first_from(const struct review_names *of, const char *name)
{
	struct done_to key = { .scheme = "", .name = (char *)name };
	size_t low = 0, high = of->listed;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (by_name(of->list[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The name of W, which lies below a directory, below another one: what is behind LEN stands behind THERE. NULL: it is none that is looked after. */
static struct done_to *copy(struct review_names *of, const struct done_to *w, size_t len, const char *there)
{
	size_t before = of->n, front = strlen(there);
	char *name = w->copied < DEEPEST && of->copies < COPIES ? malloc(front + strlen(w->name + len) + 1) : NULL;

	if (!name)
		return NULL;
	memcpy(name, there, front);
	strcpy(name + front, w->name + len);
	struct done_to *other = review_names_want(of, "", name, 0);
	if (other && of->n != before) {
		other->copied = w->copied + 1;
		of->copies++;
	}
	free(name);
	return other;
}

/* WANT of what is done below the directory OF_THESE is needed by the same name below THOSE as well. */
static bool raise_below(struct review_names *of, const struct done_to *of_these, const struct done_to *those, op_set want)
{
	size_t len = strlen(of_these->name);
	char *below = malloc(len + 2);
	bool more = false;

	if (!below) {
		of->failed = true;
		return false;
	}
	memcpy(below, of_these->name, len);
	memcpy(below + len, "/", 2);
	for (size_t i = first_from(of, below); i < of->listed && !*of->list[i]->scheme && strncmp(of->list[i]->name, below, len + 1) == 0; i++) {
		const struct done_to *w = of->list[i];
		struct done_to *other = w->ops & want ? copy(of, w, len, those->name) : NULL;
		more |= other && raise(other, w->ops & want);
	}
	free(below);
	return more;
}

/* A socket is reached by the name that it was bound to as by the one that it has now. */
static bool raise_socket(struct review_names *of, const struct moved *m)
{
	const struct done_to *to = review_names_find(of, "unix:", m->to->name);
	op_set reach = to ? to->ops & (op_set)(OP_CONNECT | OP_SEND) : 0;
	struct done_to *from = reach ? review_names_want(of, "unix:", m->from->name, 0) : NULL;

	return from && raise(from, reach);
}

static bool settle_one(struct review_names *of, const struct moved *m)
{
	bool more = raise(m->from, (m->to->ops | m->to->shared) & m->given);

	/* What lies below comes to no name at which it could not be made. */
	more |= raise_below(of, m->from, m->to, OP_CREATE);
	more |= raise_below(of, m->to, m->from, m->given);
	return raise_socket(of, m) || more;
}

void review_names_settle(struct review_names *of)
{
	bool more = true;

	of->move = calloc(of->n_moved + 1, sizeof(struct moved *));
	of->n_moved = 0;
	if (!of->move) {
		of->failed = true;
		return;
	}
	twalk_r(of->moved, take_move, of);
	while (more && !of->failed) {
		more = false;
		review_names_sort(of); /* tells what is shared */
		review_names_list(of);
		for (size_t i = 0; i < of->n_moved; i++)
			more |= settle_one(of, of->move[i]);
	}
}
