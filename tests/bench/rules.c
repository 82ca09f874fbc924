// SPDX-License-Identifier: Apache-2.0
/* What loading rules and one decision cost, with 10 and with 10,000 rules. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rules/ruleset.h"

#define RUNS 2001
#define BATCH 50

enum shape { PATHS, CONDITIONS, GLOBS, DEEP, NETS, SHARED_BY, SHARED_TREE, INFIXES, RESTS };

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void write_rule(FILE *to, enum shape shape, unsigned i)
{
	if (shape == PATHS)
		fprintf(to, "allow read /srv/team%u/app%u/data/**\n", i % 100, i);
	if (shape == CONDITIONS)
		fprintf(to, "allow read /srv/team%u/app%u/** by=/usr/bin/tool%u\n", i % 100, i, i);
	if (shape == GLOBS)
		fprintf(to, "allow read /srv/team%u/*-%u/data/*.c\n", i % 100, i);
	if (shape == DEEP)
		fprintf(to, "deny read **/secret%u/**\n", i);
	if (shape == SHARED_BY)
		fprintf(to, "allow read /srv/** by=/usr/bin/tool%u\n", i);
	if (shape == SHARED_TREE)
		fprintf(to, "allow read /srv/** tree=/usr/bin/tool%u\n", i);
	if (shape == INFIXES)
		fprintf(to, "deny read **/*a%u*/**\n", i);
	if (shape == RESTS)
		fprintf(to, "deny read /srv/**-%u.h\n", i);
	if (shape == NETS)
		fprintf(to, "allow connect tcp:10.%u.%u.0/24:%u\n", i % 100, i / 100 % 250, i);
}

static char *write_rules(enum shape shape, unsigned n)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	for (unsigned i = 0; i < n - 2; i++)
		write_rule(to, shape, i);
	fprintf(to, "deny read **/.env\nallow read /home/** by=/usr/bin/{make,git}\n");
	fclose(to);
	return text;
}

static struct ruleset *load(const char *text, uint64_t *took, size_t *memory)
{
	struct diagnostics found = { 0 };
	struct ruleset *rs = NULL;
	struct mallinfo2 before = mallinfo2();
	uint64_t start = now();
	if (ruleset_parse("bench", text, strlen(text), NULL, &found, &rs)) {
		diagnostics_print(&found, stderr, false);
		exit(1);
	}
	*took = now() - start;
	struct mallinfo2 after = mallinfo2();
	*memory = (after.uordblks - before.uordblks) + (after.hblkhd - before.hblkhd);
	diagnostics_free(&found);
	return rs;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Median nanoseconds of one decision. */
static uint64_t decide(const struct ruleset *rs, const struct call *call, size_t n)
{
	static uint64_t took[RUNS];
	struct verdict v;
	unsigned kinds = 0;
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t start = now();
		for (unsigned k = 0; k < BATCH; k++) {
			ruleset_decide(rs, &call[(i * BATCH + k) % n], &v);
			kinds += v.kind;
		}
		took[i] = (now() - start) / BATCH;
	}
	if (!kinds)
		puts("");
	qsort(took, RUNS, sizeof(took[0]), by_value);
	return took[RUNS / 2];
}

static struct call on_path(const char *name)
{
	static const struct image above[] = { { .exe = SPAN_LITERAL("/usr/bin/make") }, { .exe = SPAN_LITERAL("/usr/bin/bash") },
					      { .exe = SPAN_LITERAL("/usr/bin/node") }, { .exe = SPAN_LITERAL("/usr/bin/bash") } };
	struct call c = { .syscall = "openat", .n_objects = 1, .by = { .image.exe = SPAN_LITERAL("/usr/bin/git"), .ancestors = above, .n_ancestors = 4 } };
	c.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ, .name = { name, (uint32_t)strlen(name) } };
	return c;
}

static struct call on_net(void)
{
	struct call c = { .syscall = "connect", .n_objects = 1 };
	c.object[0] = (struct object){ .kind = OBJECT_INET, .ops = OP_CONNECT,
				       .inet = { .addr = { [10] = 0xff, [11] = 0xff, 10, 7, 3, 9 }, .port = 307, .proto = PROTO_TCP } };
	return c;
}

static void one(const char *name, enum shape shape, unsigned n)
{
	uint64_t took;
	size_t memory;
	char *text = write_rules(shape, n);
	struct ruleset *rs = load(text, &took, &memory);
	/* Eight components each: found, not found, found by the last rule's condition, somewhere else. */
	const struct call paths[] = { on_path("/srv/team7/app307/data/src/lib/util/file.c"),
				      on_path("/srv/team7/x-307/data/src/lib/util/file.c"),
				      on_path("/home/u/work/project/src/lib/util/file.c"),
				      on_path("/usr/lib/x86_64-linux-gnu/perl/5.36/auto/POSIX/x.so") };
	const struct call net = on_net();
	uint64_t median = shape == NETS ? decide(rs, &net, 1) : decide(rs, paths, 4);
	printf("rules %-14s %6u rules: load %8.2f ms %8.2f MiB, decide %5lu ns\n", name, n, (double)took / 1e6,
	       (double)memory / 1048576, (unsigned long)median);
	ruleset_free(rs);
	free(text);
}

int main(void)
{
	static const char *const names[] = { "paths", "by=", "patterns", "any-depth", "endpoints", "one path by=", "one path tree=",
					     "infixes", "any rest" };
	for (unsigned shape = 0; shape < sizeof(names) / sizeof(names[0]); shape++) {
		one(names[shape], (enum shape)shape, 10);
		one(names[shape], (enum shape)shape, 10000);
	}
	return 0;
}
