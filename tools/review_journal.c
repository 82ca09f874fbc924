/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reviews from a journal. Marks that were given while the session ran are in it; a journal that is sealed takes none, so
 * later ones go into a file beside it, each with the hash of the first record it is about.
 *
 * MUST: a mark beside the journal counts only for the very record it was given for; nothing is shown that is not printable ASCII.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/field.h"
#include "audit/reader.h"
#include "audit/render.h"
#include "policy/question_json.h"
#include "policy/show.h"
#include "rules/cleanup.h"
#include "rules/plain_file.h"
#include "rules/strbuf.h"
#include "tools/desk_review.h"
#include "tools/log.h"
#include "tools/review_rules.h"
#include "tools/rule_files.h"

#define MARKS "reviews"
#define HASH_TEXT 65

/* Calls of one review; without a number (there was no room for it) a single call. */
struct row {
	int64_t number;
	int64_t seq;      /* of the first */
	unsigned count;
	char *text;       /* the first record */
	char hash[HASH_TEXT];
	char mark[8];
	char said[512];   /* who, and what with it */
};

struct rows {
	struct row *at;
	size_t n, cap;
	bool failed;
};

static int64_t number_in(const char *text, size_t len, const char *key)
{
	struct field f;
	int64_t v;
	return field_find(text, len, key, &f) && field_number(&f, &v) ? v : -1;
}

static void hash_text(const char *text, size_t len, char out[HASH_TEXT])
{
	unsigned char raw[32];
	crypto_generichash(raw, sizeof(raw), (const unsigned char *)text, len, NULL, 0);
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

/* The row of review NUMBER, or of record SEQ where that is 0. */
static struct row *row_of(const struct rows *rows, int64_t number, int64_t seq)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct row *r = &rows->at[i];
		if (r->number == number && (number || r->seq == seq))
			return r;
	}
	return NULL;
}

/* The errno of a call that came to nothing stands where a number would be. */
static bool took_effect(const char *text, size_t len)
{
	struct field f;
	return field_find(text, len, "result", &f) && (f.kind == FIELD_NUMBER || !f.len || f.value[0] != 'E');
}

static void take_call(struct rows *rows, const char *text, size_t len, int64_t number)
{
	int64_t seq = number_in(text, len, "seq");
	struct row *r = number ? row_of(rows, number, 0) : NULL;
	if (r) {
		r->count++;
		return;
	}
	if (rows->n == rows->cap) {
		size_t cap = rows->cap ? 2 * rows->cap : 64;
		struct row *more = reallocarray(rows->at, cap, sizeof(*more));
		if (!more) {
			rows->failed = true;
			return;
		}
		rows->at = more;
		rows->cap = cap;
	}
	r = &rows->at[rows->n];
	*r = (struct row){ .number = number, .seq = seq, .count = 1, .text = strndup(text, len), .mark = "open" };
	if (!r->text) {
		rows->failed = true;
		return;
	}
	hash_text(text, len, r->hash);
	rows->n++;
}

/* A mark of the desk: "wrong review=3 count=1 who=...". */
static void take_note(struct rows *rows, const char *text, size_t len)
{
	struct field f;
	char word[8], line[1024];
	unsigned long long number;
	if (!field_find(text, len, "text", &f) || f.len >= sizeof(line))
		return;
	long n = field_bytes(&f, line);
	line[n > 0 ? n : 0] = '\0';
	struct row *r = sscanf(line, "%7s review=%llu", word, &number) == 2 ? row_of(rows, (int64_t)number, 0) : NULL;
	const char *who = r ? strstr(line, " who=") : NULL;
	if (!who)
		return;
	snprintf(r->mark, sizeof(r->mark), "%s", word);
	snprintf(r->said, sizeof(r->said), "%s", who + 5);
	show_clean(r->said);
}

static void take_record(void *context, const char *text, size_t len)
{
	struct rows *rows = context;
	struct field type, event;
	int64_t number = number_in(text, len, "review");
	if (!field_find(text, len, "type", &type))
		return;
	if (field_is(&type, "call") && number >= 0 && took_effect(text, len))
		take_call(rows, text, len, number);
	else if (field_is(&type, "note") && field_find(text, len, "event", &event) && field_is(&event, "review"))
		take_note(rows, text, len);
}

