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
	const char *key;  /* TERM_FIELD */
	const char *text; /* points into the caller's word */
	uint64_t low, high;
};

struct query {
	size_t n;
	struct term term[];
};

/* --- matching --- */

static bool glob_at(const char *g, const char *g_end, const char *s, const char *end, unsigned depth);

/* The alternatives of {a,b} at G, each with what follows the brace. */
static bool match_braces(const char *g, const char *g_end, const char *s, const char *end, unsigned depth)
{
	const char *close = memchr(g, '}', (size_t)(g_end - g));
	if (!close)
		return s < end && *s == '{' && glob_at(g + 1, g_end, s + 1, end, depth + 1);
	for (const char *alt = g + 1; alt <= close;) {
		const char *stop = alt;
		while (stop < close && *stop != ',')
			stop++;
		for (const char *to = s; to <= end; to++)
			if (glob_at(alt, stop, s, to, depth + 1) && glob_at(close + 1, g_end, to, end, depth + 1))
				return true;
		alt = stop + 1;
	}
	return false;
}

/* Whether C is in the class that begins at *g ("[...]"); *g is moved behind it. */
static bool match_class(const char **g, const char *g_end, char c)
{
	const char *p = *g + 1;
	bool not = p < g_end && (*p == '!' || *p == '^'), in = false;
	p += not;
	for (bool first = true; p < g_end && (*p != ']' || first); first = false) {
		char low = *p++, high = low;
		if (p + 1 < g_end && p[0] == '-' && p[1] != ']') {
			high = p[1];
			p += 2;
		}
		in |= (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
	}
	*g = p < g_end ? p + 1 : p;
	return in != not && c != '/';
}

static bool match_star(const char *g, const char *g_end, const char *s, const char *end, unsigned depth)
{
	bool deep = g + 1 < g_end && g[1] == '*';
	g += deep ? 2 : 1;
	for (;; s++) {
		if (glob_at(g, g_end, s, end, depth + 1))
			return true;
		if (s == end || (!deep && *s == '/'))
			return false;
	}
}

static bool glob_at(const char *g, const char *g_end, const char *s, const char *end, unsigned depth)
{
	if (depth > 64)
		return false;
	while (g < g_end) {
		if (*g == '*')
			return match_star(g, g_end, s, end, depth);
		if (*g == '{')
			return match_braces(g, g_end, s, end, depth);
		if (s == end)
			return false;
		if (*g == '[') {
			if (!match_class(&g, g_end, *s))
				return false;
		} else if (*g == '?') {
			if (*s == '/')
				return false;
			g++;
		} else {
			g += *g == '\\' && g + 1 < g_end;
			if (*g++ != *s)
				return false;
		}
		s++;
	}
	return s == end;
}

bool query_glob(const char *glob, const char *bytes, size_t n)
{
	size_t len = strlen(glob);
	if (glob_at(glob, glob + len, bytes, bytes + n, 0))
		return true;
	/* dir/ ** is the directory and all below it */
	return len > 3 && !strcmp(glob + len - 3, "/**") && glob_at(glob, glob + len - 3, bytes, bytes + n, 0);
}

static bool glob_field(const struct field *f, const char *glob)
{
	char bytes[RECORD_MAX];
	if (f->kind != FIELD_STRING || f->len > sizeof bytes)
		return false;
	long n = field_bytes(f, bytes);
	return n >= 0 && query_glob(glob, bytes, (size_t)n);
}

/* object and named, at the top and in the list of objects. */
static bool match_path(const char *text, size_t len, const char *glob)
{
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		if ((field_key(&one, "object") || field_key(&one, "named")) && glob_field(&one, glob))
			return true;
		if (one.kind != FIELD_LIST || !field_key(&one, "objects"))
			continue;
		struct fields items;
		struct field item;
		fields_begin(&items, one.value, one.len);
		while (fields_next(&items, &item))
			if (item.kind == FIELD_OBJECT && match_path(item.value, item.len, glob))
				return true;
	}
	return false;
}

/* A program by its whole name or by its last component. */
static bool match_by(const struct field *exe, const char *glob)
{
	struct field leaf = *exe;
	if (exe->kind != FIELD_STRING)
		return false;
	for (size_t i = exe->len; !strchr(glob, '/') && i > 0; i--) {
		if (exe->value[i - 1] != '/')
			continue;
		leaf.value = exe->value + i;
		leaf.len = exe->len - i;
		break;
	}
	return glob_field(&leaf, glob);
}

static bool match_op(const struct field *ops, const char *word)
{
	op_set want = op_parse(word, strlen(word));
	struct fields f;
	struct field one;
	if (ops->kind != FIELD_LIST)
		return false;
	fields_begin(&f, ops->value, ops->len);
	while (fields_next(&f, &one))
		if (op_parse(one.value, one.len) & want)
			return true;
	return false;
}

static bool match_number(const struct field *f, const struct term *t)
{
	int64_t v;
	return field_number(f, &v) && v >= 0 && (uint64_t)v >= t->low && (uint64_t)v <= t->high;
}

static bool match_time(const char *text, size_t len, const struct term *t)
{
	struct field f;
	uint64_t ns;
	return field_find(text, len, "time", &f) && stamp_read(f.value, f.len, &ns) && ns >= t->low && ns <= t->high;
}

