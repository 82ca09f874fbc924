/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows 10, 12, 72 to 74: floods, killed callers and exhausted descriptors end neither usher nor its service to others.
 * The control of each is that the same program succeeds natively.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#include "probe.h"

#define FLOODERS 128
#define OPENS 50
#define KILLS 200
#define HERDS 16
#define HERD 64
#define HERD_CPU_S 5 /* usher's work for all of them takes a fifth of it; where each call looks at all the others, three times as much */

static int open_often(int times)
{
	for (int i = 0; i < times; i++) {
		int fd = open("/etc/passwd", O_RDONLY);
		if (fd < 0)
			return 1;
		close(fd);
	}
	return 0;
}

static int wait_all(void)
{
	int status, bad = 0;

	while (wait(&status) > 0)
		bad += status != 0;
	return bad;
}

/* Row 72: many processes at once; each gets every answer. */
static int flood(void)
{
	for (int i = 0; i < FLOODERS; i++) {
		int pid = fork();
		if (pid == 0)
			_exit(open_often(OPENS));
		if (pid < 0)
			return 1;
	}
	return wait_all() ? 1 : 0;
}

/* Processor time of the processes above: usher, its keeper and its guardian. */
static long ticks_above(void)
{
	long sum = 0;

	for (int pid = getppid(), i = 0; pid > 1 && i < 3; pid = parent_of(pid), i++) {
		char name[64], text[512];
		long user = 0, system = 0;

		snprintf(name, sizeof(name), "/proc/%d/stat", pid);
		FILE *f = fopen(name, "r");
		char *paren = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
		if (paren && sscanf(paren + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) == 2)
			sum += user + system;
		if (f)
			fclose(f);
	}
	return sum;
}

static void *read_fifo(void *name)
{
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		_exit(1);
	close(fd);
	return NULL;
}

static int herd(void)
{
	pthread_t thread[HERD];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < HERD; i++) {
		if (pthread_create(&thread[i], &small, read_fifo, (void *)(uintptr_t)"herd") != 0)
			return 1;
	}
	for (int i = 0; i < HERD; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* Row 72: a thousand threads wait at one FIFO. Nobody is behind them: what usher does for each does not grow with the others. */
static int one_fifo(void)
{
	long before = ticks_above();

	if (mkfifo("herd", 0600) < 0)
		return 1;
	for (int i = 0; i < HERDS; i++) {
		int pid = fork();
		if (pid == 0)
			_exit(herd());
		if (pid < 0)
			return 1;
	}
	sleep(2);
	int late = open_often(10);
	long ticks = ticks_above() - before;
	int fd = open("herd", O_WRONLY);
	int bad = wait_all();
	unlink("herd");
	close(fd);
	if (ticks > HERD_CPU_S * sysconf(_SC_CLK_TCK))
		fprintf(stderr, "%ld ticks of usher's\n", ticks);
	return late || fd < 0 || bad || ticks > HERD_CPU_S * sysconf(_SC_CLK_TCK) ? 1 : 0;
}

/* Rows 10 and 12: callers die in the middle of a call; those that come later are served, with the right file. */
static int storm(void)
{
	for (int i = 0; i < KILLS; i++) {
		int pid = fork();
		if (pid == 0) {
			for (;;)
				open_often(1);
		}
		if (pid < 0)
			return 1;
		usleep((unsigned)(i % 7) * 100);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return open_often(10);
}

/* Row 74: the caller's own descriptors run out: EMFILE as natively, and again service when there is room. */
static int exhaust(void)
{
	struct rlimit l = { 24, 24 };
	int fd, last = -1;

	if (setrlimit(RLIMIT_NOFILE, &l) < 0)
		return 1;
	while ((fd = open("/etc/passwd", O_RDONLY)) >= 0)
		last = fd;
	if (errno != EMFILE || last != 23)
		return 1;
	close(last);
	return open("/etc/passwd", O_RDONLY) == last ? 0 : 1;
}

/* Row 73: a bomb that the process limit ends; afterwards all is as before. */
static int bomb(void)
{
	int made = 0, pid;

	while (made < 300 && (pid = fork()) >= 0) {
		if (pid == 0) {
			pause();
			_exit(0);
		}
		made++;
	}
	signal(SIGTERM, SIG_IGN);
	setpgid(0, 0);
	kill(0, SIGTERM);
	while (waitpid(-1, NULL, WNOHANG) >= 0) {
		kill(0, SIGTERM);
		usleep(1000);
	}
	return made > 0 ? open_often(10) : 1;
}

/* The children of a bomb belong to the group that is signalled. */
static int bomb_in_group(void)
{
	setpgid(0, 0);
	return bomb();
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "row 72: 128 processes flood opens", flood },
	{ "row 72: 1,024 threads wait at one FIFO", one_fifo },
	{ "rows 10 and 12: 200 callers die in a call", storm },
	{ "row 74: the caller's descriptors run out", exhaust },
	{ "row 73: 300 processes at once", bomb_in_group },
};

static int run_case(struct stage *s, unsigned index, bool supervised, int files)
{
	char number[16], journal[96];
	int status;

	snprintf(number, sizeof(number), "%u", index);
	snprintf(journal, sizeof(journal), "%s/j%u.%d", s->work, index, files);
	char *argv[] = { s->usher, (char *)"run", (char *)"-p", s->rules, (char *)"--ask=deny", (char *)"--journal", journal,
			 (char *)"--", s->self, (char *)"--attack", number, NULL };
	int pid = fork();
	if (pid == 0) {
		const struct rlimit l = { (rlim_t)files, (rlim_t)files };
		if (files > 0)
			setrlimit(RLIMIT_NOFILE, &l);
		probe_drop(s->uid);
		setenv("HOME", s->work, 1);
		alarm(120); /* inherited over exec: whoever hangs is ended */
		if (chdir(s->work) == 0)
			execv(supervised ? s->usher : s->self, supervised ? argv : argv + 8);
		_exit(99);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int one(struct stage *s, unsigned i)
{
	const char *who = s->uid ? "user" : "root";
	int native = run_case(s, i, false, 0), rc = native ? native : run_case(s, i, true, 0);

	printf("%s %s (%s)", rc ? "not ok" : "ok", cases[i].name, who);
	if (rc)
		printf(": %s status %d", native ? "native" : "supervised", rc);
	puts("");
	return rc != 0;
}

/* Row 74: usher itself has hardly any descriptors: it works, or says that it cannot. */
static int starved(struct stage *s, int files)
{
	int rc = run_case(s, 0, true, files);
	bool good = rc == 0 || rc == 1 || rc == 125 || rc == 126;

	printf("%s row 74: usher with %d descriptors (%s): status %d\n", good ? "ok" : "not ok", files, s->uid ? "user" : "root", rc);
	return !good;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 3)
		return cases[atoi(argv[2])].run();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int round = 0; round < 2; round++) {
		struct stage stage = { .uid = 0 };
		if (round == 1 && geteuid() != 0)
			break;
		if (probe_stage(&stage, round == 1 || geteuid() != 0 ? PROBE_UID : 0) < 0)
			return 1;
		for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			failed += one(&stage, i);
		failed += starved(&stage, 16) + starved(&stage, 32) + starved(&stage, 64);
		probe_clean(&stage);
	}
	return failed ? 1 : 0;
}
