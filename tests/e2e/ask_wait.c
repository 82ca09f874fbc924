/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller that waits for a person and is disturbed: ask_wait MODE FILE. Prints "ready", then what became of the open.
 *   eintr, restart   SIGALRM after a second, its handler without and with SA_RESTART
 *   ticks            SIGALRM every 30 ms, twelve times, SA_RESTART and silent
 *   ticking          the same until the open returns
 *   exit             another thread waits, this one ends the process with status 7
 *   exec             another thread waits, this one executes echo
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char *file;

static void on_alarm(int sig)
{
	(void)sig;
	if (write(1, "handler\n", 8) < 0)
		_exit(9);
}

#define TICKS 12

static void on_tick(int sig)
{
	static volatile sig_atomic_t seen;
	static const struct itimerval none;

	(void)sig;
	if (++seen == TICKS)
		setitimer(ITIMER_REAL, &none, NULL);
}

static void *wait_in_open(void *arg)
{
	(void)arg;
	return open(file, O_RDONLY) < 0 ? NULL : (void *)&file;
}

static int disturbed(int flags)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = flags };

	sigaction(SIGALRM, &sa, NULL);
	alarm(1);
	int fd = open(file, O_RDONLY);
	puts(fd >= 0 ? "opened" : strerror(errno));
	return 0;
}

static void on_each(int sig)
{
	(void)sig;
}

static int ticking(void (*handler)(int))
{
	static const struct itimerval often = { { 0, 30000 }, { 0, 30000 } };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	int fd = open(file, O_RDONLY);
	puts(fd >= 0 ? "opened" : strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc < 3)
		return 2;
	file = argv[2];
	puts("ready");
	fflush(stdout);
	if (!strcmp(argv[1], "eintr"))
		return disturbed(0);
	if (!strcmp(argv[1], "restart"))
		return disturbed(SA_RESTART);
	if (!strcmp(argv[1], "ticks"))
		return ticking(on_tick);
	if (!strcmp(argv[1], "ticking"))
		return ticking(on_each);
	pthread_create(&t, NULL, wait_in_open, NULL);
	sleep(2);
	if (!strcmp(argv[1], "exit"))
		_exit(7);
	execl("/bin/echo", "echo", "executed", NULL);
	return 3;
}
