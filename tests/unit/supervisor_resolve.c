/* SPDX-License-Identifier: Apache-2.0 */
/* The resolver on a real directory, with the test's own thread as the caller. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/fs.h"
#include "supervisor/open.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

struct stage {
	uint64_t calls;
	struct session session;
	struct worker worker;
	char dir[64];
};

static void put(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	close(fd);
}

static int set_up(void **state)
{
	struct stage *s = calloc(1, sizeof(*s));
	struct stat st;

	strcpy(s->dir, "/tmp/usher-resolve.XXXXXX");
	if (!mkdtemp(s->dir) || chdir(s->dir) < 0 || stat("/proc", &st) < 0)
		return -1;
	mkdir("d", 0755);
	mkdir("d/e", 0755);
	put("f");
	put("d/g");
	put("odd (deleted)");
	if (symlink("d", "ld") < 0 || symlink("f", "lf") < 0 || symlink("nowhere", "dangling") < 0 || symlink("loop", "loop") < 0 ||
	    symlink("d/new", "far") < 0 || symlink("/proc/self", "me") < 0)
		return -1;
	s->session.proc_dev = st.st_dev;
	s->session.proc_block = st.st_blksize;
	s->session.self_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->session.self_fds = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->session.command = getpid();
	s->session.guardian = getppid();
	if (procs_new(&s->session, &s->session.procs) < 0)
		return -1;
	s->worker.session = &s->session;
	place_init(&s->worker.place);
	job_init(&s->worker.job, &s->session, &s->worker);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *s = *state;
	char command[128];

	job_reset(&s->worker.job);
	place_go_home(&s->worker.place, &s->session);
	procs_free(s->session.procs);
	close(s->session.self_proc);
	close(s->session.self_fds);
	snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	int rc = system(command);
	free(s);
	return rc;
}

static struct job *fresh(struct stage *s)
{
	struct job *j = &s->worker.job;

	job_reset(j);
	j->notif.pid = (uint32_t)gettid();
	j->notif.id = ++s->calls;
	assert_int_equal(procs_get(s->session.procs, gettid(), &j->proc), 0);
	return j;
}

static int look(struct job *j, const char *path, unsigned flags, struct target **t)
{
	struct look l = { .dirfd = AT_FDCWD, .path = job_copy(j, path, strlen(path)), .flags = flags };
	return resolve(j, &l, OP_READ, t);
}

/* The name of T below the stage's directory. */
static const char *below(struct stage *s, struct job *j, const struct target *t)
{
	const char *name = job_text(j, t->name);
	size_t n = strlen(s->dir);

	return strncmp(name, s->dir, n) == 0 && name[n] == '/' ? name + n + 1 : name;
}

static void finds_objects(void **state)
{
	static const struct { const char *path; unsigned flags; int rc; const char *name; bool exists; } cases[] = {
		{ "f", 0, 0, "f", true },
		{ "lf", 0, 0, "f", true },
		{ "lf", LOOK_NOFOLLOW, 0, "lf", true },
		{ "ld/g", 0, 0, "d/g", true },
		{ "ld/../f", 0, 0, "f", true },
		{ "d/e/../../f", 0, 0, "f", true },
		{ "./d//e/.", 0, 0, "d/e", true },
		{ "odd (deleted)", 0, 0, "odd (deleted)", true },
		{ "f/", 0, -ENOTDIR, NULL, false },
		{ "f/x", 0, -ENOTDIR, NULL, false },
		{ "f", LOOK_DIRECTORY, -ENOTDIR, NULL, false },
		{ "nx", 0, -ENOENT, NULL, false },
		{ "", 0, -ENOENT, NULL, false },
		{ "loop", 0, -ELOOP, NULL, false },
		{ "nx", LOOK_MISSING, 0, "nx", false },
		{ "ld/nx", LOOK_MISSING, 0, "d/nx", false },
		{ "dangling", LOOK_MISSING, 0, "nowhere", false },
		{ "far", LOOK_MISSING, 0, "d/new", false },
		{ "dangling", LOOK_MISSING | LOOK_NOFOLLOW, 0, "dangling", true },
		{ "nx/y", LOOK_MISSING, -ENOENT, NULL, false },
		{ "lf", LOOK_PARENT, 0, "lf", true },
		{ "ld/g", LOOK_PARENT, 0, "d/g", true },
		{ "ld/nx", LOOK_PARENT, 0, "d/nx", false },
		{ "nx/y", LOOK_PARENT, -ENOENT, NULL, false },
		{ "f/y", LOOK_PARENT, -ENOTDIR, NULL, false },
	};
	struct stage *s = *state;

	for (int full = 0; full < 2; full++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct job *j = fresh(s);
			struct target *t = NULL;
			struct stat st;
			j->full = full;
			assert_int_equal(look(j, cases[i].path, cases[i].flags, &t), cases[i].rc);
			if (cases[i].rc < 0)
				continue;
			assert_string_equal(below(s, j, t), cases[i].name);
			assert_int_equal(t->exists, cases[i].exists);
			assert_false(t->tentative);
			if (!cases[i].exists || (cases[i].flags & LOOK_PARENT))
				assert_true(t->dir >= 0 && t->leaf.off);
			else
				assert_int_equal(fstat(t->fd, &st), 0);
			if (cases[i].exists && !(cases[i].flags & LOOK_PARENT)) {
				assert_int_equal(st.st_ino, t->ino);
				assert_int_equal(st.st_dev, t->dev);
			}
		}
	}
}

