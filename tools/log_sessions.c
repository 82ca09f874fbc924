/* SPDX-License-Identifier: Apache-2.0 */
/* usher log sessions: what was run, a line each, the oldest first: from the first record and the last ones, however long the journal between them is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/field.h"
#include "audit/journal.h"
#include "audit/reader.h"
#include "audit/segment.h"
#include "audit/stamp.h"
#include "rules/cleanup.h"
#include "rules/plain_file.h"
#include "tools/log.h"
#include "tools/rule_files.h"

/* The end and the seal behind it are much shorter. */
#define LAST_BYTES 16384
/* Of a command; --json has all of it. */
#define COMMAND_SHOWN 200

struct session {
	char dir[PATH_MAX + NAME_MAX + 2];
	const char *start; /* its first record; NULL: none that is one */
	size_t start_len;
	pid_t writer;
	char last[LAST_BYTES];
	const char *end; /* in LAST; NULL: the session has not come to it */
	size_t end_len;
};

static bool is_of_type(const char *text, size_t len, const char *type)
{
	struct field f;
	return field_valid(text, len) && field_find(text, len, "type", &f) && field_is(&f, type);
}

static void look_for_end(struct session *s, size_t n)
{
	for (const char *at = s->last, *stop = s->last + n, *eol; (eol = memchr(at, '\n', (size_t)(stop - at))); at = eol + 1) {
		if (!is_of_type(at, (size_t)(eol - at), "end"))
			continue;
		s->end = at;
		s->end_len = (size_t)(eol - at);
	}
}

/* The end record is in the last segment, or, where that has nothing but the seal, in the one before it. */
static void find_end(struct session *s)
{
	char name[SEGMENT_NAME_MAX];
	uint32_t last, previous;
	struct stat st;
	CLEANUP_FD int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	segments_last(dir, &last, &previous);
	for (unsigned i = 0; i < 2 && last && !s->end; i++, last = previous) {
		segment_name(name, last);
		CLEANUP_FD int fd = plain_open(dir, name, O_RDONLY | O_NOFOLLOW);
		if (fd < 0 || fstat(fd, &st) != 0)
			return;
		ssize_t n = pread(fd, s->last, sizeof s->last, st.st_size > LAST_BYTES ? st.st_size - LAST_BYTES : 0);
		look_for_end(s, n > 0 ? (size_t)n : 0);
	}
}

/* What a valid record holds is printable ASCII. */
static void put_command(const struct session *s)
{
	struct field list, word;
	struct fields words;
	if (!field_find(s->start, s->start_len, "command", &list) || list.kind != FIELD_LIST)
		return;
	fields_begin(&words, list.value, list.len);
	for (size_t left = COMMAND_SHOWN; fields_next(&words, &word); left -= word.len) {
		bool quote = !word.len || memchr(word.value, ' ', word.len);
		if (word.len >= left) {
			printf(" %.*s...", (int)left, word.value);
			return;
		}
		printf(quote ? " \"%.*s\"" : " %.*s", (int)word.len, word.value);
	}
}

static int64_t refusals(const struct session *s)
{
	struct field counts, f;
	int64_t deny = 0, kill = 0;
	if (!s->end || !field_find(s->end, s->end_len, "counts", &counts))
		return 0;
	if (field_find(counts.value, counts.len, "deny", &f))
		field_number(&f, &deny);
	if (field_find(counts.value, counts.len, "kill", &f))
		field_number(&f, &kill);
	return deny + kill;
}

static void put_line(const struct session *s, bool colour)
{
	struct field time;
	uint64_t ns;
	char state[64] = "not closed";
	if (s->start && field_find(s->start, s->start_len, "time", &time) && stamp_read(time.value, time.len, &ns))
		printf("%.10s %.8sZ", time.value, time.value + 11);
	else
		printf("%-20s", "?");
	if (s->writer < 0)
		snprintf(state, sizeof state, "running");
	else if (s->writer)
		snprintf(state, sizeof state, "running, %d", (int)s->writer);
	struct field f;
	static const char *const ends[] = { "status", "signal", "result", "lost" };
	for (size_t i = 0; s->end && i < sizeof ends / sizeof ends[0]; i++)
		if (field_find(s->end, s->end_len, ends[i], &f))
			snprintf(state, sizeof state, "%s %.*s", ends[i], f.len < 40 ? (int)f.len : 0, f.value);
	int64_t n = refusals(s);
	printf("  %-16s", state);
	if (n)
		printf(" %s%7" PRId64 " refused%s", colour ? "\033[31m" : "", n, colour ? "\033[0m" : "");
	else
		printf(" %15s", "");
	fputs("  ", stdout);
	put_text(s->dir, strlen(s->dir), stdout);
	fputs(" ", stdout);
	if (s->start)
		put_command(s);
	putchar('\n');
}

static void put_object(const struct session *s)
{
	fputs("{\"dir\":", stdout);
	put_json(s->dir, strlen(s->dir), stdout);
	if (s->writer)
		printf(",\"running\":%d", (int)s->writer);
	fputs(",\"start\":", stdout);
	if (s->start)
		fwrite(s->start, 1, s->start_len, stdout);
	else
		fputs("null", stdout);
	fputs(",\"end\":", stdout);
	if (s->end)
		fwrite(s->end, 1, s->end_len, stdout);
	else
		fputs("null", stdout);
	puts("}");
}

/* A directory without a journal is none of it. */
static int show_session(struct log *l, const char *place, const char *name)
{
	struct reader *r;
	struct line line;
	CLEANUP_FREE struct session *s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	int n = snprintf(s->dir, sizeof s->dir, "%s/%s", place, name);
	if (n < 0 || (size_t)n >= sizeof s->dir || reader_open(s->dir, &r) != 0)
		return 0;
	if (reader_next(r, &line) == 1 && is_of_type(line.bytes, line.len, "start")) {
		s->start = line.bytes;
		s->start_len = line.len;
	}
	s->writer = journal_writer(s->dir);
	find_end(s);
	if (l->json)
		put_object(s);
	else
		put_line(s, l->colour);
	reader_close(r);
	l->shown++;
	return 0;
}

/* Sessions are named by the time of their start. */
static int show_place(struct log *l, const char *place)
{
	struct dirent **entry;
	int rc = 0, n = scandir(place, &entry, NULL, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (rc == 0 && entry[i]->d_name[0] != '.')
			rc = show_session(l, place, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
	return rc;
}

int log_sessions(struct log *l)
{
	char place[PATH_MAX];
	int rc = l->dir ? show_place(l, l->dir) : 0;
	for (unsigned i = 0; !l->dir && rc == 0 && journal_place(i, place, sizeof place) != 1; i++) {
		if (journal_place(i, place, sizeof place) != 0 || (i && !journal_place_ours(place)))
			continue;
		rc = show_place(l, place);
		if (rc == -ENOENT || rc == -ENOTDIR)
			rc = 0;
		else if (rc != 0)
			fprintf(stderr, "usher log: %s: %s\n", place, strerror(-rc));
	}
	CLEANUP_FREE char *shown = l->dir ? shown_name(l->dir) : NULL;
	if (rc == 0 && !l->shown && !l->json)
		fprintf(stderr, "usher log: there is no session in %s\n", shown ? shown : "the default places; name a directory that holds some");
	return rc < 0 && !l->dir ? 1 : rc;
}
