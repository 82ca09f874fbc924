/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usher log who-touched PATH: every record about the file that is, was or became PATH. Renames and links that
 * succeeded carry a name on, in both directions; renaming a directory carries on all below it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/escape.h"
#include "audit/field.h"
#include "audit/names_index.h"
#include "audit/render.h"
#include "tools/log.h"

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
	struct name *names;
	size_t n_names;
	struct move *moves;
	size_t n_moves;
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

/* Takes TEXT over. */
static bool add_name(struct who *w, char *text)
{
	size_t len = text ? strlen(text) : 0;
	if (!text || w->n_names == NAMES_MAX || known(w, text, len)) {
		w->failed |= !text;
		free(text);
		return false;
	}
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

/* The name of object INDEX in the list of objects. */
static bool object_at(const struct field *objects, unsigned index, struct field *out)
{
	struct fields f;
	struct field one;
	fields_begin(&f, objects->value, objects->len);
	while (fields_next(&f, &one))
		if (!index--)
			return one.kind == FIELD_OBJECT && field_find(one.value, one.len, "object", out);
	return false;
}

/* Moves that took effect, or may have (an intent without its outcome). */
static void collect_move(void *context, const char *text, size_t len)
{
	struct field objects, from, to, result;
	if (!names_index_moves(text, len) || !field_find(text, len, "objects", &objects))
		return;
	if (field_find(text, len, "result", &result) && !field_is(&result, "0"))
		return;
	if (object_at(&objects, 0, &from) && object_at(&objects, 1, &to))
		add_move(context, &from, &to);
}

/* NAME, which is FROM or lies below it, as it is called below TO; NULL when it is neither. */
static char *carried(const struct name *name, const struct name *from, const struct name *to)
{
	if (name->len < from->len || memcmp(name->text, from->text, from->len) != 0 ||
	    (name->len > from->len && name->text[from->len] != '/'))
		return NULL;
	char *out = malloc(to->len + name->len - from->len + 1);
	if (!out)
		return NULL;
	memcpy(out, to->text, to->len);
	memcpy(out + to->len, name->text + from->len, name->len - from->len + 1);
	return out;
}

/* Until nothing new is found: what each known name was or became. */
static void close_names(struct who *w)
{
	for (bool grew = true; grew && !w->failed;) {
		grew = false;
		for (size_t m = 0; m < w->n_moves; m++) {
			for (size_t n = 0; n < w->n_names; n++) {
				char *forth = carried(&w->names[n], &w->moves[m].from, &w->moves[m].to);
				grew |= forth && add_name(w, forth);
				char *back = carried(&w->names[n], &w->moves[m].to, &w->moves[m].from);
				grew |= back && add_name(w, back);
			}
		}
	}
}

static bool is_about(const struct who *w, const char *text, size_t len)
{
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		if (one.kind == FIELD_STRING && (field_key(&one, "object") || field_key(&one, "named")) &&
		    known(w, one.value, one.len))
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

/* Whether a directory above a known name was moved. */
static bool carries(const struct who *w, const char *text, size_t len)
{
	struct field objects, one;
	if (!names_index_moves(text, len) || !field_find(text, len, "objects", &objects))
		return false;
	for (unsigned index = 0; index < 2; index++) {
		if (!object_at(&objects, index, &one))
			continue;
		for (size_t i = 0; i < w->n_names; i++)
			if (w->names[i].len > one.len && w->names[i].text[one.len] == '/' &&
			    !memcmp(w->names[i].text, one.value, one.len))
				return true;
	}
	return false;
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
		fwrite(text, 1, len, stdout);
		putchar('\n');
	} else {
		render_line(stdout, text, len, w->log->colour);
	}
}

/* The absolute form of NAME, escaped as records are; sockets (tcp:..., unix:...) stay as they are. */
static char *as_recorded(const char *name)
{
	char cwd[PATH_MAX] = "", *whole = NULL;
	const char *colon = strchr(name, ':'), *slash = strchr(name, '/');
	bool endpoint = colon && (!slash || colon < slash);
	if (name[0] != '/' && !endpoint && !getcwd(cwd, sizeof cwd))
		return NULL;
	if (asprintf(&whole, "%s%s%s", cwd, cwd[0] ? "/" : "", name) < 0)
		return NULL;
	size_t n = strlen(whole), cap = n * ESCAPE_GROWTH + 1;
	char *text = malloc(cap);
	ssize_t len = text ? escape(text, cap - 1, whole, n) : -1;
	free(whole);
	if (len >= 0)
		text[len] = '\0';
	return text;
}

/* Through the index: what is not in it yet, the intents in flight, is walked. */
static int search_index(struct who *w, struct names_index *x)
{
	int rc = names_index_want_moves(x);
	if (rc == 0)
		rc = names_index_lines(x, collect_move, w);
	if (rc == 0)
		rc = log_walk_inflight(w->log->dir, collect_move, w);
	if (rc != 0)
		return rc;
	close_names(w);
	for (size_t i = 0; rc == 0 && i < w->n_names; i++)
		rc = names_index_want(x, w->names[i].text, w->names[i].len);
	if (rc == 0)
		rc = names_index_want_moves(x);
	if (rc == 0)
		rc = w->failed ? -ENOMEM : names_index_lines(x, show_about, w);
	return rc == 0 ? log_walk_inflight(w->log->dir, show_about, w) : rc;
}

static int search_all(struct who *w)
{
	int rc = log_walk(w->log->dir, true, collect_move, w);
	if (rc != 0)
		return rc;
	close_names(w);
	return w->failed ? -ENOMEM : log_walk(w->log->dir, true, show_about, w);
}

int log_who_touched(struct log *l, const char *name)
{
	struct who w = { .log = l, .names = calloc(NAMES_MAX, sizeof *w.names) };
	if (!w.names)
		return -ENOMEM;
	add_name(&w, as_recorded(name));
	struct names_index *x = NULL;
	int rc = names_index_open(l->dir, false, &x) == 0 ? search_index(&w, x) : search_all(&w);
	names_index_close(x);
	if (rc == 0 && !w.found)
		fprintf(stderr, "usher log: nothing in this session touched %s\n", name);
	for (size_t i = 0; i < w.n_names; i++)
		free(w.names[i].text);
	for (size_t i = 0; i < w.n_moves; i++) {
		free(w.moves[i].from.text);
		free(w.moves[i].to.text);
	}
	free(w.names);
	free(w.moves);
	return rc;
}
