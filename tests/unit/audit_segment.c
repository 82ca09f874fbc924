/* SPDX-License-Identifier: Apache-2.0 */
/* What a segment's mapping holds in memory, and that the file has all of it. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/segment.h"
#include "audit_util.h"

#define LINE 400u
#define LINES 50000u
#define AHEAD ((size_t)256 << 10)
#define MOST_KIB 1024u

static void number(char line[LINE], unsigned n)
{
	memset(line, '.', LINE);
	char text[16];
	int len = snprintf(text, sizeof text, "{%u", n);
	memcpy(line, text, (size_t)len);
}

/* Of this process's mapping that begins at AT. */
static unsigned resident_kib(const char *at)
{
	char line[256], want[32];
	unsigned kib = 0;
	bool here = false, found = false;
	FILE *f = fopen("/proc/self/smaps", "re");

	assert_non_null(f);
	int len = snprintf(want, sizeof want, "%lx-", (unsigned long)(uintptr_t)at);
	while (fgets(line, sizeof line, f) && !found) {
		here = here || strncmp(line, want, (size_t)len) == 0;
		found = here && sscanf(line, "Rss: %u kB", &kib) == 1;
	}
	fclose(f);
	assert_true(found);
	return kib;
}

static void what_is_written_is_let_go(void **state)
{
	char dir[64], line[LINE], read_back[LINE];
	struct segment *s = NULL;
	unsigned most = 0;

	(void)state;
	fresh_dir(dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(segment_create(at, 1, &s), 0);
	if (!s->map)
		skip();
	for (unsigned n = 0; n < LINES; n++) {
		if (s->used + LINE + 1 > s->allocated)
			assert_int_equal(segment_extend(s, s->allocated + AHEAD), 0);
		number(line, n);
		assert_int_equal(segment_put(s, line, 1, line + 1, LINE - 1), 0);
		if (n % 100 == 0 && resident_kib(s->map) > most)
			most = resident_kib(s->map);
	}
	assert_in_range(most, 1, MOST_KIB);
	for (unsigned n = 0; n < LINES; n++) {
		number(line, n);
		assert_int_equal(pread(s->fd, read_back, LINE, (off_t)(n * (LINE + 1))), LINE);
		assert_memory_equal(read_back, line, LINE);
	}
	assert_int_equal(segment_close(s), 0);
	close(at);
	remove_dir(dir);
}

static void copies_every_length(void **state)
{
	char from[100], to[102];

	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (char)(i + 1);
	for (size_t at = 0; at < 16; at++) {
		for (size_t n = 0; at + n <= sizeof from; n++) {
			memset(to, 0, sizeof to);
			segment_copy(to + 1, from + at, n);
			assert_memory_equal(to + 1, from + at, n);
			assert_int_equal(to[0], 0);
			assert_int_equal(to[n + 1], 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_written_is_let_go), cmocka_unit_test(copies_every_length) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
