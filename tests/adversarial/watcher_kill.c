/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row 60: usher, its keeper and its guardian are killed, alone and two at once; the whole tree ends, whatever it does against
 * it. All of the tree hold one pipe: its end of file tells that nobody is left. The control: natively the same
 * processes outlive the one that started them.
 */
#include <poll.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "probe.h"

#define HOPPERS 3
#define SLEEPERS 60
#define LIFE 20   /* seconds after which whatever is left ends by itself */
#define LIMIT 15000

static void ignore_all(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
}

static _Noreturn void rest(void)
{
	time_t end = time(NULL) + LIFE;

	while (time(NULL) < end)
		usleep(100000);
	_exit(0);
}

/* Forks and exits, again and again: no number of its is good for long. */
static _Noreturn void hop(void)
{
	time_t end = time(NULL) + LIFE;

	while (time(NULL) < end) {
		int pid = fork();
		if (pid > 0)
			_exit(0);
	}
	_exit(0);
}

static void daemonize(void (*life)(void), bool session)
{
	if (fork() != 0)
		return;
	if (session)
		setsid();
	if (fork() != 0)
		_exit(0);
	ignore_all();
	signal(SIGCHLD, SIG_DFL);
	life();
	_exit(0);
}

static void stop_and_rest(void)
{
	raise(SIGSTOP);
	rest();
}

static void bomb(void)
{
	for (int i = 0; i < SLEEPERS; i++) {
		if (fork() == 0)
			rest();
	}
	rest();
}

/* The tree: everything that may outlive its parents. Says when it stands. */
static int tree(void)
{
	daemonize(rest, true);
	daemonize(rest, false);
	daemonize(stop_and_rest, true);
	daemonize(bomb, true);
	for (int i = 0; i < HOPPERS; i++)
		daemonize(hop, true);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	usleep(50000);
	if (write(STDOUT_FILENO, "r", 1) != 1)
		return 1;
	rest();
}

/* Whether the pipe ends within MS milliseconds. */
static bool ends(int fd, int ms)
{
	struct timespec a, b;
	char buf[64];

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &b);
		int left = ms - (int)((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000);
		struct pollfd p = { fd, POLLIN, 0 };
		if (left <= 0 || poll(&p, 1, left) <= 0)
			return false;
		if (read(fd, buf, sizeof(buf)) <= 0)
			break;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("# gone after %d ms\n", (int)((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000));
	return true;
}

static int start(struct stage *s, const char *journal, bool supervised, int *out)
{
	char *argv[] = { s->usher, (char *)"run", (char *)"-p", s->rules, (char *)"--ask=deny", (char *)"--journal", (char *)journal,
			 (char *)"--", s->self, (char *)"--attack", (char *)"0", NULL };
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -1;
	int pid = fork();
	if (pid == 0) {
		probe_drop(s->uid);
		setpgid(0, 0);
		dup2(p[1], STDOUT_FILENO);
		setenv("HOME", s->work, 1);
		if (chdir(s->work) == 0)
			execv(supervised ? s->usher : s->self, supervised ? argv : argv + 8);
		_exit(99);
	}
	close(p[1]);
	char byte = 0;
	if (read(p[0], &byte, 1) != 1 || byte != 'r') {
		close(p[0]);
		return -1;
	}
	*out = p[0];
	return pid;
}

/* The only child of PID, or 0. */
static int child_of(int pid)
{
	char name[80];
	int child = 0;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/children", pid, pid);
	FILE *f = fopen(name, "r");
	if (f && fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f)
		fclose(f);
	return child;
}

enum { USHER = 1, KEEPER = 2, GUARDIAN = 4, GROUP = 8 };

static const struct {
	const char *name;
	int who;
} kills[] = {
	{ "row 60: kill -9 of usher", USHER },
	{ "row 60: kill -9 of its guardian", GUARDIAN },
	{ "row 60: kill -9 of its keeper", KEEPER },
	{ "row 60: kill -9 of usher and its guardian at once", USHER | GUARDIAN },
	{ "row 60: kill -9 of usher and its keeper at once", USHER | KEEPER },
	{ "row 60: kill -9 of its guardian and its keeper at once", KEEPER | GUARDIAN },
	{ "row 60: kill -9 of usher's process group", GROUP },
};

static void strike(int usher, int who)
{
	int keeper = child_of(usher), guardian = child_of(keeper);
	int victim[] = { who & USHER ? usher : 0, who & KEEPER ? keeper : 0, who & GUARDIAN ? guardian : 0, who & GROUP ? -usher : 0 };

	for (size_t i = 0; i < sizeof(victim) / sizeof(victim[0]); i++) {
		if (victim[i])
			kill(victim[i], SIGKILL);
	}
}

/*
 * What the control has left behind: the probe is its reaper. SIGCHLD is ignored, so that what has ended is nobody's child any more: the list holds the living
 * alone, and those who hop are met.
 */
static void end_orphans(void)
{
	int pid;

	while (waitpid(-1, NULL, WNOHANG) >= 0) {
		FILE *f = fopen("/proc/thread-self/children", "r");
		while (f && fscanf(f, "%d", &pid) == 1 && pid > 0)
			kill(pid, SIGKILL);
		if (f)
			fclose(f);
	}
}

static int control(struct stage *s)
{
	int fd = -1, pid = start(s, "", false, &fd);
	bool gone = true;

	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		signal(SIGCHLD, SIG_IGN); /* what hops leaves thousands behind, which nobody else could fork beside */
		gone = ends(fd, 500);
		end_orphans();
		signal(SIGCHLD, SIG_DFL);
		close(fd);
	}
	printf("%s control: the tree outlives its parent (%s)\n", pid < 0 || gone ? "not ok" : "ok", s->uid ? "user" : "root");
	return pid < 0 || gone;
}

static int one(struct stage *s, unsigned i)
{
	char journal[96];
	int fd = -1;

	snprintf(journal, sizeof(journal), "%s/k%u", s->work, i);
	int usher = start(s, journal, true, &fd);
	if (usher < 0) {
		printf("not ok %s: the tree did not start\n", kills[i].name);
		return 1;
	}
	strike(usher, kills[i].who);
	bool gone = ends(fd, LIMIT);
	printf("%s %s (%s)\n", gone ? "ok" : "not ok", kills[i].name, s->uid ? "user" : "root");
	close(fd);
	waitpid(usher, NULL, 0);
	return !gone;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 3)
		return tree();
	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int round = 0; round < 2; round++) {
		struct stage stage = { .uid = 0 };
		if (round == 1 && geteuid() != 0)
			break;
		if (probe_stage(&stage, round == 1 || geteuid() != 0 ? PROBE_UID : 0) < 0)
			return 1;
		failed += control(&stage);
		for (unsigned i = 0; i < sizeof(kills) / sizeof(kills[0]); i++)
			failed += one(&stage, i);
		probe_clean(&stage);
	}
	return failed ? 1 : 0;
}
