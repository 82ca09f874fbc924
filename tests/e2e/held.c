/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a process on whose number another one acts all the while: usher holds the number for a moment (supervisor/held.c), which must not show.
 *
 *   held WORK COUNT    makes COUNT calls of a kind in a child whose priority is set in a loop, and prints how many failed, with which error
 *   held none ENDED    prints what calls on a child that has ended, and on odd kinds of numbers, say
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int errors[4096];

static void tell(const char *work)
{
	int any = 0;

	for (int e = 1; e < 4096; e++) {
		if (errors[e])
			any += printf("%s: %s\n", work, strerrorname_np(e) ? strerrorname_np(e) : "no error at all");
	}
	if (!any)
		printf("%s: done\n", work);
	fflush(stdout);
}

static int by_fork(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid(pid, &status, 0) < 0 ? errno : status ? 4095 : 0;
}

static int by_path(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int by_chdir(void)
{
	const char *project = getenv("PWD");

	return chdir("ghost") < 0 || chdir(project ? project : "/") < 0 ? errno : 0;
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* The open of a FIFO waits; the handler's flags say that it is made again. */
static int by_fifo(void)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	const struct itimerval soon = { { 0, 0 }, { 0, 3000 } };
	pid_t writer = fork();

	if (writer == 0) {
		usleep(15000);
		_exit(open("fifo", O_WRONLY) < 0);
	}
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	int fd = open("fifo", O_RDONLY | O_CLOEXEC), error = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	else
		close(open("fifo", O_RDONLY | O_NONBLOCK));
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	return error;
}

static void *idle(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

/* A program with threads execs: all others end. */
static int by_exec(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t t;
		pthread_create(&t, NULL, idle, NULL);
		execl("/bin/true", "true", (char *)NULL);
		_exit(errno == EPERM ? 77 : 78);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return !status ? 0 : WIFEXITED(status) && WEXITSTATUS(status) == 77 ? EPERM : 4095;
}

/* Whoever leads a session without a terminal gets the one that it opens. */
static int by_terminal(void)
{
	int status = 0, fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64] = "";

	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0 || ptsname_r(fd, name, sizeof(name)) != 0)
		return errno;
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		int tty = open(name, O_RDWR);
		_exit(tty < 0 ? 1 : tcgetsid(tty) != getpid() ? 2 : 0);
	}
	waitpid(pid, &status, 0);
	close(fd);
	return status ? ENOTTY : 0;
}

static const struct {
	const char *name;
	int (*once)(void);
} works[] = { { "fork", by_fork }, { "path", by_path }, { "chdir", by_chdir }, { "fifo", by_fifo }, { "exec", by_exec }, { "terminal", by_terminal } };

/* The work is done by a child, or below it: whoever leads its group or has its user is named too. */
static int under_hands(const char *name, int count)
{
	int status = 0;
	size_t w = 0;

	while (w < sizeof(works) / sizeof(works[0]) && strcmp(works[w].name, name) != 0)
		w++;
	if (w == sizeof(works) / sizeof(works[0]))
		return 2;
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		for (int i = 0; i < count; i++)
			errors[works[w].once()]++;
		errors[0] = 0;
		tell(name);
		_exit(0);
	}
	setpgid(pid, pid);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		(void)setpriority(PRIO_PROCESS, (id_t)pid, 0);
		(void)setpriority(PRIO_PGRP, (id_t)pid, 0);
	}
	return status ? 1 : 0;
}

static void say(const char *what, long rc)
{
	if (rc < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %ld\n", what, rc);
}

static void on_number(pid_t pid)
{
	struct rlimit old = { 0, 0 }, limit = { 64, 64 };
	struct sched_param param = { 0 };
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	say("prlimit reads", prlimit(pid, RLIMIT_NOFILE, NULL, &old));
	say("prlimit sets", prlimit(pid, RLIMIT_NOFILE, &limit, &old));
	printf("old %llu\n", (unsigned long long)old.rlim_cur);
	say("sched_setaffinity", sched_setaffinity(pid, sizeof(set), &set));
	say("sched_getscheduler", sched_getscheduler(pid));
	say("sched_setscheduler", sched_setscheduler(pid, SCHED_BATCH, &param));
	say("sched_setparam", sched_setparam(pid, &param));
	say("setpriority", setpriority(PRIO_PROCESS, (id_t)pid, 3));
	say("setpriority of a group", setpriority(PRIO_PGRP, (id_t)pid, 4));
	say("ioprio_set", syscall(SYS_ioprio_set, 1, pid, 3 << 13));
	say("ioprio_get", syscall(SYS_ioprio_get, 1, pid));
	say("an odd kind of priority", setpriority((__priority_which_t)9, (id_t)pid, 3));
	say("an odd kind of ioprio", syscall(SYS_ioprio_set, 9, pid, 3 << 13));
	say("migrate_pages", syscall(SYS_migrate_pages, pid, 0, NULL, NULL));
	say("move_pages", syscall(SYS_move_pages, pid, 0, NULL, NULL, NULL, 0));
}

static int numbers(void)
{
	siginfo_t ended;
	int end[2];
	char byte;

	if (pipe(end) < 0)
		return 2;
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		(void)!read(end[0], &byte, 1);
		_exit(0);
	}
	setpgid(pid, pid);
	printf("a child that lives\n");
	on_number(pid);
	(void)!write(end[1], "x", 1);
	waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT);
	printf("a child that has ended\n");
	on_number(pid);
	waitpid(pid, NULL, 0);
	printf("a number that nobody has\n");
	on_number(pid);
	printf("a negative number\n");
	on_number(-1);
	on_number(-pid);
	return 0;
}

/* Who is killed in a call that usher has put into its registers: its parent gets to know. A parent that waits for ever is ended by the alarm. */
static int killed(int count)
{
	int status;

	for (int i = 0; i < count; i++) {
		alarm(30);
		pid_t pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				(void)by_path();
		}
		usleep(1000 + (useconds_t)(i * 37 % 4000));
		if (pid < 0 || kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
	}
	puts("all ended");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(argv[1], "killed") == 0)
		return killed(atoi(argv[2]));
	return strcmp(argv[1], "none") == 0 ? numbers() : under_hands(argv[1], atoi(argv[2]));
}
