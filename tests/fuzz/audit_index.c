/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of any bytes: the input is the whole file (first byte odd), or bytes that take the place of others in a good
 * one (pairs of a place and a byte). Properties: whatever is given is a line of the journal; nothing else is touched.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/index.h"
#include "audit/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char journal[] =
	"{\"seq\":1,\"time\":\"2026-11-20T10:17:26.123456Z\",\"type\":\"start\"}\n"
	"{\"seq\":2,\"time\":\"2026-11-20T10:17:26.123457Z\",\"type\":\"call\",\"pid\":7,\"tid\":7,\"exe\":\"/usr/bin/git\",\"call\":\"openat\",\"op\":[\"read\"],\"object\":\"/etc/x\",\"verdict\":\"deny\"}\n"
	"{\"seq\":3,\"time\":\"2026-11-20T10:17:27.123457Z\",\"type\":\"call\",\"pid\":8,\"tid\":8,\"call\":\"rename\",\"objects\":[{\"object\":\"/a\"},{\"object\":\"/b\"}],\"verdict\":\"allow\",\"result\":0}\n"
	"{\"seq\":4,\"time\":\"2026-11-20T10:17:28.123457Z\",\"type\":\"note\",\"event\":\"x\"}\n"
	"{\"seq\":5,\"time\":\"2026-11-20T10:17:29.123457Z\",\"type\":\"note\",\"event\":\"y\"}\n";

static char dir[] = "/tmp/usher-fuzz-XXXXXX";
static char file[64];
static char *good; /* an index as it is made */
static size_t good_len;

static void clean_up(void)
{
	char name[64];
	snprintf(name, sizeof name, "%s/journal-000001.jsonl", dir);
	unlink(name);
	unlink(file);
	rmdir(dir);
}

static void write_file(const char *name, const void *bytes, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char name[64];
	(void)argc;
	(void)argv;
	if (!mkdtemp(dir))
		abort();
	atexit(clean_up);
	snprintf(name, sizeof name, "%s/journal-000001.jsonl", dir);
	snprintf(file, sizeof file, "%s/" INDEX_FILE, dir);
	write_file(name, journal, sizeof journal - 1);
	if (index_make(dir, NULL, NULL) != 0)
		abort();
	int fd = open(file, O_RDONLY);
	good_len = (size_t)lseek(fd, 0, SEEK_END);
	good = malloc(good_len);
	if (pread(fd, good, good_len, 0) != (ssize_t)good_len)
		abort();
	close(fd);
	return 0;
}

static void must_be_a_line(void *context, const char *text, size_t len)
{
	const char *at = memmem(journal, sizeof journal - 1, text, len);
	(void)context;
	if (!at || (at > journal && at[-1] != '\n') || at[len] != '\n')
		abort();
}

static void ask(struct index *x)
{
	static const char *const words[] = { "type:note", "path:/etc/x", "path:/**", "pid:7-8", "since:2026-11-20T10:17:28", "seq:2", "denied" };
	struct query *q;
	const char *bad;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (query_new(&words[i], 1, 1, &q, &bad) == 0) {
			(void)index_select(x, q, must_be_a_line, NULL);
			log_query_free(q);
		}
	if (index_want(x, "/a", 2) == 0 && index_want_moves(x, "/b", 2) == 0)
		(void)index_lines(x, must_be_a_line, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct index *x = NULL;
	char *copy = malloc(good_len);
	memcpy(copy, good, good_len);
	for (size_t i = 1; i + 4 <= size; i += 4)
		copy[(data[i] | data[i + 1] << 8 | (size_t)data[i + 2] << 16) % good_len] = (char)data[i + 3];
	if (size && data[0] & 1)
		write_file(file, data + 1, size - 1);
	else
		write_file(file, copy, good_len);
	free(copy);
	if (index_open(dir, &x) == 0)
		ask(x);
	index_close(x);
	return 0;
}
