/* SPDX-License-Identifier: Apache-2.0 */
/* Queries over records: see query.h for the words. */
#include "audit/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "audit/record.h"
#include "audit/stamp.h"

#define NS UINT64_C(1000000000)

enum term_kind {
	TERM_DENIED,
	TERM_ASKED,
	TERM_FAILED,
	TERM_ALERT,
	TERM_IN_FLIGHT,
	TERM_PATH,
	TERM_SHA256,
	TERM_BY,
	TERM_OP,
	TERM_FIELD, /* a field equals the word */
	TERM_PID,
	TERM_RULE,
	TERM_SEQ,
	TERM_SINCE,
	TERM_UNTIL,
};

struct term {
	enum term_kind kind;
	bool negated;
	enum query_key looks_at;
	const char *key;  /* the field, where it is one */
	const char *text; /* points into the caller's word */
	uint64_t low, high;
};

struct query {
	size_t n;
	struct term term[];
};

/* --- matching --- */

static bool glob_field(const struct field *f, const char *glob)
{
	char bytes[RECORD_MAX];
	if (f->kind != FIELD_STRING || f->len > sizeof bytes)
		return false;
	long n = field_bytes(f, bytes);
	return n >= 0 && query_glob(glob, bytes, (size_t)n);
}

struct field query_path(const struct field *f)
{
	static const char socket[] = "unix:";
	size_t n = sizeof socket - 1;
	struct field path = *f;
	if (f->kind != FIELD_STRING || f->len <= n || memcmp(f->value, socket, n) != 0 || f->value[n] != '/')
		return path;
	path.value += n;
	path.len -= n;
	return path;
}

/* A socket with a file's name is found by that alone, too. */
static bool glob_name(const struct field *f, const char *glob)
{
	struct field path = query_path(f);
	return glob_field(f, glob) || (path.len != f->len && glob_field(&path, glob));
}

/* object, named, to (where a rewrite led) and given (what the kernel chose). */
static bool match_name(const struct field *f, const char *glob)
{
	return query_key_of(f) == KEY_NAME && glob_name(f, glob);
}

static bool match_sha256(const struct field *f, const char *hex)
{
	return (field_key(f, "sha256") || field_key(f, "to_sha256")) && field_is(f, hex);
}

