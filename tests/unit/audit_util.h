/* SPDX-License-Identifier: Apache-2.0 */
/* What the journal's tests share. */
#ifndef USHER_TESTS_AUDIT_UTIL_H
#define USHER_TESTS_AUDIT_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "audit/journal_state.h"
#include "audit/reader.h"
#include "audit/verify.h"

/* Tests fork and start threads in the child: the thread sanitizer would rather not. */
const char *__tsan_default_options(void);
__attribute__((weak)) const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

/* A new directory's name; nothing is there yet. */
static inline const char *fresh_dir(char out[64])
{
	const char *tmp = getenv("TMPDIR");
	snprintf(out, 64, "%.40s/usher-test-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(out));
	rmdir(out);
	return out;
}

static inline void remove_dir(const char *dir)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

static inline struct journal *make_journal(const char *dir)
{
	struct journal *j = NULL;
	const char *why = NULL;
	assert_int_equal(journal_create(&(struct journal_options){ .dir = dir }, &j, &why), 0);
	return j;
}

static inline void note(struct record *r, char *buf, size_t cap, const char *text)
{
	record_begin(r, buf, cap, "note");
	record_text(r, "event", "test");
	record_text(r, "text", text);
}

static inline int append_note(struct journal *j, const char *text, uint64_t *seq)
{
	char buf[2048];
	struct record r;
	note(&r, buf, sizeof buf, text);
	return journal_append(j, &r, seq);
}

/* A seal without waiting for one. The keeper leaves young epochs alone. */
static inline void seal_now(struct journal *j)
{
	while (!inflight_grown(j->inflight)) /* the helper thread is busy with the next key before that */
		sched_yield();
	pthread_mutex_lock(&j->lock);
	assert_int_equal(append_seal(j, false), 0);
	pthread_mutex_unlock(&j->lock);
}

static inline void close_with_end(struct journal *j)
{
	char buf[256];
	struct record r;
	record_begin(&r, buf, sizeof buf, "end");
	record_int(&r, "status", 0);
	journal_close(j, &r);
}

static inline struct proof prove(const char *dir)
{
	struct proof p;
	assert_int_equal(verify_journal(dir, NULL, 0, &p), 0);
	return p;
}

static inline void assert_whole(const struct proof *p)
{
	if (p->damaged)
		fail_msg("%s line %lu, record %lu: %s", p->file, (unsigned long)p->line, (unsigned long)p->seq, p->what);
}

#endif
