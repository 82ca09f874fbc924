/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking a journal, whole or by its index. MUST: what is shown does not depend on whether there is an index: where it does not help,
 * is damaged, or is somebody else's, everything is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/index.h"
#include "audit/intents.h"
#include "audit/query.h"
#include "audit/reader.h"
#include "audit/redact.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"
#include "tools/log.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

int log_walk(const char *dir, bool intents, log_fn each, void *context)
{
	struct reader *r;
	struct line line;
	int rc = reader_open(dir, &r);
	if (rc != 0)
		return rc;
	while ((rc = reader_next(r, &line)) == 1)
		if (line_is_record(&line))
			each(context, line.bytes, line.len);
	reader_close(r);
	return rc == 0 && intents ? log_walk_inflight(dir, each, context) : rc;
}

/* What is passed on of a walk: intents in the chain once it is over, and those alone that had no outcome. */
struct settling {
	struct intents intents;
	log_fn each;
	void *context;
};

static void settle(void *context, const char *text, size_t len)
{
	struct settling *s = context;
	if (!intents_note(&s->intents, text, len))
		s->each(s->context, text, len);
}

int log_walk_settled(const char *dir, log_fn each, void *context)
{
	struct settling s = { .each = each, .context = context };
	int rc = log_walk(dir, false, settle, &s);
	if (rc == 0 && s.intents.failed)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < s.intents.n; i++)
		each(context, s.intents.at[i].text, s.intents.at[i].len);
	intents_free(&s.intents);
	return rc == 0 ? log_walk_inflight(dir, each, context) : rc;
}

int log_walk_inflight(const char *dir, log_fn each, void *context)
{
	struct reader *r;
	struct line line;
	if (reader_open_inflight(dir, &r) != 0)
		return 0;
	while (reader_next(r, &line) == 1)
		if (line.ended)
			each(context, line.bytes, line.len);
	reader_close(r);
	return 0;
}

static void tell(void *context, uint64_t done, uint64_t all)
{
	const char *end = done == all ? "\n" : "";
	(void)context;
	fprintf(stderr, "\rindexed %llu of %llu MB%s", (unsigned long long)done / 1000000, (unsigned long long)all / 1000000, end);
}

int log_make_index(const char *dir)
{
	return index_make(dir, isatty(STDERR_FILENO) ? tell : NULL, NULL);
}

/* Who waits in front of a terminal should know how not to. */
static void hint(const char *dir)
{
	int fd = isatty(STDERR_FILENO) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	if (segment_after(fd, 1))
		fputs("usher log: the whole journal was read; 'usher log index' makes an index that answers such questions at once\n", stderr);
	close(fd);
}

/* One that is damaged is made anew, once. */
int log_by_index(const char *dir, log_index_fn ask, void *context)
{
	int rc = 1;
	for (int turn = 0; turn < 2; turn++) {
		struct index *x = NULL;
		rc = index_open(dir, &x);
		if (rc == -ENOENT)
			return rc;
		if (rc == 0)
			rc = ask(context, x);
		index_close(x);
		if (rc != -EIO || turn || log_make_index(dir) != 0)
			break;
	}
	return rc;
}

/* What is asked, and whether something was given: then it cannot be begun again. */
struct asking {
	const struct query *query;
	log_fn each;
	void *context;
	bool given;
};

static void pass_on(void *context, const char *text, size_t len)
{
	struct asking *a = context;
	a->given = true;
	a->each(a->context, text, len);
}

static int ask(void *context, struct index *x)
{
	struct asking *a = context;
	int rc = index_select(x, a->query, pass_on, a);
	return rc == -EIO && a->given ? -ESTALE : rc;
}

int log_find(const char *dir, const struct query *query, log_fn each, void *context)
{
	struct asking a = { .query = query, .each = each, .context = context };
	int rc = query_words(query) ? log_by_index(dir, ask, &a) : 1;
	if (rc == 0 || a.given)
		return rc == 0 ? log_walk_inflight(dir, each, context) : rc;
	bool none = rc == -ENOENT;
	rc = log_walk(dir, true, each, context);
	if (rc == 0 && none)
		hint(dir);
	return rc;
}

int log_find_words(const char *dir, const char *const *words, size_t n, log_fn each, void *context)
{
	struct query *q;
	const char *bad;
	int rc = query_new(words, n, stamp_now(), &q, &bad);
	if (rc == 0) {
		rc = log_find(dir, q, each, context);
		log_query_free(q);
	}
	return rc;
}

static void count(void *context, const char *text, size_t len)
{
	struct asking *a = context;
	size_t *n = a->context;
	*n += query_match(a->query, text, len);
}

void log_tell_redacted(const char *dir)
{
	const char *word = "path:**" REDACT_OPEN "**", *bad;
	size_t n = 0;
	struct asking a = { .context = &n };
	struct query *q;
	if (query_new(&word, 1, stamp_now(), &q, &bad) != 0)
		return;
	a.query = q;
	CLEANUP_FREE char *shown = shown_name(dir);
	if (log_find(dir, q, count, &a) == 0 && n && shown)
		fprintf(stderr,
			"usher log: %zu record%s about names with a redacted value in them, which are not found by that value: "
			"'usher log %s \"%s\"' shows them, '--prove SEQ' what was there\n",
			n, n == 1 ? " is" : "s are", shown, word);
	log_query_free(q);
}