static bool has(const char *text, size_t len, const char *key, struct field *f)
{
	return field_find(text, len, key, f);
}

/* An errno's name and nothing else: a result that is a number is a success. */
static bool match_failed(const struct field *result)
{
	return result->kind == FIELD_STRING;
}

static bool match_term(const struct term *t, const char *text, size_t len)
{
	struct field f;
	switch (t->kind) {
	case TERM_DENIED:
		return has(text, len, "verdict", &f) && (field_is(&f, "deny") || field_is(&f, "kill"));
	case TERM_ASKED:
		return has(text, len, "answer", &f);
	case TERM_FAILED:
		return has(text, len, "result", &f) && match_failed(&f);
	case TERM_ALERT:
		return has(text, len, "log", &f) && field_is(&f, "alert");
	case TERM_IN_FLIGHT:
		return has(text, len, "intent", &f) && field_is(&f, "true");
	case TERM_PATH:
		return match_path(text, len, t->text);
	case TERM_BY:
		return has(text, len, "exe", &f) && match_by(&f, t->text);
	case TERM_OP:
		return has(text, len, "op", &f) && match_op(&f, t->text);
	case TERM_FIELD:
		return has(text, len, t->key, &f) && field_is(&f, t->text);
	case TERM_PID:
		return (has(text, len, "pid", &f) && match_number(&f, t)) || (has(text, len, "tid", &f) && match_number(&f, t));
	case TERM_RULE:
		return has(text, len, "rule", &f) && memmem(f.value, f.len, t->text, strlen(t->text));
	case TERM_SEQ:
		return has(text, len, "seq", &f) && match_number(&f, t);
	case TERM_SINCE:
	case TERM_UNTIL:
		return match_time(text, len, t);
	}
	return false;
}

bool query_match(const struct query *q, const char *text, size_t len)
{
	for (size_t i = 0; i < q->n; i++)
		if (match_term(&q->term[i], text, len) == q->term[i].negated)
			return false;
	return true;
}

/* --- compiling --- */

/* "10m" back from NOW, or a time: any beginning of what records have, UTC. */
static bool parse_time(const char *text, uint64_t now, uint64_t *out)
{
	static const char full[] = "1970-01-01T00:00:00.000000Z";
	static const struct {
		char unit;
		uint64_t s;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end, stamp[sizeof full];
	unsigned long long n = strtoull(text, &end, 10);
	for (size_t i = 0; end > text && i < sizeof units / sizeof units[0]; i++)
		if (end[0] == units[i].unit && !end[1]) {
			uint64_t back = n * units[i].s * NS;
			*out = n < 1000000000 && back < now ? now - back : 0;
			return true;
		}
	size_t len = strcspn(text, "Z");
	if (len > STAMP_LEN - 1 || len < 4)
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
	*low = *high = strtoull(text, &end, 10);
	if (end == text || (*end && *end != '-'))
		return false;
	if (*end == '-' && end[1])
		*high = strtoull(end + 1, &end, 10);
	else if (*end == '-') {
		*high = UINT64_MAX;
		end++;
	}
	return !*end;
}

static bool parse_plain(const char *word, struct term *t)
{
	static const struct {
		const char *word;
		enum term_kind kind;
	} plain[] = { { "denied", TERM_DENIED }, { "asked", TERM_ASKED }, { "failed", TERM_FAILED },
		      { "alert", TERM_ALERT }, { "in-flight", TERM_IN_FLIGHT } };
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		if (strcmp(word, plain[i].word) != 0)
			continue;
		t->kind = plain[i].kind;
		return true;
	}
	return false;
}

static bool parse_word(const char *word, uint64_t now, struct term *t)
{
	static const struct {
		const char *key;
		enum term_kind kind;
	} keys[] = { { "path", TERM_PATH },	{ "by", TERM_BY },	  { "op", TERM_OP },
		     { "call", TERM_FIELD },	{ "verdict", TERM_FIELD }, { "type", TERM_FIELD },
		     { "result", TERM_FIELD },	{ "event", TERM_FIELD },   { "pid", TERM_PID },
		     { "rule", TERM_RULE },	{ "seq", TERM_SEQ },	   { "since", TERM_SINCE },
		     { "until", TERM_UNTIL } };
	*t = (struct term){ .high = UINT64_MAX };
	t->negated = word[0] == '!';
	word += t->negated;
	if (word[0] == '/') {
		t->kind = TERM_PATH;
		t->text = word;
		return true;
	}
	const char *colon = strchr(word, ':');
	if (!colon)
		return parse_plain(word, t);
	t->text = colon + 1;
	size_t i = 0, n = sizeof keys / sizeof keys[0];
	while (i < n && (strlen(keys[i].key) != (size_t)(colon - word) || memcmp(keys[i].key, word, (size_t)(colon - word)) != 0))
		i++;
	if (i == n || !*t->text)
		return false;
	t->kind = keys[i].kind;
	t->key = keys[i].key;
	if (t->kind == TERM_OP)
		return op_parse(t->text, strlen(t->text)) != 0;
	if (t->kind == TERM_PID || t->kind == TERM_SEQ)
		return parse_range(t->text, &t->low, &t->high);
	if (t->kind == TERM_SINCE)
		return parse_time(t->text, now, &t->low);
	if (t->kind == TERM_UNTIL)
		return parse_time(t->text, now, &t->high);
	return true;
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
