/* SPDX-License-Identifier: Apache-2.0 */
/* The journal's life: threads, rotation, intents, a full disk, a reader beside the writer. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "audit/field.h"
#include "audit_util.h"

static void closes_whole(void **state)
{
	char dir[64];
	struct journal *j = make_journal(fresh_dir(dir));
	uint64_t seq;
	for (uint64_t i = 1; i <= 10; i++) {
		assert_int_equal(append_note(j, "hello", &seq), 0);
		assert_int_equal(seq, i);
	}
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	assert_true(p.closed && p.ended);
	assert_int_equal(p.records, 12); /* and the end, and the seal */
	assert_int_equal(p.proven, 12);
	char name[128];
	snprintf(name, sizeof name, "%s/inflight.jsonl", dir);
	assert_int_equal(access(name, F_OK), -1);
	remove_dir(dir);
}

#define THREADS 8
#define EACH 6000

struct job {
	struct journal *journal;
	int id;
	int bad;
};

static void *work(void *context)
{
	struct job *job = context;
	uint64_t last = 0, seq;
	char buf[1024], text[32];
	for (int i = 0; i < EACH; i++) {
		struct record r;
		uint32_t slot;
		snprintf(text, sizeof text, "%d/%d", job->id, i);
		note(&r, buf, sizeof buf, text);
		int rc = i % 2 ? journal_append(job->journal, &r, &seq) : journal_intent(job->journal, &r, &slot);
		if (rc == 0 && !(i % 2))
			rc = journal_append_final(job->journal, &r, slot, &seq);
		if (rc != 0 || seq <= last)
			job->bad++;
		last = seq;
	}
	return NULL;
}

/* Every thread's records are there, once and in its order. */
static void assert_all_there(const char *dir)
{
	struct reader *r;
	struct line l;
	int next[THREADS] = { 0 };
	assert_int_equal(reader_open(dir, &r), 0);
	while (reader_next(r, &l) == 1) {
		struct field f;
		int id, i;
		if (!field_find(l.bytes, l.len, "text", &f))
			continue;
		assert_int_equal(sscanf(f.value, "%d/%d", &id, &i), 2);
		assert_int_equal(i, next[id]++);
	}
	reader_close(r);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(next[i], EACH);
}

