/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live journal is copied while it is written, and the copy need not go forward: the brace of a record may be newer than bytes behind it, in whose place there
 * is filling. Whatever part is missing the first time, the reader gives every record, and each whole.
 * And of a journal of many segments the directory is not listed for each of them.
 */
#include "audit_text.h"

#include <dirent.h>

#include "audit/reader.h"

/* What the next read of it lacks still. */
static off_t gap_at;
static size_t gap_len;

ssize_t __real_pread(int fd, void *buf, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t at);

ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t at)
{
	ssize_t got = __real_pread(fd, buf, n, at);
	if (!gap_len || got <= 1 || at + got <= gap_at || at > gap_at)
		return got;
	size_t from = (size_t)(gap_at - at), most = (size_t)got - from;
	memset((char *)buf + from, '\n', gap_len < most ? gap_len : most);
	gap_len = 0;
	return got;
}

static void assert_all_read(const char *dir, const struct text *t, size_t lines)
{
	struct reader *r;
	struct line l;
	size_t n = 0;
	assert_int_equal(reader_open(dir, &r), 0);
	for (; reader_next(r, &l) == 1; n++) {
		if (n == t->n || l.len != t->line_len[n] - 1 || memcmp(l.bytes, t->line[n], l.len) != 0)
			fail_msg("line %zu: %.*s", n + 1, (int)l.len, l.bytes);
	}
	reader_close(r);
	assert_int_equal(n, lines);
}

/* Each part of each of the first LINES records is missing once. */
static void read_with_gaps(const char *dir, const struct text *t, size_t lines)
{
	for (size_t i = 0, at = 0; i < lines; at += t->line_len[i++]) {
		for (size_t from = 1; from < t->line_len[i]; from++) {
			static const size_t lens[] = { 1, 2, 31, 32, 64, 5000 };
			for (size_t k = 0; k < sizeof lens / sizeof lens[0]; k++) {
				gap_at = (off_t)(at + from);
				gap_len = lens[k] < t->line_len[i] - from ? lens[k] : t->line_len[i] - from;
				assert_all_read(dir, t, lines);
				assert_int_equal(gap_len, 0);
			}
		}
	}
}

static void a_copy_need_not_go_forward(void **state)
{
	char dir[64], *out = malloc(2 * MAX_BYTES);
	struct text *t = malloc(sizeof *t);
	make_closed(fresh_dir(dir), 4, 2);
	load(dir, t);
	read_with_gaps(dir, t, t->n);
	size_t len = t->len - t->line_len[t->n - 1];
	memcpy(out, t->bytes, len);
	memset(out + len, '\n', 4096);
	store(dir, out, len + 4096);
	read_with_gaps(dir, t, t->n - 1);
	remove_dir(dir);
	free(out);
	free(t);
	(void)state;
}

static unsigned names_listed;

struct dirent *__real_readdir(DIR *d);
struct dirent *__wrap_readdir(DIR *d);

struct dirent *__wrap_readdir(DIR *d)
{
	names_listed++;
	return __real_readdir(d);
}

/* A line in each of N segments, and a gap in their numbers. */
static void the_directory_is_not_listed_for_each_segment(void **state)
{
	enum { N = 500, GAP = 300 };
	char dir[64], path[128];
	struct reader *r;
	struct line l;
	unsigned n = 0;
	mkdir(fresh_dir(dir), 0700);
	for (unsigned i = 1; i <= N; i++) {
		snprintf(path, sizeof path, "%s/journal-%06u.jsonl", dir, i < GAP ? i : i + 7);
		FILE *f = fdopen(open_anew(path), "w");
		fprintf(f, "{\"seq\":%u}\n", i);
		fclose(f);
	}
	names_listed = 0;
	assert_int_equal(reader_open(dir, &r), 0);
	while (reader_next(r, &l) == 1)
		assert_int_equal(l.segment, ++n < GAP ? n : n + 7);
	reader_close(r);
	assert_int_equal(n, N);
	assert_in_range(names_listed, 0, 10 * N);
	remove_dir(dir);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_copy_need_not_go_forward), cmocka_unit_test(the_directory_is_not_listed_for_each_segment) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