static void take_mark(struct rows *rows, const char *line, size_t len)
{
	struct json_object *v, *o = json_read(line, len);
	const char *hash = o ? json_text(o, "record") : NULL, *mark = o ? json_text(o, "mark") : NULL;
	const char *said = o ? json_text(o, "message") : NULL;
	for (size_t i = 0; hash && mark && i < rows->n; i++) {
		struct row *r = &rows->at[i];
		if (strcmp(r->hash, hash) != 0)
			continue;
		long long uid = json_object_object_get_ex(o, "uid", &v) ? json_object_get_int64(v) : -1;
		snprintf(r->mark, sizeof(r->mark), "%s", strcmp(mark, "right") == 0 ? "right" : "wrong");
		snprintf(r->said, sizeof(r->said), "uid %lld, afterwards%s%.400s", uid, said && *said ? " message=" : "", said ? said : "");
		show_clean(r->said);
	}
	json_object_put(o);
}

static int marks_path(const char *dir, char *out, size_t cap)
{
	return (size_t)snprintf(out, cap, "%s/%s", dir, MARKS) < cap ? 0 : -ENAMETOOLONG;
}

static int open_marks(const char *dir, int flags)
{
	char path[PATH_MAX];
	int rc = marks_path(dir, path, sizeof(path));

	return rc < 0 ? rc : plain_open(AT_FDCWD, path, flags | O_NOFOLLOW);
}

static void take_marks(struct rows *rows, const char *dir)
{
	CLEANUP_FREE char *line = NULL;
	int fd = open_marks(dir, O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return;
	for (ssize_t n; (n = plain_line(f, &line)) > 0 && line[n - 1] == '\n';)
		take_mark(rows, line, (size_t)n);
	rows->failed |= !line;
	fclose(f);
}

static void id_of(const struct row *r, char *out, size_t cap)
{
	if (r->number)
		snprintf(out, cap, "r%lld", (long long)r->number);
	else
		snprintf(out, cap, "seq:%lld", (long long)r->seq);
}

static void print_row(const struct row *r, const struct review_call *c)
{
	char id[32];
	id_of(r, id, sizeof(id));
	if (c->json) {
		printf("{\"review\":%lld,\"mark\":\"%s\",\"count\":%u,\"record\":", (long long)r->number, r->mark, r->count);
		log_put(r->text, strlen(r->text));
		puts("}");
		return;
	}
	printf("%-6s %-5s %4ux ", id, r->mark, r->count);
	render_line(stdout, r->text, strlen(r->text), false, NULL);
	if (r->said[0])
		printf("%18s %s\n", "", r->said);
}

static int complain(const char *what)
{
	fprintf(stderr, "usher: desk review: %s\n", what);
	return 1;
}

static int add_mark(const struct review_call *c, const struct row *r)
{
	char message[256];
	size_t len = 0;
	snprintf(message, sizeof(message), "%s", c->message);
	show_clean(message);
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "time", json_object_new_int64(time(NULL)));
	json_object_object_add(o, "review", json_object_new_int64(r->number));
	json_object_object_add(o, "seq", json_object_new_int64(r->seq));
	json_object_object_add(o, "record", json_object_new_string(r->hash));
	json_object_object_add(o, "mark", json_object_new_string(c->word));
	json_object_object_add(o, "uid", json_object_new_int64(getuid()));
	json_object_object_add(o, "message", json_object_new_string(message));
	CLEANUP_FREE char *line = json_line(o, &len);
	json_object_put(o);
	CLEANUP_FD int fd = open_marks(c->journal[0], O_WRONLY | O_CREAT | O_APPEND);
	if (!line || fd < 0 || write(fd, line, len) != (ssize_t)len || fsync(fd) < 0)
		return complain("the mark cannot be written beside the journal");
	return 0;
}

static int with_one(const struct review_call *c, const struct rows *rows)
{
	const struct row *found = NULL;
	for (size_t i = 0; i < rows->n && !found; i++) {
		char id[32];
		id_of(&rows->at[i], id, sizeof(id));
		if (strcmp(id, c->id) == 0)
			found = &rows->at[i];
	}
	if (!found)
		return complain("no such review in this journal");
	if (strcmp(c->word, "show") != 0)
		return strcmp(found->mark, "open") == 0 ? add_mark(c, found) : complain("it was marked before");
	if (c->json)
		print_row(found, c);
	else
		render_full(stdout, found->text, strlen(found->text));
	return 0;
}