static void threads_share(void **state)
{
	char dir[64];
	struct journal *j = make_journal(fresh_dir(dir));
	pthread_t thread[THREADS];
	struct job job[THREADS];
	for (int i = 0; i < THREADS; i++) {
		job[i] = (struct job){ .journal = j, .id = i };
		assert_int_equal(pthread_create(&thread[i], NULL, work, &job[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(job[i].bad, 0);
	}
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	assert_true(p.closed);
	assert_int_equal(p.proven, p.records);
	assert_all_there(dir);
	remove_dir(dir);
}

/* Short lines are hashed in one piece, others in two. */
static void lines_of_every_length(void **state)
{
	char dir[64], text[1500], buf[2048];
	struct record r;
	(void)state;
	struct journal *j = make_journal(fresh_dir(dir));
	for (size_t n = 0; n < sizeof text - 1; n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		note(&r, buf, sizeof buf, text);
		assert_int_equal(journal_append(j, &r, NULL), 0);
	}
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	assert_int_equal(p.proven, sizeof text - 1 + 2);
	remove_dir(dir);
}

static void rotates(void **state)
{
	char dir[64], *buf = malloc(RECORD_MAX), *big = malloc(60000);
	struct journal *j = make_journal(fresh_dir(dir));
	struct record r;
	uint64_t seq;
	memset(big, 'x', 60000);
	for (int i = 0; i < 2400; i++) {
		record_begin(&r, buf, RECORD_MAX, "note");
		record_bytes(&r, "text", (struct span){ big, 60000 });
		assert_int_equal(journal_append(j, &r, &seq), 0);
	}
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	assert_true(p.closed);
	char name[128];
	struct stat st;
	snprintf(name, sizeof name, "%s/journal-000003.jsonl", dir);
	assert_int_equal(stat(name, &st), 0);
	assert_true(st.st_size < (off_t)SEGMENT_MAX);
	remove_dir(dir);
	free(buf);
	free(big);
}

static uint64_t slots_in_use(const char *dir)
{
	struct reader *r;
	struct line l;
	uint64_t n = 0;
	assert_int_equal(reader_open_inflight(dir, &r), 0);
	while (reader_next(r, &l) == 1) {
		struct field f;
		assert_true(field_find(l.bytes, l.len, "intent", &f) && field_is(&f, "true"));
		assert_true(field_valid(l.bytes, l.len));
		n++;
	}
	reader_close(r);
	return n;
}

/* What record SEQ of DIR says of "after"; 0 when nothing. */
static int64_t after_of(const char *dir, uint64_t seq)
{
	struct reader *r;
	struct line l;
	struct field f;
	int64_t n = 0;
	assert_int_equal(reader_open(dir, &r), 0);
	for (uint64_t at = 1; reader_next(r, &l) == 1; at++)
		if (at == seq && field_find(l.bytes, l.len, "after", &f))
			assert_true(field_number(&f, &n));
	reader_close(r);
	return n;
}

/* Two that overlap are recorded in one order, and may have happened in the other: the record that can mislead says since when it was under way. */
static void an_overlap_is_told(void **state)
{
	char dir[64], buf[256], buf2[256];
	struct journal *j = make_journal(fresh_dir(dir));
	struct record long_one, short_one;
	uint32_t slot, slot2;
	uint64_t before, seq, alone;
	assert_int_equal(append_note(j, "before", &before), 0);
	note(&long_one, buf, sizeof buf, "long");
	assert_int_equal(journal_intent(j, &long_one, &slot), 0);
	note(&short_one, buf2, sizeof buf2, "short");
	assert_int_equal(journal_intent(j, &short_one, &slot2), 0);
	assert_int_equal(journal_append_final(j, &short_one, slot2, &alone), 0);
	assert_int_equal(journal_append_final(j, &long_one, slot, &seq), 0);
	close_with_end(j);
	assert_int_equal(after_of(dir, seq), before);
	assert_int_equal(after_of(dir, alone), 0); /* nothing came in between */
	assert_int_equal(after_of(dir, before), 0);
	struct proof p = prove(dir);
	assert_whole(&p);
	remove_dir(dir);
}

static void the_helper_may_come_later(void **state)
{
	char dir[64];
	struct journal *j = NULL;
	const char *why = NULL;
	struct journal_options o = { .dir = fresh_dir(dir), .helper_later = true };
	assert_int_equal(journal_create(&o, &j, &why), 0);
	assert_false(j->keeper_runs);
	for (int i = 0; i < 2000; i++) /* more than the first room */
		assert_int_equal(append_note(j, "without it", NULL), 0);
	assert_false(inflight_grown(j->inflight));
	assert_int_equal(journal_help(j), 0);
	assert_int_equal(journal_help(j), 0);
	seal_now(j);
	assert_true(inflight_grown(j->inflight));
	assert_int_equal(append_note(j, "with it", NULL), 0);
	close_with_end(j);
	remove_dir(dir);
}

static void intents_come_and_go(void **state)
{
	char dir[64], buf[1024];
	struct journal *j = make_journal(fresh_dir(dir));
	struct record r;
	uint32_t slot[INFLIGHT_SLOTS + 2];
	uint64_t seq;
	note(&r, buf, sizeof buf, "about to happen");
	while (!inflight_grown(j->inflight)) /* the helper thread makes most of them */
		sched_yield();
	for (int i = 0; i < INFLIGHT_SLOTS; i++)
		assert_int_equal(journal_intent(j, &r, &slot[i]), 0);
	assert_int_equal(slots_in_use(dir), INFLIGHT_SLOTS);
	assert_int_equal(journal_intent(j, &r, &slot[INFLIGHT_SLOTS]), 0); /* none is free: it goes into the chain */
	assert_true(slot[INFLIGHT_SLOTS] & JOURNAL_IN_CHAIN);
	assert_int_equal(journal_append_final(j, &r, slot[INFLIGHT_SLOTS], &seq), 0);
	assert_int_equal(seq, 2);
	assert_int_equal(journal_intent(j, &r, &slot[INFLIGHT_SLOTS]), 0);
	journal_intent_done(j, slot[INFLIGHT_SLOTS]); /* without a record of its outcome */
	for (int i = 0; i < INFLIGHT_SLOTS; i += 2)
		assert_int_equal(journal_append_final(j, &r, slot[i], &seq), 0);
	for (int i = 1; i < INFLIGHT_SLOTS; i += 2) {
		assert_int_equal(journal_append(j, &r, &seq), 0);
		journal_intent_done(j, slot[i]);
	}
	assert_int_equal(slots_in_use(dir), 0);
	assert_int_equal(j->reserved, END_RESERVE);
	close_with_end(j);
	remove_dir(dir);
}

static void reads_beside_the_writer(void **state)
{
	char dir[64];
	struct journal *j = make_journal(fresh_dir(dir));
	struct reader *r;
	struct line l;
	uint64_t seq;
	assert_int_equal(reader_open(dir, &r), 0);
	assert_int_equal(reader_next(r, &l), 0);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(append_note(j, "x", &seq), 0);
		assert_int_equal(reader_next(r, &l), 1);
		while (memmem(l.bytes, l.len, "\"type\":\"seal\"", 13)) /* on a slow machine */
			assert_int_equal(reader_next(r, &l), 1);
		assert_int_equal(l.number, seq);
	}
	close_with_end(j);
	while (reader_next(r, &l) == 1)
		seq++;
	assert_true(l.number == seq && seq >= 2002);
	reader_close(r);
	remove_dir(dir);
}

static void takes_only_an_empty_directory(void **state)
{
	char dir[64], name[128];
	struct journal *j = NULL;
	const char *why;
	fresh_dir(dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	j = make_journal(dir);
	close_with_end(j);
	assert_int_equal(journal_create(&(struct journal_options){ .dir = dir }, &j, &why), -ENOTEMPTY);
	remove_dir(dir);
	assert_int_equal(mkdir(dir, 0777), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(journal_create(&(struct journal_options){ .dir = dir }, &j, &why), -EPERM);
	assert_non_null(why);
	snprintf(name, sizeof name, "%s/no/such", dir);
	assert_int_equal(journal_create(&(struct journal_options){ .dir = name }, &j, &why), -ENOENT);
	remove_dir(dir);
}

/*
 * Fills the disk under a journal with intents outstanding: refusal comes as an error, the outstanding operations
 * still get their final records, nothing is accepted afterwards, and what is there verifies, closed.
 */
static void fill_the_disk(const char *dir, int expected)
{
	struct journal *j = make_journal(dir);
	char buf[2048], big[1500], long_buf[8192], longer[6000];
	struct record r, too_long;
	uint32_t slot[8], in_chain[2];
	uint64_t seq, appended = 0;
	int rc;
	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	note(&r, buf, sizeof buf, big);
	for (int i = 0; i < 8; i++)
		assert_int_equal(journal_intent(j, &r, &slot[i]), 0);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	note(&too_long, long_buf, sizeof long_buf, longer);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(journal_intent(j, &too_long, &in_chain[i]), 0);
		assert_true(in_chain[i] & JOURNAL_IN_CHAIN);
	}
	while ((rc = journal_append(j, &r, &seq)) == 0)
		appended = seq;
	assert_int_equal(rc, expected);
	assert_int_equal(journal_failed(j), expected);
	uint32_t another;
	assert_int_equal(journal_intent(j, &r, &another), expected);
	assert_int_equal(append_note(j, "small", &seq), expected);
	for (int i = 0; i < 4; i++)
		assert_int_equal(journal_append_final(j, &r, slot[i], &seq), 0);
	assert_int_equal(journal_append_final(j, &too_long, in_chain[0], &seq), 0);
	journal_intent_done(j, in_chain[1]);
	journal_intent_done(j, slot[4]);
	assert_true(seq >= appended + 5);
	assert_int_equal(slots_in_use(dir), 4); /* what has no final record stays as evidence */
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	assert_true(p.closed && p.ended);
	assert_true(p.records >= seq + 2);
}

/* The limit belongs to a process of its own. */
static void survives_a_file_size_limit(void **state)
{
	char dir[64];
	fresh_dir(dir);
	pid_t pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 3000000, 3000000 });
		fill_the_disk(dir, -EFBIG);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	remove_dir(dir);
}

/* A beginning without its blank end would look like a journal that was cut off: the first segment has its name when it can be written. */
static void no_name_before_there_is_room(void **state)
{
	char dir[64], name[96];
	fresh_dir(dir);
	pid_t pid = fork();
	if (pid == 0) {
		struct journal *j = NULL;
		const char *why;
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 4096, 4096 });
		_exit(journal_create(&(struct journal_options){ .dir = dir }, &j, &why) == -EFBIG ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(name, sizeof name, "%s/journal-000001.jsonl", dir);
	assert_int_equal(access(name, F_OK), -1);
	snprintf(name, sizeof name, "%s/segment.new", dir);
	assert_int_equal(access(name, F_OK), -1);
	remove_dir(dir);
}

static void survives_a_full_disk(void **state)
{
	char mount_point[64], dir[128];
	fresh_dir(mount_point);
	assert_int_equal(mkdir(mount_point, 0700), 0);
	if (mount("none", mount_point, "tmpfs", 0, "size=4m,mode=700") != 0) {
		rmdir(mount_point);
		skip(); /* needs root */
	}
	snprintf(dir, sizeof dir, "%s/session", mount_point);
	fill_the_disk(dir, -ENOSPC);
	umount2(mount_point, MNT_DETACH);
	rmdir(mount_point);
}

static void syncs(void **state)
{
	for (enum journal_sync sync = SYNC_BATCH; sync <= SYNC_EACH; sync++) {
		char dir[64], buf[512];
		struct journal *j = NULL;
		struct record r;
		const char *why;
		uint64_t seq;
		uint32_t slot;
		fresh_dir(dir);
		assert_int_equal(journal_create(&(struct journal_options){ .dir = dir, .sync = sync }, &j, &why), 0);
		note(&r, buf, sizeof buf, "x");
		for (int i = 0; i < 20; i++) {
			assert_int_equal(journal_intent(j, &r, &slot), 0);
			assert_int_equal(journal_append_final(j, &r, slot, &seq), 0);
		}
		if (sync == SYNC_EACH)
			assert_int_equal(j->flushed, 20);
		close_with_end(j);
		struct proof p = prove(dir);
		assert_whole(&p);
		assert_true(p.closed);
		remove_dir(dir);
	}
}

/* Whoever has many calls waiting has all of usher's descriptors: the journal goes on. */
static void flushes_without_a_descriptor(void **state)
{
	char dir[64], buf[512];
	struct rlimit before, few = { 64, 64 };
	struct journal *j = NULL;
	struct record r;
	const char *why;
	uint64_t seq;
	int taken[64], n = 0;

	fresh_dir(dir);
	assert_int_equal(journal_create(&(struct journal_options){ .dir = dir, .sync = SYNC_EACH }, &j, &why), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (n < 64 && (taken[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	assert_int_equal(errno, EMFILE);
	note(&r, buf, sizeof buf, "x");
	int rc = journal_append(j, &r, &seq);
	while (n)
		close(taken[--n]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rc, 0);
	assert_int_equal(j->flushed, 1);
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flushes_without_a_descriptor),
		cmocka_unit_test(closes_whole),
		cmocka_unit_test(lines_of_every_length),
		cmocka_unit_test(threads_share),
		cmocka_unit_test(rotates),
		cmocka_unit_test(an_overlap_is_told),
		cmocka_unit_test(the_helper_may_come_later),
		cmocka_unit_test(intents_come_and_go),
		cmocka_unit_test(reads_beside_the_writer),
		cmocka_unit_test(takes_only_an_empty_directory),
		cmocka_unit_test(survives_a_file_size_limit),
		cmocka_unit_test(survives_a_full_disk),
		cmocka_unit_test(no_name_before_there_is_room),
		cmocka_unit_test(syncs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