/* Whether one MATCHES, at the top or in the list of objects. */
static bool match_object(const char *text, size_t len, bool (*matches)(const struct field *f, const char *word), const char *word)
{
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		if (matches(&one, word))
			return true;
		if (one.kind != FIELD_LIST || !field_key(&one, "objects"))
			continue;
		struct fields items;
		struct field item;
		fields_begin(&items, one.value, one.len);
		while (fields_next(&items, &item))
			if (item.kind == FIELD_OBJECT && match_object(item.value, item.len, matches, word))
				return true;
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A version behind a name: python3 and python for python3.11, gcc for gcc-12; not python3.1. */
static bool match_unversioned(struct field leaf, const char *glob)
{
	while (leaf.len > 1 && (is_digit(leaf.value[leaf.len - 1]) || strchr(".-", leaf.value[leaf.len - 1]))) {
		bool whole = !is_digit(leaf.value[--leaf.len]) ||
			     (!is_digit(leaf.value[leaf.len - 1]) && !strchr(".-", leaf.value[leaf.len - 1]));
		if (whole && glob_field(&leaf, glob))
			return true;
	}
	return false;
}

/* A program by its whole name or by its last component, with its version or without. */
static bool match_by(const struct field *exe, const char *glob)
{
	struct field leaf = *exe;
	if (exe->kind != FIELD_STRING)
		return false;
	if (strchr(glob, '/'))
		return glob_field(exe, glob);
	const char *slash = memrchr(exe->value, '/', exe->len);
	if (slash) {
		leaf.value = slash + 1;
		leaf.len = exe->len - (size_t)(slash + 1 - exe->value);
	}
	return glob_field(&leaf, glob) || match_unversioned(leaf, glob);
}

static bool match_number(const struct field *f, const struct term *t)
{
	int64_t v;
	return field_number(f, &v) && v >= 0 && (uint64_t)v >= t->low && (uint64_t)v <= t->high;
}

static bool match_time(const struct field *f, const struct term *t)
{
	uint64_t ns;
	return stamp_read(f->value, f->len, &ns) && ns >= t->low && ns <= t->high;
}

/* Whether the value F of a field that the term looks at answers it; what the field may hold more than one of, item by item. */
static bool match_value(const struct term *t, const struct field *f)
{
	switch (t->kind) {
	case TERM_DENIED:
		return field_is(f, "deny") || field_is(f, "kill");
	case TERM_FAILED: /* an errno's name: a result that is a number is a success */
		return f->kind == FIELD_STRING;
	case TERM_ALERT:
		return field_is(f, "alert");
	case TERM_IN_FLIGHT:
		return field_is(f, "true");
	case TERM_PATH:
		return glob_name(f, t->text);
	case TERM_BY:
		return match_by(f, t->text);
	case TERM_OP:
		return op_parse(f->value, f->len) & t->low;
	case TERM_FIELD:
	case TERM_SHA256:
		return field_is(f, t->text);
	case TERM_RULE:
		return memmem(f->value, f->len, t->text, strlen(t->text));
	case TERM_PID:
	case TERM_SEQ:
		return match_number(f, t);
	case TERM_SINCE:
	case TERM_UNTIL:
		return match_time(f, t);
	case TERM_ASKED:
		return true;
	}
	return false;
}

static bool match_op(const struct field *ops, const struct term *t)
{
	struct fields f;
	struct field one;
	if (ops->kind != FIELD_LIST)
		return false;
	fields_begin(&f, ops->value, ops->len);
	while (fields_next(&f, &one))
		if (match_value(t, &one))
			return true;
	return false;
}

static bool match_term(const struct term *t, const char *text, size_t len)
{
	struct field f;
	if (t->kind == TERM_PATH)
		return match_object(text, len, match_name, t->text);
	if (t->kind == TERM_SHA256)
		return match_object(text, len, match_sha256, t->text);
	if (t->kind == TERM_PID)
		return (field_find(text, len, "pid", &f) && match_value(t, &f)) || (field_find(text, len, "tid", &f) && match_value(t, &f));
	if (!field_find(text, len, t->key, &f))
		return false;
	return t->kind == TERM_OP ? match_op(&f, t) : match_value(t, &f);
}

bool query_match(const struct query *q, const char *text, size_t len)
{
	for (size_t i = 0; i < q->n; i++)
		if (match_term(&q->term[i], text, len) == q->term[i].negated)
			return false;
	return true;
}

/* --- compiling --- */

/* Digits at TEXT: strtoull() by itself takes blanks and a sign before them. False, and *end TEXT, where there are none. */
static bool parse_digits(const char *text, char **end, uint64_t *out)
{
	*end = (char *)(uintptr_t)text;
	*out = is_digit(text[0]) ? strtoull(text, end, 10) : 0;
	return *end > text;
}

/* Whether the first LEN characters of what records have end with one of its numbers, not within it. */
static bool ends_number(size_t len)
{
	return len > 20 || len == 4 || (len > 6 && (len - 7) % 3 == 0);
}

/* "10m" back from NOW, or a time: what records have, UTC, whole or up to the end of a number in it. */
static bool parse_time(const char *text, uint64_t now, uint64_t *out)
{
	static const char full[] = "1970-01-01T00:00:00.000000Z";
	static const struct {
		char unit;
		uint64_t s;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end, stamp[sizeof full];
	uint64_t n;
	bool digits = parse_digits(text, &end, &n);
	for (size_t i = 0; digits && i < sizeof units / sizeof units[0]; i++)
		if (end[0] == units[i].unit && !end[1]) {
			*out = n <= now / NS / units[i].s ? now - n * units[i].s * NS : 0;
			return true;
		}
	size_t len = strcspn(text, "Z");
	if (len > STAMP_LEN - 1 || !ends_number(len) || (text[len] && text[len + 1]))
		return false;
	memcpy(stamp, full, sizeof full);
	memcpy(stamp, text, len);
	if (len > 10 && stamp[10] == ' ')
		stamp[10] = 'T';
	return stamp_read(stamp, STAMP_LEN, out);
}

/* N or N-M. */
static bool parse_range(const char *text, uint64_t *low, uint64_t *high)
{
	char *end;
	if (!parse_digits(text, &end, low) || (*end && *end != '-'))
		return false;
	*high = *end ? UINT64_MAX : *low;
	if (*end == '-' && *++end)
		(void)parse_digits(end, &end, high);
	return !*end;
}

/* The words: with a value behind a colon, or alone. FIELD is the one they look at, where it is one. */
static const struct word {
	const char *word;
	const char *field;
	enum term_kind kind;
	enum query_key looks_at;
	bool alone;
} known_words[] = {
	{ "denied", "verdict", TERM_DENIED, KEY_VERDICT, true },   { "asked", "answer", TERM_ASKED, KEY_ANSWER, true },
	{ "failed", "result", TERM_FAILED, KEY_RESULT, true },	   { "alert", "log", TERM_ALERT, KEY_LOG, true },
	{ "in-flight", "intent", TERM_IN_FLIGHT, KEY_INTENT, true }, { "path", NULL, TERM_PATH, KEY_NAME, false },
	{ "by", "exe", TERM_BY, KEY_EXE, false },		   { "op", "op", TERM_OP, KEY_OP, false },
	{ "call", "call", TERM_FIELD, KEY_CALL, false },	   { "verdict", "verdict", TERM_FIELD, KEY_VERDICT, false },
	{ "type", "type", TERM_FIELD, KEY_TYPE, false },	   { "result", "result", TERM_FIELD, KEY_RESULT, false },
	{ "event", "event", TERM_FIELD, KEY_EVENT, false },	   { "pid", NULL, TERM_PID, KEY_TASK, false },
	{ "rule", "rule", TERM_RULE, KEY_RULE, false },		   { "seq", "seq", TERM_SEQ, KEY_SEQ, false },
	{ "sha256", NULL, TERM_SHA256, KEY_NONE, false },
	{ "since", "time", TERM_SINCE, KEY_TIME, false },	   { "until", "time", TERM_UNTIL, KEY_TIME, false },
};

static const struct word *find_word(const char *text, size_t len, bool alone)
{
	for (size_t i = 0; i < sizeof known_words / sizeof known_words[0]; i++) {
		const struct word *w = &known_words[i];
		if (w->alone == alone && strlen(w->word) == len && !memcmp(w->word, text, len))
			return w;
	}
	return NULL;
}

static bool one_of(const char *text, const char *const *words)
{
	while (*words && strcmp(*words, text) != 0)
		words++;
	return *words;
}

static bool parse_value(struct term *t, uint64_t now)
{
	static const char *const verdicts[] = { "none", "allow", "rewrite", "ask", "deny", "kill", NULL };
	static const char *const types[] = { "start", "call", "answer", "note", "seal", "end", NULL };
	size_t len = strlen(t->text);
	if (t->looks_at == KEY_VERDICT && t->kind == TERM_FIELD)
		return one_of(t->text, verdicts);
	if (t->looks_at == KEY_TYPE)
		return one_of(t->text, types);
	if (t->kind == TERM_OP)
		return (t->low = op_parse(t->text, len)) != 0;
	if (t->kind == TERM_PID || t->kind == TERM_SEQ)
		return parse_range(t->text, &t->low, &t->high) && t->low <= t->high;
	if (t->kind == TERM_SINCE)
		return parse_time(t->text, now, &t->low);
	return t->kind != TERM_UNTIL || parse_time(t->text, now, &t->high);
}

static bool parse_word(const char *word, uint64_t now, struct term *t)
{
	*t = (struct term){ .high = UINT64_MAX };
	t->negated = word[0] == '!';
	word += t->negated;
	const char *colon = word[0] == '/' ? NULL : strchr(word, ':');
	const struct word *w = word[0] == '/' ? find_word("path", 4, false) :
			       colon	      ? find_word(word, (size_t)(colon - word), false) :
						find_word(word, strlen(word), true);
	if (!w)
		return false;
	t->kind = w->kind;
	t->key = w->field;
	t->looks_at = w->looks_at;
	t->text = colon ? colon + 1 : word;
	return *t->text && parse_value(t, now);
}

int query_new(const char *const *words, size_t n, uint64_t now, struct query **out, const char **bad)
{
	struct query *q = calloc(1, sizeof *q + n * sizeof q->term[0]);
	*bad = NULL;
	if (!q)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!parse_word(words[i], now, &q->term[q->n])) {
			*bad = words[i];
			free(q);
			return -EINVAL;
		}
		q->n++;
	}
	*out = q;
	return 0;
}

