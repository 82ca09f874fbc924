/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the journal costs: nanoseconds for one append of a 400-byte record by 1 and by 8 threads, the same behind BEHIND more
 * records, for an intent with its final record, and megabytes a second of verification. Prints name=value lines; asserts nothing.
 *
 * usage: journal [DIR [RECORDS [BEHIND]]]
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/journal.h"
#include "audit/verify.h"

#define RECORD_LEN 400
#define THREADS 8

struct job {
	struct journal *journal;
	unsigned count;
	int failed;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A record whose line, with number, time and chain in front, has RECORD_LEN bytes. */
static void make(struct record *r, char *buf, unsigned i)
{
	char pad[RECORD_LEN];
	record_begin(r, buf, RECORD_MAX, "call");
	record_int(r, "pid", 1234);
	record_int(r, "tid", 1235 + (int)(i % 7));
	record_text(r, "exe", "/usr/bin/python3.11");
	record_text(r, "call", "openat");
	record_text(r, "object", "/home/user/project/src/module/file.c");
	record_text(r, "verdict", "allow");
	record_text(r, "rule", "agent.rules:12");
	record_int(r, "result", 3);
	size_t head = 130, have = r->len + head + 12;
	memset(pad, 'x', sizeof pad);
	if (have < RECORD_LEN)
		record_bytes(r, "pad", (struct span){ pad, (uint32_t)(RECORD_LEN - have) });
}

static void *append(void *context)
{
	struct job *job = context;
	char *buf = malloc(RECORD_MAX);
	struct record r;
	uint64_t seq;
	make(&r, buf, 0);
	for (unsigned i = 0; i < job->count; i++)
		job->failed |= journal_append(job->journal, &r, &seq);
	free(buf);
	return NULL;
}

static void *pairs(void *context)
{
	struct job *job = context;
	char *buf = malloc(RECORD_MAX);
	struct record r;
	uint64_t seq;
	uint32_t slot;
	make(&r, buf, 0);
	for (unsigned i = 0; i < job->count; i++) {
		job->failed |= journal_intent(job->journal, &r, &slot);
		job->failed |= journal_append_final(job->journal, &r, slot, &seq);
	}
	free(buf);
	return NULL;
}

static double run(struct journal *j, unsigned threads, unsigned total, void *(*what)(void *))
{
	pthread_t thread[THREADS];
	struct job job[THREADS];
	double begin = now();
	for (unsigned i = 0; i < threads; i++) {
		job[i] = (struct job){ .journal = j, .count = total / threads };
		pthread_create(&thread[i], NULL, what, &job[i]);
	}
	int failed = 0;
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		failed |= job[i].failed;
	}
	if (failed)
		fprintf(stderr, "journal: an append failed: %d\n", failed);
	return (now() - begin) / total;
}

static void *nothing(void *context)
{
	(void)context;
	return NULL;
}

static double file_bytes(const char *dir)
{
	double sum = 0;
	for (unsigned i = 1;; i++) {
		char name[4096];
		struct stat st;
		snprintf(name, sizeof name, "%s/journal-%06u.jsonl", dir, i);
		if (stat(name, &st) != 0)
			return sum;
		sum += (double)st.st_size;
	}
}

int main(int argc, char **argv)
{
	char fallback[] = "/tmp/usher-bench-XXXXXX";
	const char *dir = argc > 1 ? argv[1] : mkdtemp(fallback), *why;
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 400000, behind = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	struct journal *j;
	struct proof proof;
	double begin = now();
	if (argc > 1 && argv[1][0] == '-') {
		fprintf(stderr, "usage: journal [NEW-DIRECTORY [RECORDS [RECORDS-BEFORE]]]\n");
		return 2;
	}
	int rc = journal_create(&(struct journal_options){ .dir = dir }, &j, &why);
	if (rc != 0) {
		fprintf(stderr, "journal: %s: %s\n", why, strerror(-rc));
		return 1;
	}
	printf("create_us=%.0f\n", (now() - begin) / 1000);
	run(j, 1, 1, nothing);
	printf("append_1_thread_ns=%.0f\n", run(j, 1, count, append));
	run(j, 1, behind, append);
	printf("append_behind_%u_mb_ns=%.0f\n", (unsigned)(((uint64_t)count + behind) * RECORD_LEN / 1000000), run(j, 1, count, append));
	printf("append_8_threads_ns=%.0f\n", run(j, THREADS, count, append));
	printf("intent_and_final_1_thread_ns=%.0f\n", run(j, 1, count / 4, pairs));
	begin = now();
	journal_close(j, NULL);
	printf("close_us=%.0f\n", (now() - begin) / 1000);
	begin = now();
	rc = verify_journal(dir, NULL, 0, &proof);
	printf("verify_mb_per_s=%.0f\n", file_bytes(dir) / 1e6 / ((now() - begin) / 1e9));
	printf("records=%" PRIu64 " seals=%" PRIu64 " %s%s\n", proof.records, proof.seals,
	       rc || proof.damaged ? "damaged: " : "whole", proof.what);
	return rc || proof.damaged;
}
