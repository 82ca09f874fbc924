/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usher log who-touched PATH: every record about the file that is, was or became PATH, or that a rewrite led to it. Renames and links that
 * succeeded carry a name on, in both directions; renaming a directory carries on all below it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/escape.h"
#include "audit/field.h"
#include "audit/index.h"
#include "audit/index_part.h"
#include "audit/render.h"
#include "rules/cleanup.h"
#include "tools/log.h"
#include "tools/rule_files.h"

/* A name in the escaped form of the records: compared as text, no byte is unescaped. */
struct name {
	char *text;
	size_t len;
};

struct move {
	struct name from, to;
};

struct who {
	struct log *log;
	struct name *names; /* the first is the one that was asked for, and the second, perhaps, what that leads to */
	size_t n_names;
	size_t asked;       /* so many are those */
	size_t cap;         /* no more names than this */
	struct move *moves;
	size_t n_moves;
	size_t closed_names, closed_moves; /* each of these names has met each of these moves */
	bool failed; /* out of memory */
	uint64_t found;
};

#define NAMES_MAX 1024

static bool same(const struct name *a, const char *text, size_t len)
{
	return a->len == len && !memcmp(a->text, text, len);
}

static bool known(const struct who *w, const char *text, size_t len)
{
	for (size_t i = 0; i < w->n_names; i++)
		if (same(&w->names[i], text, len))
			return true;
	return false;
}

/* Takes TEXT over. Whether it is new. */
static bool add_name(struct who *w, char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct name *grown = w->names;
	if (!text || w->n_names == w->cap || known(w, text, len)) {
		w->failed |= !text;
		free(text);
		return false;
	}
	if ((w->n_names & (w->n_names + 1)) == 0) /* room for 2^n - 1 is used up */
		grown = realloc(w->names, 2 * (w->n_names + 1) * sizeof *grown);
	if (!grown) {
		w->failed = true;
		free(text);
		return false;
	}
	w->names = grown;
	w->names[w->n_names++] = (struct name){ text, len };
	return true;
}

static void add_move(struct who *w, const struct field *from, const struct field *to)
{
	struct move *grown = w->moves;
	if ((w->n_moves & (w->n_moves + 1)) == 0) /* room for 2^n - 1 is used up */
		grown = realloc(w->moves, 2 * (w->n_moves + 1) * sizeof *grown);
	if (!grown) {
		w->failed = true;
		return;
	}
	w->moves = grown;
	struct move m = { { strndup(from->value, from->len), from->len }, { strndup(to->value, to->len), to->len } };
	w->moves[w->n_moves++] = m;
	w->failed |= !m.from.text || !m.to.text;
}

/* The member KEY of object INDEX in the list of objects. */
static bool object_at(const struct field *objects, unsigned index, const char *key, struct field *out)
{
	struct fields f;
	struct field one;
	fields_begin(&f, objects->value, objects->len);
	while (fields_next(&f, &one))
		if (!index--)
			return one.kind == FIELD_OBJECT && field_find(one.value, one.len, key, out);
	return false;
}

/* Of what was led elsewhere: which name was, the object says; in records of before it said so, either. */
static void collect_led(struct who *w, const struct field *objects, const struct field *from, const struct field *to, const struct field *led)
{
	struct field there[2];
	bool is[2] = { object_at(objects, 0, "to", &there[0]), object_at(objects, 1, "to", &there[1]) };
	if (is[0] || !is[1])
		add_move(w, is[0] ? &there[0] : led, to);
	if (is[1] || !is[0])
		add_move(w, from, is[1] ? &there[1] : led);
	if (is[0] && is[1])
		add_move(w, &there[0], &there[1]);
}

/* Moves that took effect, or may have (an intent without its outcome). */
static void collect_move(void *context, const char *text, size_t len)
{
	struct field objects, from, to, led, result;
	if (!index_moves(text, len) || !field_find(text, len, "objects", &objects))
		return;
	if (field_find(text, len, "result", &result) && !field_is(&result, "0"))
		return;
	if (!object_at(&objects, 0, "object", &from) || !object_at(&objects, 1, "object", &to))
		return;
	add_move(context, &from, &to);
	if (field_find(text, len, "to", &led))
		collect_led(context, &objects, &from, &to, &led);
}

/* NAME, which is FROM or lies below it, as it is called below TO; NULL when it is neither, or there is no memory. */
static char *carried(struct who *w, const struct name *name, const struct name *from, const struct name *to)
{
	if (name->len < from->len || memcmp(name->text, from->text, from->len) != 0 ||
	    (name->len > from->len && name->text[from->len] != '/'))
		return NULL;
	char *out = malloc(to->len + name->len - from->len + 1);
	w->failed |= !out;
	if (!out)
		return NULL;
	memcpy(out, to->text, to->len);
	memcpy(out + to->len, name->text + from->len, name->len - from->len + 1);
	return out;
}

