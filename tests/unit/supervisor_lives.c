/* SPDX-License-Identifier: Apache-2.0 */
/* How processes end: each is noted once, when its parent has collected it, also by kernels that tell of the end alone (before Linux 6.9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/journal.h"
#include "supervisor/lives.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"

static const struct span exe = { "/bin/true", 9 };

struct scene {
	char dir[64];
	struct session session;
};

static void begin(struct scene *s)
{
	struct journal *j;
	const char *why;

	strcpy(s->dir, "/tmp/usher-lives-XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	assert_int_equal(journal_create(&(struct journal_options){ .dir = s->dir }, &j, &why), 0);
	s->session = (struct session){ .journal = j, .command = getpid(), .guardian = getppid(), .usher = 1,
				       .self_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	assert_int_equal(procs_new(&s->session, &s->session.procs), 0);
	assert_int_equal(lives_new(&s->session, &s->session.lives), 0);
}

static void end(struct scene *s)
{
	char command[96], buf[256];
	struct record r;

	record_begin(&r, buf, sizeof(buf), "end");
	assert_int_equal(journal_close(s->session.journal, &r), 0);
	procs_free(s->session.procs);
	close(lives_fd(s->session.lives));
	free(s->session.lives);
	close(s->session.self_proc);
	snprintf(command, sizeof(command), "rm -rf %s", s->dir);
	assert_int_equal(system(command), 0);
}

/* How many records a round writes. */
static uint64_t round_writes(struct scene *s)
{
	char buf[256];
	struct record r;
	uint64_t before, after;

	record_begin(&r, buf, sizeof(buf), "note");
	assert_int_equal(journal_append(s->session.journal, &r, &before), 0);
	lives_round(s->session.lives);
	record_begin(&r, buf, sizeof(buf), "note");
	assert_int_equal(journal_append(s->session.journal, &r, &after), 0);
	return after - before - 1;
}

static void noted_when_collected(void **state)
{
	struct scene s;
	siginfo_t info;

	begin(&s);
	pid_t pid = fork();
	if (!pid)
		_exit(3);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(fd >= 0);
	lives_enter(s.session.lives, fd, pid, getpid(), exe);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(round_writes(&s), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(round_writes(&s), 1);
	assert_int_equal(round_writes(&s), 0);
	end(&s);
}

/* Such a pidfd becomes readable, and nothing more ever comes: as this descriptor, which is nobody's any more from the start. */
static void noted_where_nobody_tells(void **state)
{
	struct scene s;

	begin(&s);
	int ended = eventfd(1, EFD_CLOEXEC), lives = eventfd(0, EFD_CLOEXEC);
	lives_enter(s.session.lives, ended, 4711, getpid(), exe);
	lives_enter(s.session.lives, lives, 4712, getpid(), exe);
	assert_int_equal(round_writes(&s), 1);
	assert_int_equal(fcntl(ended, F_GETFD), -1);
	assert_int_equal(round_writes(&s), 0);
	assert_int_not_equal(fcntl(lives, F_GETFD), -1);
	assert_int_equal(eventfd_write(lives, 1), 0);
	assert_int_equal(round_writes(&s), 1);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noted_when_collected),
		cmocka_unit_test(noted_where_nobody_tells),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
