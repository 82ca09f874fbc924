/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where usher makes its control group, in a tree of plain files that behaves like the kernel's as far as it matters: this
 * program's own mkdirat(), unlinkat(), rmdir() and write() come before the C library's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/cgroup.h"
#include "supervisor/cgroup_files.h"

static void set(const char *dir, const char *file, const char *text)
{
	char name[600];

	snprintf(name, sizeof(name), "%s/%s", dir, file);
	int fd CLEANUP_FD = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && syscall(SYS_write, fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static const char *of(const char *dir, const char *file, char out[256])
{
	char name[600];
	ssize_t n = -1;

	snprintf(name, sizeof(name), "%s/%s", dir, file);
	int fd CLEANUP_FD = open(name, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, out, 255);
	out[n < 0 ? 0 : n] = '\0';
	return n < 0 ? "none" : out;
}

static void name_of(int fd, const char *name, char out[512])
{
	char link[64];

	if (fd == AT_FDCWD) {
		snprintf(out, 512, "%s", name);
		return;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, out, 300);
	assert_true(n > 0);
	snprintf(out + n, 512 - (size_t)n, "%s%s", *name ? "/" : "", name);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
	char path[512], above[512], text[256];

	if (syscall(SYS_mkdirat, dir, name, mode) < 0)
		return -1;
	name_of(dir, name, path);
	strcpy(above, path);
	*strrchr(above, '/') = '\0';
	set(path, "cgroup.procs", "");
	set(path, "cgroup.kill", "");
	set(path, "cpu.stat", "usage_usec 12000\nuser_usec 1\n");
	const char *on = of(above, "cgroup.subtree_control", text);
	if (strstr(on, "memory")) {
		set(path, "memory.max", "");
		set(path, "memory.swap.max", "");
		set(path, "memory.peak", "77\n");
		set(path, "memory.events", "low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n");
	}
	if (strstr(on, "pids")) {
		set(path, "pids.max", "");
		set(path, "pids.events", "max 0\n");
	}
	return 0;
}

static int remove_group(const char *path)
{
	char command[600];

	snprintf(command, sizeof(command), "find '%s' -type f -delete", path);
	return system(command) == 0 && syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR) == 0 ? 0 : -1;
}

int unlinkat(int dir, const char *name, int flags)
{
	char path[512];

	if (!(flags & AT_REMOVEDIR))
		return (int)syscall(SYS_unlinkat, dir, name, flags);
	name_of(dir, name, path);
	return remove_group(path);
}

int rmdir(const char *path)
{
	return remove_group(path);
}

/* Processes and controllers below do not go together; who writes 0 leaves the place where he was. */
ssize_t write(int fd, const void *bytes, size_t n)
{
	char path[512], dir[512], text[256];

	name_of(fd, "", path);
	strcpy(dir, path);
	char *slash = strrchr(dir, '/');
	if (!slash || strncmp(path, "/tmp/usher-cgroup.", 18) != 0)
		return (ssize_t)syscall(SYS_write, fd, bytes, n);
	*slash = '\0';
	if (strcmp(slash + 1, "cgroup.subtree_control") == 0) {
		char was[256], now[700];
		if (*of(dir, "cgroup.procs", text) != '\0' && strncmp(bytes, "+", 1) == 0) {
			errno = EBUSY;
			return -1;
		}
		snprintf(now, sizeof(now), "%s %.*s", of(dir, "cgroup.subtree_control", was), (int)n - 1, (const char *)bytes + 1);
		set(dir, "cgroup.subtree_control", strncmp(bytes, "+", 1) == 0 ? now : "");
		return (ssize_t)n;
	}
	if (strcmp(slash + 1, "cgroup.procs") == 0) {
		char self[16];
		snprintf(self, sizeof(self), "%d\n", (int)getpid());
		set(dir, "cgroup.procs", self);
		*strrchr(dir, '/') = '\0';
		if (strcmp(of(dir, "cgroup.procs", text), self) == 0)
			set(dir, "cgroup.procs", "");
		return (ssize_t)n;
	}
	return (ssize_t)syscall(SYS_write, fd, bytes, n);
}

static const struct cgroup_wants both = { .memory = 1 << 20, .tasks = 50 };

static void group(const char *path, const char *procs, const char *controllers, const char *on)
{
	(void)mkdir(path, 0700);
	set(path, "cgroup.procs", procs);
	set(path, "cgroup.controllers", controllers);
	set(path, "cgroup.subtree_control", on);
}

struct tree {
	char top[64], slice[80], scope[96], self[16];
};

/* A slice with the scope that usher runs in. */
static int plant(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	strcpy(t->top, "/tmp/usher-cgroup.XXXXXX");
	assert_non_null(mkdtemp(t->top));
	snprintf(t->slice, sizeof(t->slice), "%s/slice", t->top);
	snprintf(t->scope, sizeof(t->scope), "%s/scope", t->slice);
	snprintf(t->self, sizeof(t->self), "%d\n", (int)getpid());
	group(t->top, "", "memory pids", "memory pids");
	group(t->slice, "", "memory pids", "");
	group(t->scope, t->self, "memory pids", "");
	*state = t;
	return 0;
}

static int fell(void **state)
{
	struct tree *t = *state;
	char command[100];

	snprintf(command, sizeof(command), "rm -r '%s'", t->top);
	int rc = system(command);
	free(t);
	return rc;
}

static void alone_it_steps_aside(void **state)
{
	struct tree *t = *state;
	struct cgroup g;
	char text[256], path[PATH_MAX], aside[PATH_MAX];

	assert_int_equal(cgroup_make_in(t->top, "/slice/scope", &both, &g), 0);
	assert_true(g.memory && g.tasks);
	assert_string_equal(of(g.path, "memory.max", text), "1048576");
	assert_string_equal(of(g.path, "memory.swap.max", text), "0");
	assert_string_equal(of(g.path, "pids.max", text), "50");
	assert_true(strlen(g.aside) > 0);
	assert_string_equal(of(g.aside, "cgroup.procs", text), t->self);
	assert_string_equal(of(t->scope, "cgroup.procs", text), "");
	strcpy(path, g.path);
	strcpy(aside, g.aside);
	cgroup_end(&g);
	assert_int_equal(access(path, F_OK) | access(aside, F_OK), -1);
	assert_string_equal(of(t->scope, "cgroup.procs", text), t->self);
	assert_string_equal(of(t->scope, "cgroup.subtree_control", text), "");
}

static void among_others_it_goes_beside(void **state)
{
	struct tree *t = *state;
	struct cgroup g;
	char text[256], procs[64];

	snprintf(procs, sizeof(procs), "%s1234567\n", t->self);
	set(t->scope, "cgroup.procs", procs);
	set(t->slice, "cgroup.subtree_control", "memory pids");
	assert_int_equal(cgroup_make_in(t->top, "/slice/scope", &both, &g), 0);
	assert_true(g.memory && g.tasks && !g.aside[0]);
	assert_memory_equal(g.path, t->slice, strlen(t->slice));
	assert_memory_equal(g.path + strlen(t->slice), "/usher-", 7);
	assert_string_equal(of(t->scope, "cgroup.procs", text), procs);
	cgroup_end(&g);
}

static void without_controllers_it_only_counts(void **state)
{
	struct tree *t = *state;
	struct cgroup g;
	struct cgroup_events e;
	uint64_t ms, bytes;

	set(t->scope, "cgroup.controllers", "cpu");
	assert_int_equal(cgroup_make_in(t->top, "/slice/scope", &both, &g), 0);
	assert_false(g.memory || g.tasks || g.aside[0]);
	assert_int_equal(cgroup_cpu_ms(&g, &ms), 0);
	assert_int_equal(ms, 12);
	assert_int_equal(cgroup_memory(&g, &bytes), -ENOENT);
	cgroup_look(&g, &e);
	assert_true(e.memory == 0 && e.tasks == 0);
	cgroup_end(&g);
}

static void half_of_it_is_not_thrown_away(void **state)
{
	struct tree *t = *state;
	struct cgroup g;

	set(t->scope, "cgroup.controllers", "pids");
	assert_int_equal(cgroup_make_in(t->top, "/slice/scope", &both, &g), 0);
	assert_true(g.tasks && !g.memory);
	cgroup_end(&g);
}

static void not_ours(void **state)
{
	struct tree *t = *state;
	struct cgroup g;

	assert_int_equal(cgroup_make_in(t->top, "/nowhere", &both, &g), -ENOENT);
	assert_int_equal(cgroup_make_in(t->top, "/slice", &both, &g), -ESRCH); /* usher is not in it */
	assert_int_equal(g.dir, -1);
	cgroup_kill(&g);
	cgroup_end(&g);
	assert_int_equal(cgroup_join(&g), 0);
}

static void what_happened(void **state)
{
	struct tree *t = *state;
	struct cgroup g;
	struct cgroup_events e;
	char text[256];
	uint64_t bytes;

	assert_int_equal(cgroup_make_in(t->top, "/slice/scope", &both, &g), 0);
	cgroup_look(&g, &e);
	assert_true(e.memory == 0 && e.tasks == 0);
	set(g.path, "memory.events", "low 0\nhigh 0\nmax 9\noom 0\noom_kill 2\noom_group_kill 0\n");
	set(g.path, "pids.events", "max 3\n");
	cgroup_look(&g, &e);
	assert_true(e.memory == 2 && e.tasks == 3);
	assert_int_equal(cgroup_memory(&g, &bytes), 0);
	assert_int_equal(bytes, 77);
	cgroup_kill(&g);
	assert_string_equal(of(g.path, "cgroup.kill", text), "1");
	cgroup_end(&g);
}

static void what_was_left_is_swept(void **state)
{
	struct tree *t = *state;
	struct cgroup g, other;
	char old[128];

	set(t->scope, "cgroup.controllers", "");
	snprintf(old, sizeof(old), "%s/usher-9.0", t->scope);
	assert_int_equal(mkdirat(AT_FDCWD, old, 0700), 0);
	assert_int_equal(cgroup_make_in(t->top, "/slice/scope", &both, &g), 0);
	assert_int_equal(access(old, F_OK), -1);
	/* One that lives stays, also of the same number. */
	assert_int_equal(cgroup_make_in(t->top, "/slice/scope", &both, &other), 0);
	assert_string_not_equal(g.path, other.path);
	assert_int_equal(access(g.path, F_OK), 0);
	cgroup_end(&other);
	cgroup_end(&g);
}

static void files(void **state)
{
	struct tree *t = *state;
	uint64_t v;
	int dir CLEANUP_FD = open(t->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	set(t->top, "odd", "oom_kill x\nlow 18446744073709551616\nhigh -\n\nmax 7");
	assert_int_equal(cgroup_number(dir, "odd", "oom", &v), -EIO);
	assert_int_equal(cgroup_number(dir, "odd", "oom_kill", &v), -EIO);
	assert_int_equal(cgroup_number(dir, "odd", "low", &v), -EIO);
	assert_int_equal(cgroup_number(dir, "odd", "max", &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(cgroup_number(dir, "none", NULL, &v), -ENOENT);
	set(t->top, "odd", "max\n");
	assert_int_equal(cgroup_number(dir, "odd", NULL, &v), -EIO);
	assert_false(cgroup_lists(dir, "cgroup.controllers", "mem"));
	assert_true(cgroup_lists(dir, "cgroup.controllers", "pids"));
	set(t->top, "cgroup.procs", t->self);
	assert_int_equal(cgroup_company(dir), 0);
	set(t->top, "cgroup.procs", "1\n");
	assert_int_equal(cgroup_company(dir), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(alone_it_steps_aside, plant, fell),
		cmocka_unit_test_setup_teardown(among_others_it_goes_beside, plant, fell),
		cmocka_unit_test_setup_teardown(without_controllers_it_only_counts, plant, fell),
		cmocka_unit_test_setup_teardown(half_of_it_is_not_thrown_away, plant, fell),
		cmocka_unit_test_setup_teardown(not_ours, plant, fell),
		cmocka_unit_test_setup_teardown(what_happened, plant, fell),
		cmocka_unit_test_setup_teardown(what_was_left_is_swept, plant, fell),
		cmocka_unit_test_setup_teardown(files, plant, fell),
	};

	return cmocka_run_group_tests_name("supervisor_cgroup", tests, NULL, NULL);
}