static void carry(struct who *w, const struct move *m, size_t name)
{
	char *forth = carried(w, &w->names[name], &m->from, &m->to);
	if (forth)
		(void)add_name(w, forth);
	char *back = carried(w, &w->names[name], &m->to, &m->from);
	if (back)
		(void)add_name(w, back);
}

/*
 * Until nothing new is found: what each known name was or became. A name meets each move once: a program that renames a file a thousand times, one way
 * or the other, would have all of them tried a thousand times.
 */
static void close_names(struct who *w)
{
	while (!w->failed && w->n_names < w->cap && (w->closed_names < w->n_names || w->closed_moves < w->n_moves)) {
		size_t names = w->n_names;
		for (size_t m = 0; m < w->n_moves; m++)
			for (size_t n = m < w->closed_moves ? w->closed_names : 0; n < names; n++)
				carry(w, &w->moves[m], n);
		w->closed_names = names;
		w->closed_moves = w->n_moves;
	}
}

static bool is_about(const struct who *w, const char *text, size_t len)
{
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		const struct field path = query_path(&one);
		if (one.kind == FIELD_STRING && query_key_of(&one) == KEY_NAME && known(w, path.value, path.len))
			return true;
		if (one.kind != FIELD_LIST || !field_key(&one, "objects"))
			continue;
		struct fields items;
		struct field item;
		fields_begin(&items, one.value, one.len);
		while (fields_next(&items, &item))
			if (item.kind == FIELD_OBJECT && is_about(w, item.value, item.len))
				return true;
	}
	return false;
}

static bool above_known(const struct who *w, const struct field *dir)
{
	for (size_t i = 0; i < w->n_names; i++)
		if (w->names[i].len > dir->len && w->names[i].text[dir->len] == '/' && !memcmp(w->names[i].text, dir->value, dir->len))
			return true;
	return false;
}

/* Whether a directory above a known name was moved. */
static bool carries(const struct who *w, const char *text, size_t len)
{
	struct field objects, one;
	if (!index_moves(text, len) || !field_find(text, len, "objects", &objects))
		return false;
	for (unsigned index = 0; index < 2; index++)
		if ((object_at(&objects, index, "object", &one) && above_known(w, &one)) || (object_at(&objects, index, "to", &one) && above_known(w, &one)))
			return true;
	return field_find(text, len, "to", &one) && above_known(w, &one);
}

static void show_about(void *context, const char *text, size_t len)
{
	struct who *w = context;
	bool mentioned = false;
	for (size_t i = 0; i < w->n_names && !mentioned; i++) /* cheap: most records are dropped here */
		mentioned = memmem(text, len, w->names[i].text, w->names[i].len) != NULL;
	if (!(mentioned && is_about(w, text, len)) && !carries(w, text, len))
		return;
	w->found++;
	if (w->log->json) {
		log_put(text, len);
		putchar('\n');
	} else {
		render_line(stdout, text, len, w->log->colour, log_day(w->log));
	}
}

/* Sockets (tcp:..., unix:...) are no names of files. */
static bool is_endpoint(const char *name)
{
	const char *colon = strchr(name, ':'), *slash = strchr(name, '/');
	return colon && (!slash || colon < slash);
}

/* Without empty components and dots, as names of objects are; what .. leads to is the file system's to say. */
static void tidy(char *name)
{
	char *to = name;
	for (const char *at = name; *at;) {
		const char *end = strchrnul(at + 1, '/');
		size_t len = (size_t)(end - at);
		if (len > 1 && !(len == 2 && at[1] == '.')) {
			memmove(to, at, len);
			to += len;
		}
		at = end;
	}
	if (to == name)
		*to++ = '/';
	*to = '\0';
}

/* The absolute form of NAME; sockets stay as they are. */
static char *absolute(const char *name)
{
	char cwd[PATH_MAX] = "", *whole = NULL;
	bool endpoint = is_endpoint(name);
	if (name[0] != '/' && !endpoint && !getcwd(cwd, sizeof cwd))
		return NULL;
	if (asprintf(&whole, "%s%s%s", cwd, cwd[0] ? "/" : "", name) < 0)
		return NULL;
	if (!endpoint)
		tidy(whole);
	return whole;
}

/* NAME with the links above its last component resolved, as they are now; NULL where there is no such directory. */
static char *resolved_above(const char *name)
{
	CLEANUP_FREE char *above = strdup(name), *real = NULL;
	char *out = NULL, *slash = above ? strrchr(above, '/') : NULL;
	if (!slash || name[0] != '/' || !slash[1])
		return NULL;
	if (!strcmp(slash, "/.."))
		return realpath(name, NULL);
	*slash = '\0';
	real = realpath(above[0] ? above : "/", NULL);
	if (!real || asprintf(&out, "%s/%s", real[1] ? real : "", slash + 1) < 0)
		return NULL;
	return out;
}

/* Escaped as records are. */
static char *as_recorded(const char *whole)
{
	size_t n = strlen(whole), cap = n * ESCAPE_GROWTH + 1;
	char *text = malloc(cap);
	ssize_t len = text ? escape(text, cap - 1, whole, n) : -1;
	if (len >= 0)
		text[len] = '\0';
	return text;
}