static void is_tentative_where_it_may(void **state)
{
	static const struct { const char *path; bool tentative; } cases[] = {
		{ "f", true },        { "./d//g", true },   { "nx", true },          { "lf", true },
		{ "d/../f", false },  { "/etc/passwd", true }, { "/dev/null", true }, { "/dev/tty", false },
		{ "/proc/self/status", true }, { "/proc/1/status", false }, { "/proc/cpuinfo", true },
	};
	struct stage *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job *j = fresh(s);
		struct target *t = NULL;
		int rc = look(j, cases[i].path, LOOK_TENTATIVE | LOOK_MISSING, &t);
		if (cases[i].tentative) {
			assert_int_equal(rc, 0);
			assert_true(t->tentative);
			assert_int_equal(t->fd, -1);
		} else if (rc == 0) {
			assert_false(t->tentative);
		}
		j = fresh(s);
		j->full = true;
		if (look(j, cases[i].path, LOOK_TENTATIVE | LOOK_MISSING, &t) == 0)
			assert_false(t->tentative);
	}
}

static void proc_means_the_caller(void **state)
{
	struct stage *s = *state;
	struct target *t;
	char want[96];

	struct job *j = fresh(s);
	assert_int_equal(look(j, "/proc/self/status", 0, &t), 0);
	snprintf(want, sizeof(want), "/proc/%d/status", (int)getpid());
	assert_string_equal(job_text(j, t->name), want);
	j = fresh(s);
	assert_int_equal(look(j, "/proc/thread-self/comm", 0, &t), 0);
	snprintf(want, sizeof(want), "/proc/%d/task/%d/comm", (int)getpid(), (int)gettid());
	assert_string_equal(job_text(j, t->name), want);
	j = fresh(s);
	assert_int_equal(look(j, "me/cwd/d/g", 0, &t), 0);
	assert_string_equal(below(s, j, t), "d/g");
	assert_true(t->magic);
	j = fresh(s);
	assert_int_equal(look(j, "/proc/self/root/etc/passwd", 0, &t), 0);
	assert_string_equal(job_text(j, t->name), "/etc/passwd");
	j = fresh(s);
	assert_int_equal(look(j, "/proc/self/cwd/nx", LOOK_MISSING, &t), 0);
	assert_string_equal(below(s, j, t), "nx");
}

static void others_stay_closed(void **state)
{
	static const char *const what[] = { "environ", "mem", "root/etc/passwd", "cwd", "fd", "fd/0" };
	struct stage *s = *state;
	struct target *t;

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		char path[96];
		struct job *j = fresh(s);
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), what[i]);
		assert_true(look(j, path, 0, &t) < 0);
	}
	struct job *j = fresh(s);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getppid());
	assert_int_equal(look(j, path, 0, &t), 0);
}

static void names_what_has_no_name(void **state)
{
	struct stage *s = *state;
	struct target *t;
	int ends[2], gone;

	put("gone");
	gone = open("gone", O_RDONLY);
	unlink("gone");
	struct job *j = fresh(s);
	assert_int_equal(resolve_fd(j, gone, OP_READ, &t), 0);
	assert_string_equal(below(s, j, t), "gone");
	assert_int_equal(t->nlink, 0);
	assert_int_equal(t->kind, OBJECT_FILE);
	close(gone);
	assert_int_equal(pipe(ends), 0);
	j = fresh(s);
	assert_int_equal(resolve_fd(j, ends[0], OP_READ, &t), 0);
	assert_int_equal(t->kind, OBJECT_MEMFD);
	j = fresh(s);
	assert_int_equal(resolve_fd(j, 9999, OP_READ, &t), -EBADF);
	close(ends[0]);
	close(ends[1]);
}

static void checks_flags_as_the_kernel(void **state)
{
	static const struct { uint64_t flags, mode, resolve; bool strict; int rc; } cases[] = {
		{ O_RDONLY, 0, 0, true, 0 },
		{ O_RDONLY, 0600, 0, true, -EINVAL },
		{ O_RDONLY, 0600, 0, false, 0 },
		{ 1ull << 40, 0, 0, true, -EINVAL },
		{ 0x40000000, 0, 0, false, 0 },
		{ O_CREAT | O_WRONLY, 010000, 0, true, -EINVAL },
		{ O_CREAT | O_WRONLY, 010000, 0, false, 0 },
		{ O_CREAT | O_DIRECTORY, 0, 0, false, -EINVAL },
		{ O_TMPFILE | O_RDWR, 0600, 0, false, 0 },
		{ O_TMPFILE, 0600, 0, false, -EINVAL },
		{ O_TMPFILE & ~O_DIRECTORY, 0600, 0, false, -EINVAL },
		{ O_PATH | O_CREAT, 0600, 0, false, 0 },
		{ O_PATH | O_CREAT, 0600, 0, true, -EINVAL },
		{ O_RDONLY, 0, 1 << 10, true, -EINVAL },
		{ O_RDONLY, 0, RESOLVE_BENEATH | RESOLVE_IN_ROOT, true, -EINVAL },
		{ O_RDWR | O_TRUNC, 0, RESOLVE_CACHED, true, -EAGAIN },
	};
	struct stage *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job *j = fresh(s);
		assert_int_equal(open_flags(j, cases[i].flags, cases[i].mode, cases[i].resolve, cases[i].strict), cases[i].rc);
	}
}

static void reads_the_umask(void **state)
{
	struct stage *s = *state;
	mode_t old = umask(0127);
	int got = fs_umask(fresh(s));

	umask(old);
	assert_int_equal(got, 0127);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_objects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(is_tentative_where_it_may, set_up, tear_down),
		cmocka_unit_test_setup_teardown(proc_means_the_caller, set_up, tear_down),
		cmocka_unit_test_setup_teardown(others_stay_closed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_what_has_no_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(checks_flags_as_the_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_the_umask, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
