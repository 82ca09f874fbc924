/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal that is written instead of mapped, as on btrfs. fstatfs() and pwritev() are ours here: no file system is one that may be mapped, and
 * the test says which line finds no room.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "audit_util.h"

static const char *no_room_for; /* what the line holds; NULL: all find some */
static _Thread_local int until_full = -1; /* so many calls go well, of this thread; -1: all */

static bool is_full(void)
{
	if (until_full < 0)
		return false;
	return until_full-- == 0;
}

int fstatfs(int fd, struct statfs *st)
{
	memset(st, 0, sizeof *st);
	return 0;
}

ssize_t pwritev(int fd, const struct iovec *part, int n, off_t at)
{
	for (int i = 0; no_room_for && i < n; i++) {
		if (memmem(part[i].iov_base, part[i].iov_len, no_room_for, strlen(no_room_for))) {
			errno = EDQUOT;
			return -1;
		}
	}
	if (is_full()) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwritev, fd, part, n, at, 0);
}

static _Thread_local int pwrite_says; /* an errno, once; -1: a part is written, of every write */

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	int error = pwrite_says;
	if (error > 0) {
		pwrite_says = 0;
		errno = error;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, error && n > 1 ? n / 2 : n, at);
}

int fsync(int fd)
{
	if (is_full()) {
		errno = ENOSPC;
		return -1;
	}
	return 0;
}

/* The next seal would be another epoch's: there is none any more, and what is on its way is recorded all the same. */
static void a_seal_without_room_is_the_last(void **state)
{
	char dir[64], buf[256];
	struct journal *j = make_journal(fresh_dir(dir));
	struct record r;
	uint32_t slot;
	uint64_t seq;
	assert_int_equal(append_note(j, "sealed", NULL), 0);
	seal_now(j);
	note(&r, buf, sizeof buf, "on its way");
	assert_int_equal(journal_intent(j, &r, &slot), 0);
	no_room_for = "\"type\":\"seal\"";
	pthread_mutex_lock(&j->lock);
	assert_int_equal(append_seal(j, false), -EDQUOT);
	pthread_mutex_unlock(&j->lock);
	no_room_for = NULL;
	assert_int_equal(journal_append_final(j, &r, slot, &seq), 0);
	assert_int_equal(append_note(j, "refused", NULL), -EDQUOT);
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	assert_false(p.closed);
	assert_true(p.ended);
	assert_int_equal(p.seals, 1);
	assert_true(p.records > seq);
	remove_dir(dir);
}

/* A write of an intent that a signal interrupts (FUSE) is made again; of one that went half way the reason is not that of some call before. */
static void an_intent_is_written_whole(void **state)
{
	char dir[64], buf[256];
	struct journal *j = make_journal(fresh_dir(dir));
	struct record r;
	uint32_t slot;
	uint64_t seq;
	note(&r, buf, sizeof buf, "interrupted");
	pwrite_says = EINTR;
	assert_int_equal(journal_intent(j, &r, &slot), 0);
	assert_int_equal(pwrite_says, 0);
	assert_int_equal(journal_append_final(j, &r, slot, &seq), 0);
	note(&r, buf, sizeof buf, "half");
	pwrite_says = -1;
	errno = EBADF;
	assert_int_equal(journal_intent(j, &r, &slot), -EIO);
	pwrite_says = 0;
	close_with_end(j);
	struct proof p = prove(dir);
	assert_whole(&p);
	remove_dir(dir);
}

static struct journal *begin(const char *dir)
{
	struct journal *j = NULL;
	const char *why;
	int rc = journal_create(&(struct journal_options){ .dir = dir, .sync = SYNC_BATCH }, &j, &why);
	assert_int_equal(rc, j ? 0 : -ENOSPC);
	return j;
}

/* Wherever the disk is full: what would look like a session that was killed is taken back. */
static void what_cannot_begin_leaves_nothing(void **state)
{
	char dir[64];
	struct journal *j = NULL;
	int calls = 0;
	for (;; calls++) {
		fresh_dir(dir);
		until_full = calls;
		j = begin(dir);
		until_full = -1;
		if (j)
			break;
		assert_int_equal(access(dir, F_OK), -1);
		assert_int_equal(mkdir(dir, 0700), 0); /* one that was there stays, and is empty */
		until_full = calls;
		assert_null(begin(dir));
		until_full = -1;
		assert_int_equal(rmdir(dir), 0);
	}
	assert_true(calls >= 4); /* segment, operations in flight, the names of files and directory */
	close_with_end(j);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seal_without_room_is_the_last),
		cmocka_unit_test(what_cannot_begin_leaves_nothing),
		cmocka_unit_test(an_intent_is_written_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