/* NAME, and what it is for the kernel now. */
static int ask_for(struct who *w, const char *name)
{
	CLEANUP_FREE char *whole = absolute(name), *led = whole ? resolved_above(whole) : NULL;
	if (!whole || !add_name(w, as_recorded(whole)))
		return -ENOMEM;
	if (led)
		(void)add_name(w, as_recorded(led));
	w->asked = w->n_names;
	return w->failed ? -ENOMEM : 0;
}

/* What is done by way of a link is done to another file. */
static void tell_link(const char *name)
{
	CLEANUP_FREE char *whole = absolute(name), *real = whole && !is_endpoint(name) ? realpath(whole, NULL) : NULL;
	struct stat st;
	if (!real || lstat(whole, &st) != 0 || !S_ISLNK(st.st_mode))
		return;
	CLEANUP_FREE char *shown = shown_name(real);
	fprintf(stderr, "usher log: that is a link; ask for %s, too, to which it leads now\n", shown ? shown : "the file");
}

static void forget_moves(struct who *w)
{
	for (size_t i = 0; i < w->n_moves; i++) {
		free(w->moves[i].from.text);
		free(w->moves[i].to.text);
	}
	free(w->moves);
	w->moves = NULL;
	w->n_moves = w->closed_moves = 0;
}

static void forget_names(struct who *w, size_t upto)
{
	while (w->n_names > upto)
		free(w->names[--w->n_names].text);
	w->closed_names = w->closed_moves = 0;
}

/* Asks for the moves of NAME and of every directory above it, those of SEEN names only once. */
static int want_moves(struct index *x, struct who *seen, const struct name *name)
{
	int rc = 0;
	for (size_t n = 1; rc == 0 && n <= name->len; n++)
		if ((n == name->len || name->text[n] == '/') && add_name(seen, strndup(name->text, n)))
			rc = index_want_moves(x, name->text, n);
	return rc;
}

/* Each round by the index finds what is one rename further: of more than these all is read instead. */
#define ROUNDS_MAX 16

/*
 * The moves that can concern any of the names, by the index: those of the first name and of what is above it, then those of the names to
 * which they lead, until there are no more. 1 where that does not pay.
 */
static int collect_by_index(struct who *w, struct index *x, struct who *seen)
{
	size_t before = 0;
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		int rc = 0;
		for (size_t i = 0; rc == 0 && i < w->n_names; i++)
			rc = want_moves(x, seen, &w->names[i]);
		if (rc != 0 || seen->n_names == before)
			return seen->failed ? -ENOMEM : rc;
		before = seen->n_names;
		forget_moves(w);
		forget_names(w, w->asked);
		rc = index_lines(x, collect_move, w);
		if (rc == 0)
			rc = log_walk_inflight(w->log->dir, collect_move, w);
		if (rc != 0)
			return rc;
		close_names(w);
	}
	return 1;
}

static int search_index(void *context, struct index *x)
{
	struct who *w = context, seen = { .cap = SIZE_MAX };
	forget_names(w, w->asked);
	int rc = collect_by_index(w, x, &seen);
	forget_names(&seen, 0);
	free(seen.names);
	for (size_t i = 0; rc == 0 && i < w->n_names; i++)
		rc = index_want(x, w->names[i].text, w->names[i].len);
	if (rc == 0)
		rc = w->failed ? -ENOMEM : index_lines(x, show_about, w);
	if (rc == -EIO && w->found)
		return -ESTALE; /* it has been shown in part */
	return rc == 0 ? log_walk_inflight(w->log->dir, show_about, w) : rc;
}

static int search_all(struct who *w)
{
	forget_moves(w);
	forget_names(w, w->asked);
	int rc = log_walk(w->log->dir, true, collect_move, w);
	if (rc != 0)
		return rc;
	close_names(w);
	return w->failed ? -ENOMEM : log_walk(w->log->dir, true, show_about, w);
}

int log_who_touched(struct log *l, const char *name)
{
	struct who w = { .log = l, .cap = NAMES_MAX };
	name = query_path(&(struct field){ .kind = FIELD_STRING, .value = name, .len = strlen(name) }).value; /* a socket is its file */
	if (ask_for(&w, name) != 0) {
		forget_names(&w, 0);
		free(w.names);
		return -ENOMEM;
	}
	int rc = log_by_index(l->dir, search_index, &w);
	if (rc != 0 && !w.found)
		rc = search_all(&w);
	if (rc == 0 && !w.found) {
		CLEANUP_FREE char *shown = shown_name(name); /* one that the program made, perhaps */
		fprintf(stderr, "usher log: nothing in this session touched %s\n", shown ? shown : "it");
		log_tell_redacted(l->dir);
	}
	if (rc == 0)
		tell_link(name);
	if (rc == 0 && w.n_names == w.cap)
		fprintf(stderr, "usher log: the file has had more than %d names; the first of them were followed\n", NAMES_MAX);
	forget_moves(&w);
	forget_names(&w, 0);
	free(w.names);
	return rc;
}
