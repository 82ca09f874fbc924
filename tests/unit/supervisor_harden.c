/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/harden.h"

static void *nothing(void *arg)
{
	return harden_worker() == 0 ? arg : NULL;
}

static int harmless(void)
{
	char *const argv[] = { (char *)"true", NULL };
	pthread_t thread;
	void *came = NULL;

	if (execv("/bin/true", argv) == 0 || errno != EPERM)
		return 3;
	if (fork() != -1 || errno != EPERM)
		return 4;
	if (pthread_create(&thread, NULL, nothing, argv[0]) || pthread_join(thread, &came) || came != argv[0])
		return 5;
	if (syscall(__NR_io_uring_setup, 1, NULL) != -1 || errno != EPERM)
		return 6;
	if (setns(-1, 0) != -1 || errno != EPERM)
		return 9;
	return access("/", F_OK) ? 7 : 0;
}

static int hardened(bool worker)
{
	struct rlimit core;

	if (harden_start() || getrlimit(RLIMIT_CORE, &core) || core.rlim_max > 1)
		return 1;
	if (prctl(PR_GET_DUMPABLE) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 2;
	if (worker ? harden_process() || harden_worker() || harden_worker() : harden_child())
		return 8;
	return harmless();
}

static void reads_but_starts_nothing(bool worker)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(hardened(worker));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void workers_read_but_start_nothing(void **state)
{
	reads_but_starts_nothing(true);
}

static void so_do_processes(void **state)
{
	reads_but_starts_nothing(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(workers_read_but_start_nothing), cmocka_unit_test(so_do_processes) };

	return cmocka_run_group_tests_name("supervisor_harden", tests, NULL, NULL);
}
