/* SPDX-License-Identifier: Apache-2.0 */
/* A child that says "begins" and stays half a second in its parent's memory, as between vfork(2) and a slow exec; then the parent says "number" of it. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char stack[65536] __attribute__((aligned(16)));

static int child(void *unused)
{
	static const char begins[] = "begins\n";
	struct timespec half = { .tv_nsec = 500 * 1000 * 1000 };

	(void)unused;
	if (write(1, begins, strlen(begins)) < 0)
		return 1;
	while (nanosleep(&half, &half) != 0)
		;
	return 0;
}

int main(void)
{
	pid_t pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	puts("number");
	return 0;
}
