/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/pin.h"
#include "supervisor/thread_state.h"

static pid_t a_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

/* As pin_begin() for one who was held just before: the kernel lets go of him some moments after pin_end(). */
static int pin_again(struct pin *pin, pid_t pid)
{
	int rc;

	while ((rc = pin_begin(pin, pid)) == -EPERM)
		usleep(1000);
	return rc;
}

/* Until then whoever is both parent and tracer would wait for a stop under trace, and so take the signal away. */
static void await_let_go(pid_t pid)
{
	struct thread_state st;
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (thread_state(proc, pid, &st) == 0 && st.tracer)
		usleep(1000);
	close(proc);
}

static void await_end(pid_t pid)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		continue;
}

/* Another process, for whom usher's threads trace: its child's number, and that it has waited for it, come through a pipe. */
static pid_t a_parent(int *from)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		int status;
		pid_t child = a_child(), got;
		if (write(ends[1], &child, sizeof(child)) == sizeof(child)) {
			got = waitpid(child, &status, 0);
			(void)!write(ends[1], &got, sizeof(got));
		}
		_exit(0);
	}
	close(ends[1]);
	*from = ends[0];
	return pid;
}

static void holds_the_number_of_one_that_ends(void **state)
{
	int from;
	pid_t child, waited, parent = a_parent(&from);
	struct pollfd p = { .fd = from, .events = POLLIN };
	struct pin pin;

	(void)state;
	assert_int_equal(read(from, &child, sizeof(child)), sizeof(child));
	assert_int_equal(pin_begin(&pin, child), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(poll(&p, 1, 50), 0);
	assert_int_equal(kill(child, 0), 0);
	pin_end(&pin);
	assert_int_equal(read(from, &waited, sizeof(waited)), sizeof(waited));
	assert_int_equal(waited, child);
	waitpid(parent, NULL, 0);
	close(from);
}

static void delivers_what_came_meanwhile(void **state)
{
	pid_t pid = a_child();
	struct pin pin;
	int status;

	(void)state;
	assert_int_equal(pin_begin(&pin, pid), 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	pin_end(&pin);
	await_let_go(pid);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	assert_int_equal(pin_again(&pin, pid), 0);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(kill(pid, SIGTERM), 0);
	pin_end(&pin);
	await_let_go(pid);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void says_why_not(void **state)
{
	pid_t pid = a_child();
	struct pin one, two;

	(void)state;
	assert_int_equal(pin_begin(&one, pid), 0);
	assert_int_equal(pin_begin(&two, pid), -EPERM);
	pin_end(&one);
	kill(pid, SIGKILL);
	await_end(pid);
	assert_int_equal(pin_begin(&one, pid), -EPERM);
	waitpid(pid, NULL, 0);
	assert_int_equal(pin_begin(&one, pid), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_the_number_of_one_that_ends),
		cmocka_unit_test(delivers_what_came_meanwhile),
		cmocka_unit_test(says_why_not),
	};

	return cmocka_run_group_tests_name("supervisor_pin", tests, NULL, NULL);
}