struct rules_of {
	struct rows wrong; /* those of the others that were marked so: as a rule few, or none */
	struct review_rules *rules;
};

static int keep_wrong(const struct rows *all, struct rows *out)
{
	out->at = calloc(all->n + 1, sizeof(*out->at));
	for (size_t i = 0; out->at && i < all->n; i++) {
		if (strcmp(all->at[i].mark, "wrong") == 0)
			out->at[out->n++] = all->at[i];
	}
	return out->at ? 0 : -ENOMEM;
}

/* What failed does so behind the rules as well, but for a program that was not there: that is looked for in the next place. */
static void take_rule(void *context, const char *text, size_t len)
{
	const struct rules_of *of = context;
	struct field type, call;
	int64_t number = number_in(text, len, "review");
	if (number < 0 || !field_find(text, len, "type", &type) || !field_is(&type, "call"))
		return;
	bool done = took_effect(text, len);
	if (!done && field_find(text, len, "call", &call) && call.len >= 6 && strncmp(call.value, "execve", 6) == 0)
		return;
	if (!row_of(&of->wrong, number, number_in(text, len, "seq")))
		review_rules_add(of->rules, text, len, done);
}

static void free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		free(rows->at[i].text);
	free(rows->at);
}

/* Says what is wrong. */
static int load(const char *journal, struct rows *rows)
{
	int rc = log_walk(journal, false, take_record, rows);

	take_marks(rows, journal);
	if (rc >= 0 && !rows->failed)
		return 0;
	CLEANUP_FREE char *shown = shown_name(journal);
	fprintf(stderr, "usher desk review: %s: %s\n", shown ? shown : "", rc == -ENOENT ? "no journal there" : rc < 0 ? reader_error(rc) : "out of memory");
	return -EIO;
}

/* Returns 1 where what is wrong was said. */
static int add_journal(struct review_rules *rules, const char *journal)
{
	struct rows rows = { 0 };
	struct rules_of of = { .rules = rules };
	int rc = load(journal, &rows) < 0 ? 1 : keep_wrong(&rows, &of.wrong);

	if (rc == 0)
		rc = log_walk(journal, false, take_rule, &of);
	free(of.wrong.at);
	free_rows(&rows);
	return rc;
}

static int put_rules(struct review_rules *rules, const struct review_call *c)
{
	CLEANUP_STRBUF struct strbuf b = { 0 };
	CLEANUP_FREE char *from = NULL;
	size_t len;

	for (size_t i = 0; i < c->journals; i++)
		strbuf_printf(&b, "%s%s", i ? ", " : "", c->journal[i]);
	return strbuf_end(&b, &from, &len) < 0 ? -ENOMEM : review_rules_put(rules, from, stdout);
}

static int print_rules(const struct review_call *c)
{
	struct review_rules *rules = review_rules_new();
	int rc = rules ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < c->journals; i++)
		rc = add_journal(rules, c->journal[i]);
	if (rc == 0)
		rc = put_rules(rules, c);
	review_rules_free(rules);
	if (rc == -EINVAL)
		return complain("a journal has names that are none, of which no rules can be made: 'usher verify' tells whether it is whole");
	if (rc == -EFBIG)
		return complain("so many names, or so long ones, were used that their rules would be larger than a file of rules may be (16 MiB)");
	return rc < 0 ? complain(strerror(-rc)) : rc;
}

static void print_list(const struct review_call *c, const struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (c->all || strcmp(rows->at[i].mark, "open") == 0)
			print_row(&rows->at[i], c);
	}
}

int review_journal(const struct review_call *c)
{
	struct rows rows = { 0 };

	if (strcmp(c->word, "rules") == 0)
		return print_rules(c);
	int rc = load(c->journal[0], &rows) < 0;
	if (rc == 0 && c->id)
		rc = with_one(c, &rows);
	else if (rc == 0)
		print_list(c, &rows);
	free_rows(&rows);
	return rc;
}
