/* SPDX-License-Identifier: Apache-2.0 */
/* The process table against real processes and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/job.h"
#include "supervisor/procs.h"
#include "supervisor/procs_kernel.h"
#include "supervisor/session.h"

static struct session session_for_self(void)
{
	/* As seen from a child: the test plays the command. */
	return (struct session){ .command = getpid(), .guardian = getppid(), .usher = 1, .self_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC) };
}

static pid_t child_pausing(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void image_and_ancestors(void **state)
{
	struct session s = session_for_self();
	struct procs *ps;
	struct proc *p;
	struct subject by = { 0 };
	struct stat st;

	assert_int_equal(procs_new(&s, &ps), 0);
	pid_t pid = child_pausing();
	assert_int_equal(procs_get(ps, pid, &p), 0);
	proc_subject(p, &by);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(by.pid, pid);
	assert_int_equal(by.image.ino, st.st_ino);
	assert_int_equal(by.n_ancestors, 1);
	assert_int_equal(by.ancestors[0].pid, getpid());
	assert_ptr_equal(by.image.exe.bytes, by.ancestors[0].exe.bytes); /* one copy of the name */
	assert_true(procs_inside(ps, pid));
	assert_false(procs_inside(ps, getppid()));
	assert_false(procs_inside(ps, 1));

	assert_int_equal(proc_image(ps, p, SPAN_LITERAL("/bin/other"), 7, 8), 0);
	struct subject after = { 0 };
	proc_subject(p, &after);
	assert_string_equal(after.image.exe.bytes, "/bin/other");
	assert_int_equal(after.n_ancestors, 1);
	assert_string_not_equal(by.image.exe.bytes, "/bin/other"); /* the old span still lives */
	proc_put(p);
	child_end(pid);
	assert_int_not_equal(procs_get(ps, pid, &p), 0);
	procs_free(ps);
}

/* A parent that has replaced its image since the fork does not lend the new one to its child. */
static void ancestry_as_forked(void **state)
{
	struct session s = session_for_self();
	struct procs *ps;
	struct proc *me, *p;
	struct subject by = { 0 };

	assert_int_equal(procs_new(&s, &ps), 0);
	pid_t pid = child_pausing();
	assert_int_equal(procs_get(ps, getpid(), &me), 0);
	assert_int_equal(proc_image(ps, me, SPAN_LITERAL("/usr/bin/trusted"), 7, 8), 0);
	assert_int_equal(procs_get(ps, pid, &p), 0);
	proc_subject(p, &by);
	assert_int_equal(by.n_ancestors, 1);
	assert_null(strstr(by.ancestors[0].exe.bytes, "trusted"));
	assert_int_equal(by.ancestors[0].pid, getpid());
	proc_put(p);
	proc_put(me);
	child_end(pid);
	procs_free(ps);
}

static int pausing(void *arg)
{
	(void)arg;
	pause();
	return 0;
}

/* What a child that shares the memory of its parent runs is in the parent's record. Of any other child /proc is asked. */
static void image_of_shared_memory(void **state)
{
	static const struct span recorded = { "/recorded", 9 };
	static char stack[16384] __attribute__((aligned(16)));
	struct session s = session_for_self();
	struct procs *ps;
	struct proc *me, *p;
	struct subject by = { 0 };

	(void)state;
	if (!thread_same_memory(getpid(), getpid()))
		skip(); /* a container's filter refuses kcmp(2) */
	assert_int_equal(procs_new(&s, &ps), 0);
	assert_int_equal(procs_get(ps, getpid(), &me), 0);
	assert_int_equal(proc_image(ps, me, recorded, 1, 2), 0);
	for (int shared = 0; shared < 2; shared++) {
		pid_t pid = shared ? clone(pausing, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) : child_pausing();
		assert_true(pid > 0);
		assert_int_equal(procs_get(ps, pid, &p), 0);
		proc_subject(p, &by);
		assert_int_equal(by.image.exe.len == recorded.len && !memcmp(by.image.exe.bytes, recorded.bytes, recorded.len), shared);
		assert_int_equal(by.image.dev == 1 && by.image.ino == 2, shared);
		assert_int_equal(by.image.pid, pid);
		assert_int_equal(by.ancestors[0].pid, getpid());
		proc_put(p);
		child_end(pid);
	}
	proc_put(me);
	procs_free(ps);
}

static void *thread_body(void *arg)
{
	int *to = arg;
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (write(to[1], &tid, sizeof(tid)) == sizeof(tid))
		pause();
	return NULL;
}

static void threads_share_a_record(void **state)
{
	struct session s = session_for_self();
	struct procs *ps;
	struct proc *a, *b;
	int fds[2];
	pid_t tid;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (!pid) {
		pthread_t t;

		pthread_create(&t, NULL, thread_body, fds);
		syscall(SYS_exit, 0); /* the leader ends, its thread stays */
	}
	assert_int_equal(read(fds[0], &tid, sizeof(tid)), sizeof(tid));
	usleep(20000);
	assert_int_equal(procs_new(&s, &ps), 0);
	assert_int_equal(procs_get(ps, tid, &a), 0);
	assert_int_equal(proc_pid(a), pid);
	struct job *j = calloc(1, sizeof(*j));
	s.procs = ps;
	j->session = &s;
	j->proc = a;
	j->notif.pid = (unsigned)tid;
	int theirs = caller_fd(j, fds[0]);
	assert_true(theirs >= 0);
	close(theirs);
	assert_int_equal(caller_fd(j, 999), -EBADF);
	assert_int_equal(caller_fd(j, -1), -EBADF);
	free(j);
	assert_int_equal(procs_get(ps, pid, &b), 0);
	assert_ptr_equal(a, b);
	proc_put(a);
	proc_put(b);
	child_end(pid);
	procs_free(ps);
	close(fds[0]);
	close(fds[1]);
}

/* Who writes by number and who execs keep out of each other's way. */
static void writers_and_execs(void **state)
{
	struct session s = session_for_self();
	struct procs *ps;
	struct proc *p;

	assert_int_equal(procs_new(&s, &ps), 0);
	assert_int_equal(procs_get(ps, getpid(), &p), 0);
	assert_true(proc_write_begin(p));
	assert_true(proc_write_begin(p)); /* another thread of usher's */
	proc_write_end(p);
	proc_write_end(p);
	assert_true(proc_exec_begin(p));
	assert_false(proc_write_begin(p));
	assert_true(proc_exec_begin(p)); /* another of its threads */
	proc_exec_end(p);
	assert_false(proc_write_begin(p));
	proc_exec_end(p);
	assert_true(proc_write_begin(p));
	proc_write_end(p);
	proc_put(p);
	procs_free(ps);
}

static void *write_for_a_moment(void *arg)
{
	usleep(30000);
	proc_write_end(arg);
	return NULL;
}

static void exec_waits_for_writers(void **state)
{
	struct session s = session_for_self();
	struct procs *ps;
	struct proc *p;
	pthread_t t;

	assert_int_equal(procs_new(&s, &ps), 0);
	assert_int_equal(procs_get(ps, getpid(), &p), 0);
	assert_true(proc_write_begin(p));
	assert_int_equal(pthread_create(&t, NULL, write_for_a_moment, p), 0);
	assert_true(proc_exec_begin(p));
	pthread_join(t, NULL);
	proc_exec_end(p);
	/* One that does not end: no exec, and writes go on afterwards. */
	assert_true(proc_write_begin(p));
	assert_false(proc_exec_begin(p));
	proc_write_end(p);
	assert_true(proc_write_begin(p));
	proc_write_end(p);
	proc_put(p);
	procs_free(ps);
}

/* What is remembered of a thread by its number holds for no later thread of the same process with that number. */
static void other_threads(void **state)
{
	struct session s = session_for_self();
	struct procs *ps;
	struct proc *p;
	pid_t tid;
	pthread_t t;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(procs_new(&s, &ps), 0);
	assert_int_equal(procs_get(ps, getpid(), &p), 0);
	uint64_t before = proc_serial(p);
	atomic_store(proc_umask(p), 1);
	proc_put(p);
	assert_int_equal(procs_get(ps, getpid(), &p), 0);
	assert_int_equal(proc_serial(p), before);
	assert_int_equal(atomic_load(proc_umask(p)), 1);
	proc_put(p);
	assert_int_equal(pthread_create(&t, NULL, thread_body, fds), 0);
	assert_int_equal(read(fds[0], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(procs_get(ps, tid, &p), 0);
	assert_int_not_equal(proc_serial(p), before);
	assert_int_equal(atomic_load(proc_umask(p)), 0);
	proc_put(p);
	pthread_cancel(t);
	pthread_join(t, NULL);
	procs_free(ps);
	close(fds[0]);
	close(fds[1]);
}

/* A leader's reference stands for the process; another thread's does not. */
static void references(void **state)
{
	struct thread_ref leader, other;
	pthread_t t;
	int fds[2];
	pid_t tid;

	assert_int_equal(thread_open(getpid(), &leader), 0);
	assert_true(leader.pidfd && leader.process);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&t, NULL, thread_body, fds), 0);
	assert_int_equal(read(fds[0], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(thread_open(tid, &other), 0);
	assert_false(other.process);
	assert_true(thread_alive(&leader) && thread_alive(&other));
	pthread_cancel(t);
	pthread_join(t, NULL);
	usleep(20000);
	assert_false(thread_alive(&other));
	assert_int_equal(thread_open(tid, &other), -ESRCH);
	close(other.fd);
	close(leader.fd);
	close(fds[0]);
	close(fds[1]);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 3; fd < 20000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Thousands of processes that come and go leave no descriptor behind. */
static void churn(void **state)
{
	struct session s = session_for_self();
	struct procs *ps;
	unsigned before = open_descriptors();

	assert_int_equal(procs_new(&s, &ps), 0);
	for (int i = 0; i < 3000; i++) {
		struct proc *p;
		pid_t pid = fork();

		if (!pid) {
			pause();
			_exit(0);
		}
		assert_int_equal(procs_get(ps, pid, &p), 0);
		proc_put(p);
		child_end(pid);
	}
	assert_true(open_descriptors() < before + 400);
	procs_free(ps);
	assert_int_equal(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(image_and_ancestors), cmocka_unit_test(ancestry_as_forked), cmocka_unit_test(image_of_shared_memory),
		cmocka_unit_test(threads_share_a_record),
		cmocka_unit_test(writers_and_execs), cmocka_unit_test(exec_waits_for_writers), cmocka_unit_test(references),
		cmocka_unit_test(other_threads), cmocka_unit_test(churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
