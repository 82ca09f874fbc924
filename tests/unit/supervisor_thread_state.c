/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/thread_state.h"
#include "supervisor/tracer.h"

static const char whole[] = "Name:\tx\\nState:\\tR\nUmask:\t0022\nState:\tt (tracing stop)\nTgid:\t41\nNgid:\t0\nPid:\t42\nPPid:\t1\nTracerPid:\t77\nThreads:\t3\n"
			    "SigPnd:\t0000000000000001\nSigBlk:\t0000000000000010\nSeccomp:\t2\nSeccomp_filters:\t4\nend:\t0\n";

static void a_status_is_read(void **state)
{
	struct thread_state st;

	assert_int_equal(thread_state_parse(whole, &st), 0);
	assert_int_equal(st.state, THREAD_TRACED);
	assert_int_equal(st.tgid, 41);
	assert_int_equal(st.tracer, 77);
	assert_int_equal(st.threads, 3);
	assert_int_equal(st.blocked, 0x10);
	assert_int_equal(st.filters, 4);
}

/* A status that was cut off says nothing. */
static void what_is_cut_off_is_not_known(void **state)
{
	char text[sizeof(whole)];
	struct thread_state st;

	size_t all = (size_t)(strstr(whole, "end:") - whole) - 1;

	for (size_t len = 0; len < all; len++) {
		memcpy(text, whole, len);
		text[len] = '\0';
		assert_int_equal(thread_state_parse(text, &st), -EIO);
	}
}

static void a_call_is_read(void **state)
{
	struct thread_call c;

	assert_int_equal(thread_call_parse("59 0x1 0x2 0x3 0x4 0x5 0xffffffffffffffff 0x7ffd0 0x40100a\n", &c), 0);
	assert_int_equal(c.nr, 59);
	assert_int_equal(c.arg[0], 1);
	assert_true(c.arg[5] == UINT64_MAX);
	assert_int_equal(c.sp, 0x7ffd0);
	assert_int_equal(c.ip, 0x40100a);
	assert_int_equal(thread_call_parse("-1 0x7ffd0 0x40100a\n", &c), 0);
	assert_int_equal(c.nr, -1);
	assert_int_equal(c.sp, 0x7ffd0);
	assert_int_equal(thread_call_parse("running\n", &c), -EAGAIN);
	assert_int_equal(thread_call_parse("59 0x1 0x2 0x3\n", &c), -EIO);
	assert_int_equal(thread_call_parse("", &c), -EIO);
}

static void this_thread_is_known(void **state)
{
	int proc = open("/proc", O_PATH | O_DIRECTORY);
	struct thread_state st;
	struct thread_call c;

	assert_true(proc >= 0);
	if (thread_state(proc, getpid(), &st) == -EIO)
		skip(); /* no Seccomp_filters: */
	assert_int_equal(st.tgid, getpid());
	assert_int_equal(thread_state(proc, 0x7ffffff0, &st), -ESRCH);
	/* it reads its own: it runs, or is in read */
	int err = thread_call(proc, getpid(), &c);
	assert_true(err == -EAGAIN || (err == 0 && c.nr == SYS_read));
	close(proc);
}

static void who_has_seized_is_remembered(void **state)
{
	struct tracers all = { .held = NULL };

	tracers_init(&all);
	assert_false(tracers_has_seized(&all, 100));
	tracers_renamed(&all, 100, 99);
	assert_false(tracers_has_seized(&all, 99));
	tracers_note_seize(&all, 100);
	assert_true(tracers_has_seized(&all, 100));
	assert_false(tracers_has_seized(&all, 99));
	assert_false(tracers_has_seized(&all, 101));
	tracers_renamed(&all, 100, 99);
	assert_true(tracers_has_seized(&all, 99));
	assert_true(tracers_has_seized(&all, 0));
	assert_true(tracers_has_seized(&all, INT32_MAX));
	free((void *)all.seized);
}

/* A thousand groups stand before what most of it is. */
static void one_of_many_groups_is_known(void **state)
{
	gid_t groups[1000];
	struct thread_state st;
	int begun[2];
	char sign;

	if (geteuid() != 0)
		skip();
	for (int i = 0; i < 1000; i++)
		groups[i] = 100000000u + (gid_t)i;
	assert_int_equal(pipe(begun), 0);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL); /* fork(2) of the thread sanitizer's makes a thread of its own */
	if (child == 0) {
		if (setgroups(1000, groups) == 0 && write(begun[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(begun[1]);
	assert_int_equal(read(begun[0], &sign, 1), 1);
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(thread_state(proc, child, &st), 0);
	assert_int_equal(st.tgid, child);
	assert_int_equal(st.threads, 1);
	close(proc);
	close(begun[0]);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_is_read),
		cmocka_unit_test(one_of_many_groups_is_known),	    cmocka_unit_test(what_is_cut_off_is_not_known),
		cmocka_unit_test(a_call_is_read),	    cmocka_unit_test(this_thread_is_known),
		cmocka_unit_test(who_has_seized_is_remembered),
	};

	return cmocka_run_group_tests_name("supervisor_thread_state", tests, NULL, NULL);
}
