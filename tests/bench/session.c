/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal such as a long build leaves, by the writer itself: files of a tree read, made, renamed; some refused. Questions to it
 * are measured by journal.py.
 *
 * usage: session DIR RECORDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/journal.h"

#define FILES 60000

static const char *const programs[] = { "/usr/bin/make", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "/usr/bin/as", "/usr/bin/dash",
					"/usr/bin/python3.11", "/usr/bin/x86_64-linux-gnu-ld.bfd", "/usr/bin/git" };

/* The same each time. */
static unsigned next_number(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(*state >> 33);
}

static void file_name(char out[96], unsigned n)
{
	if (n % 8 == 0)
		snprintf(out, 96, "/tmp/cc%07x.s", n);
	else
		snprintf(out, 96, "/home/user/project/src/module%02u/part%u/file%05u.%s", n % 37, n % 5, n, n % 3 ? "c" : "h");
}

static void object(struct record *r, const char *name, const char *op)
{
	record_object(r, NULL);
	record_list(r, "op");
	record_item(r, (struct span){ op, (uint32_t)strlen(op) });
	record_close(r);
	record_text(r, "object", name);
	record_close(r);
}

static void make(struct record *r, char *buf, uint64_t *state)
{
	char name[96], other[128];
	unsigned n = next_number(state), kind = next_number(state) % 200, pid = 1000 + n / 64 % 5000;
	bool move = kind == 0, denied = kind == 1, create = kind > 150;
	file_name(name, n % FILES);
	record_begin(r, buf, RECORD_MAX, "call");
	record_int(r, "pid", pid);
	record_int(r, "tid", pid);
	record_text(r, "exe", programs[next_number(state) % (sizeof programs / sizeof programs[0])]);
	record_text(r, "call", move ? "rename" : "openat");
	record_list(r, "op");
	const char *op = move || create ? "create" : "read";
	record_item(r, (struct span){ op, (uint32_t)strlen(op) });
	record_close(r);
	if (move) {
		snprintf(other, sizeof other, "%s.new", name);
		record_list(r, "objects");
		object(r, other, "delete");
		object(r, name, "create");
		record_close(r);
	} else {
		record_text(r, "object", name);
		if (n % 2)
			record_text(r, "named", strrchr(name, '/') + 1);
	}
	record_text(r, "verdict", denied ? "deny" : "allow");
	record_text(r, "rule", denied ? "/home/user/project/agent.rules:7" : "/home/user/project/agent.rules:12");
	record_result(r, denied ? -13 : move ? 0 : 3 + (int)(n % 20));
}

int main(int argc, char **argv)
{
	struct journal *j;
	struct record r;
	const char *why;
	uint64_t state = 1, seq;
	char *buf = malloc(RECORD_MAX);
	if (argc != 3 || !buf)
		return 2;
	int rc = journal_create(&(struct journal_options){ .dir = argv[1] }, &j, &why);
	for (long i = atol(argv[2]); rc == 0 && i > 0; i--) {
		make(&r, buf, &state);
		rc = journal_append(j, &r, &seq);
	}
	if (rc != 0) {
		fprintf(stderr, "session: %s\n", strerror(-rc));
		return 1;
	}
	record_begin(&r, buf, RECORD_MAX, "end");
	journal_close(j, &r);
	free(buf);
	return 0;
}