void log_query_free(struct query *q)
{
	free(q);
}

/* --- for an index --- */

enum query_key query_key_of(const struct field *f)
{
	static const struct {
		const char *field;
		enum query_key key;
	} keys[] = { { "seq", KEY_SEQ },       { "time", KEY_TIME },   { "type", KEY_TYPE },	{ "pid", KEY_TASK },
		     { "tid", KEY_TASK },      { "exe", KEY_EXE },     { "call", KEY_CALL },	{ "op", KEY_OP },
		     { "object", KEY_NAME },   { "named", KEY_NAME },  { "to", KEY_NAME },	{ "given", KEY_NAME },
		     { "verdict", KEY_VERDICT }, { "rule", KEY_RULE },
		     { "result", KEY_RESULT }, { "event", KEY_EVENT }, { "log", KEY_LOG },	{ "answer", KEY_ANSWER },
		     { "intent", KEY_INTENT } };
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (field_key(f, keys[i].field))
			return keys[i].key;
	return KEY_NONE;
}

size_t query_words(const struct query *q)
{
	return q->n;
}

enum query_key query_word_key(const struct query *q, size_t i)
{
	return q->term[i].negated ? KEY_NONE : q->term[i].looks_at;
}

bool query_value(const struct query *q, size_t i, const struct field *value)
{
	return match_value(&q->term[i], value);
}

void query_range(const struct query *q, size_t i, uint64_t *low, uint64_t *high)
{
	*low = q->term[i].low;
	*high = q->term[i].high;
}

const char *query_literal(const struct query *q, size_t i)
{
	const struct term *t = &q->term[i];
	return t->kind == TERM_PATH && !t->text[strcspn(t->text, "*?[{\\")] ? t->text : NULL;
}
