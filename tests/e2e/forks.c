/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls made at once behind a fork that came to nothing, of which usher, where a rule asks for ancestors, learns only a moment later.
 *
 *   forks broken COUNT     COUNT times each: a fork that fails, and then a call of a kind that usher holds its caller for
 *   forks threads COUNT    four threads make COUNT forks each under a timer: the kernel breaks forks off for a signal that another thread then takes
 *
 * Both print how many failed, with which error.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define TIMER_US 1500

/* Every kernel refuses to share handlers without memory. */
static void fork_fails(void)
{
	if (syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0) >= 0 || errno != EINVAL)
		_exit(3);
}

static pid_t brief_child(bool own_memory)
{
	pid_t child = own_memory ? fork() : vfork();

	if (child == 0)
		_exit(0);
	return child;
}

/* 0, or why the child CHILD was not made or did not end with 0. */
static int ended_well(pid_t child)
{
	int status;

	if (child < 0)
		return errno;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return status ? ECHILD : 0;
}

static int by_fork(void)
{
	fork_fails();
	return ended_well(brief_child(true));
}

static int by_vfork(void)
{
	fork_fails();
	return ended_well(brief_child(false));
}

static int by_exec(void)
{
	pid_t child = fork();

	if (child == 0) {
		fork_fails();
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return ended_well(child);
}

static int by_number(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	fork_fails();
	int error = setpriority(PRIO_PROCESS, (id_t)child, getpriority(PRIO_PROCESS, (id_t)child)) < 0 ? errno : 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return error;
}

static const struct {
	const char *name;
	int (*once)(void);
} kinds[] = { { "fork", by_fork }, { "vfork", by_vfork }, { "exec", by_exec }, { "number", by_number } };

static void tell(const char *kind, unsigned failed, int error)
{
	printf("%s: %u failed%s%s\n", kind, failed, failed ? ", " : "", failed ? strerror(error) : "");
}

static void broken(int count)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		unsigned failed = 0;
		int last = 0;

		for (int i = 0; i < count; i++) {
			int error = kinds[k].once();
			failed += error != 0;
			last = error ? error : last;
		}
		tell(kinds[k].name, failed, last);
	}
}

static atomic_uint failures;
static atomic_int failure;

static void on_timer(int sig)
{
	(void)sig;
}

static void *forks(void *count)
{
	for (int i = *(const int *)count; i > 0; i--) {
		int error = ended_well(brief_child(i % 2));
		if (error) {
			atomic_fetch_add(&failures, 1);
			atomic_store(&failure, error);
		}
	}
	return NULL;
}

static void threads(int count)
{
	const struct itimerval every = { { 0, TIMER_US }, { 0, TIMER_US } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction act = { .sa_handler = on_timer };
	pthread_t thread[THREADS];

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, forks, &count))
			_exit(2);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	tell("threads", failures, failure);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(argv[1], "broken") == 0)
		broken(atoi(argv[2]));
	else
		threads(atoi(argv[2]));
	return 0;
}
