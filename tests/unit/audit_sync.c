/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power cuts. fdatasync() and fsync() are ours here: what they were called for is copied, and only the copy counts as
 * being on the disk. So the test knows at each moment what a cut would leave. So is clock_gettime(): the system's clock can be set.
 */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "audit_util.h"

static char disk[64];          /* the directory that a cut would leave; "": nothing is copied */
static pthread_mutex_t copying = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned flushes;

/* The whole file, as the page cache has it now, goes to the disk. */
static void copy_out(int fd)
{
	char self[64], name[PATH_MAX], to[PATH_MAX + 80], buf[65536];
	struct stat st;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(self, name, sizeof name - 1);
	if (!disk[0] || n < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	name[n] = '\0';
	pthread_mutex_lock(&copying);
	snprintf(to, sizeof to, "%s/%s", disk, strrchr(name, '/') + 1);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (off_t at = 0; out >= 0 && (n = pread(fd, buf, sizeof buf, at)) > 0; at += n)
		if (write(out, buf, (size_t)n) != n)
			abort();
	close(out);
	pthread_mutex_unlock(&copying);
	flushes++;
}

int fdatasync(int fd)
{
	copy_out(fd);
	return 0;
}

int fsync(int fd)
{
	copy_out(fd);
	return 0;
}

static _Atomic time_t set_by; /* the system's clock, in seconds */

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, t);
	if (rc == 0 && clock == CLOCK_REALTIME)
		t->tv_sec += set_by;
	return rc;
}

static struct journal *begin(enum journal_sync sync, char dir[64])
{
	struct journal *j = NULL;
	const char *why;
	fresh_dir(dir);
	fresh_dir(disk);
	assert_int_equal(mkdir(disk, 0700), 0);
	assert_int_equal(journal_create(&(struct journal_options){ .dir = dir, .sync = sync }, &j, &why), 0);
	return j;
}

/* Whether TEXT is in the file PREFIX... of what a cut would leave. */
static bool on_disk(const char *file, const char *text)
{
	char path[128], *bytes = NULL;
	struct stat st;
	snprintf(path, sizeof path, "%s/%s", disk, file);
	pthread_mutex_lock(&copying);
	int fd = open(path, O_RDONLY);
	bool found = false;
	if (fd >= 0 && fstat(fd, &st) == 0 && (bytes = malloc((size_t)st.st_size + 1)) && read(fd, bytes, (size_t)st.st_size) == st.st_size)
		found = memmem(bytes, (size_t)st.st_size, text, strlen(text)) != NULL;
	free(bytes);
	if (fd >= 0)
		close(fd);
	pthread_mutex_unlock(&copying);
	return found;
}

static void end(struct journal *j, const char *dir)
{
	close_with_end(j);
	struct proof p = prove(disk);
	assert_whole(&p);
	assert_true(p.closed); /* the last seal is on the disk too */
	remove_dir(disk);
	remove_dir(dir);
	disk[0] = '\0';
}

/* The intent is there before the effect, the record before the reply. */
static void each_is_before(void **state)
{
	char dir[64], buf[2048], text[64];
	struct journal *j = begin(SYNC_EACH, dir);
	for (int i = 0; i < 50; i++) {
		struct record r;
		uint32_t slot;
		snprintf(text, sizeof text, "effect-%d-", i);
		note(&r, buf, sizeof buf, text);
		assert_int_equal(journal_intent(j, &r, &slot), 0);
		assert_true(on_disk("inflight.jsonl", text));
		assert_int_equal(journal_append_final(j, &r, slot, NULL), 0);
		assert_true(on_disk("journal-000001.jsonl", text));
		struct proof p = prove(disk);
		assert_whole(&p);
		assert_false(p.closed);
	}
	end(j, dir);
}

struct caller {
	struct journal *j;
	int id;
};

static void *call(void *context)
{
	struct caller *c = context;
	char text[64];
	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof text, "thread-%d-%d-", c->id, i);
		if (append_note(c->j, text, NULL) != 0 || !on_disk("journal-000001.jsonl", text))
			return c;
	}
	return NULL;
}

/* One flush serves all that wait, and still nobody goes on before his own record is there. */
static void each_among_threads(void **state)
{
	char dir[64];
	struct journal *j = begin(SYNC_EACH, dir);
	struct caller c[4];
	pthread_t thread[4];
	for (int i = 0; i < 4; i++) {
		c[i] = (struct caller){ j, i };
		assert_int_equal(pthread_create(&thread[i], NULL, call, &c[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		void *failed;
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	end(j, dir);
}

static bool gets_on_disk(const char *text)
{
	for (int i = 0; i < 3000 && !on_disk("journal-000001.jsonl", text); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	return on_disk("journal-000001.jsonl", text);
}

/* Soon, without anything more being written; and many records cost few flushes. */
static void batch_is_soon(void **state)
{
	char dir[64];
	struct journal *j = begin(SYNC_BATCH, dir);
	flushes = 0;
	for (int i = 0; i < 2000; i++)
		assert_int_equal(append_note(j, "many", NULL), 0);
	assert_int_equal(append_note(j, "the-last-one", NULL), 0);
	assert_true(flushes < 1000);
	assert_true(gets_on_disk("the-last-one"));
	struct proof p = prove(disk);
	assert_whole(&p);
	end(j, dir);
}

/* The system's clock may be set back: batches go on, and seals. */
static void clock_set_back_stops_no_flush(void **state)
{
	char dir[64];
	struct journal *j = begin(SYNC_BATCH, dir);
	assert_int_equal(append_note(j, "before", NULL), 0);
	assert_true(gets_on_disk("before"));
	set_by = -3600;
	assert_int_equal(append_note(j, "after", NULL), 0);
	assert_true(gets_on_disk("after"));
	assert_true(gets_on_disk("\"type\":\"seal\""));
	set_by = 0;
	end(j, dir);
}

/* The default leaves it to the kernel. */
static void none_never_flushes(void **state)
{
	char dir[64];
	struct journal *j = begin(SYNC_NONE, dir);
	flushes = 0;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(append_note(j, "one", NULL), 0);
	close_with_end(j);
	assert_int_equal(flushes, 0);
	remove_dir(disk);
	remove_dir(dir);
	disk[0] = '\0';
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_before),
		cmocka_unit_test(each_among_threads),
		cmocka_unit_test(batch_is_soon),
		cmocka_unit_test(clock_set_back_stops_no_flush),
		cmocka_unit_test(none_never_flushes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
