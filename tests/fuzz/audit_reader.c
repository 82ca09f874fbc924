/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal's readers on any bytes: a segment is read, verified, queried and shown. Properties: nothing is read
 * outside the text; what field.h calls valid can be walked to its end; a string that can be unescaped
 * comes back as itself when escaped again.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/escape.h"
#include "audit/field.h"
#include "audit/query.h"
#include "audit/reader.h"
#include "audit/render.h"
#include "audit/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void string_comes_back(const struct field *f)
{
	char *bytes = malloc(f->len + 1), *again = malloc(f->len * 2 * ESCAPE_GROWTH + 1);
	long n = field_bytes(f, bytes);
	if (n >= 0) {
		ssize_t len = escape(again, f->len * 2 * ESCAPE_GROWTH, bytes, (size_t)n);
		char *room = malloc(len > 0 ? (size_t)len : 1);
		if (len < 0 || unescape(room, again, (size_t)len) != n || memcmp(room, bytes, (size_t)n) != 0)
			abort();
		free(room);
	}
	free(bytes);
	free(again);
}

static void walk(const char *text, size_t len, unsigned depth)
{
	struct fields f;
	struct field one;
	fields_begin(&f, text, len);
	while (fields_next(&f, &one)) {
		if (one.kind == FIELD_STRING)
			string_comes_back(&one);
		if ((one.kind == FIELD_LIST || one.kind == FIELD_OBJECT) && depth < 20)
			walk(one.value, one.len, depth + 1);
	}
}

static void one_record(const char *text, size_t len)
{
	static const char *const words[] = { "path:/**", "by:*", "op:read", "since:1h", "!denied", "pid:1-9", "rule:x" };
	struct query *q;
	const char *bad;
	FILE *null = fopen("/dev/null", "w");
	walk(text, len, 0);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (query_new(&words[i], 1, 1, &q, &bad) == 0) {
			(void)query_match(q, text, len);
			log_query_free(q);
		}
	if (null) {
		render_line(null, text, len, true);
		render_full(null, text, len);
		fclose(null);
	}
}

static void as_a_journal(const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/usher-fuzz-XXXXXX", name[64];
	struct proof p;
	struct reader *r;
	struct line l;
	if (!mkdtemp(dir))
		return;
	snprintf(name, sizeof name, "%s/journal-000001.jsonl", dir);
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (verify_journal(dir, NULL, 0, &p) == 0 && !p.damaged && p.closed && p.records < 1)
		abort();
	if (reader_open(dir, &r) == 0) {
		while (reader_next(r, &l) == 1)
			one_record(l.bytes, l.len);
		reader_close(r);
	}
	unlink(name);
	rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1); /* as long as said: reading past it shows */
	memcpy(copy, data, size);
	one_record(copy, size);
	free(copy);
	as_a_journal(data, size);
	return 0;
}
