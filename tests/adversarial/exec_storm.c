/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes rows 10 and 38: eight threads spawn as fast as they can, in five ways in turn (posix_spawn, vfork, fork, a child that shares its
 * parent's memory, a second thread of a child whose first one opens files), under a shower of SIGURG, some of the children stopped and
 * continued on their way. Afterwards nobody is traced, nobody is a zombie of usher's, and usher holds
 * no more descriptors and hardly more memory than half way: counted at rest, as usher lets go of the ended in rounds, and beside what
 * a worker holds, as one is added where all wait. STORM= is how many are spawned.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8
#define GROWTH_KIB 2048 /* of memory of its own, beyond what it has half way */
#define REST_US 100000  /* some of usher's rounds: nothing has changed for so long */
#define REST_TRIES 50
#define WORKER_HOLDS 3          /* descriptors of one of usher's threads: a directory, /proc, a caller's syscall file */
#define WORKERS_MORE (2 * THREADS) /* so many callers there are at once */

extern char **environ;

static long each;

static char *const true_argv[] = { "true", NULL };
static atomic_bool calm;

static void on_urgent(int sig)
{
	(void)sig;
}

/* As Go's run time does it. */
static void *shower(void *arg)
{
	const struct timespec pause = { .tv_nsec = 300 * 1000 };

	(void)arg;
	while (!atomic_load(&calm)) {
		kill(getpid(), SIGURG);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void *exec_true(void *arg)
{
	(void)arg;
	execve("/bin/true", true_argv, environ);
	_exit(9);
}

static int exec_beside(void *arg)
{
	execve("/bin/true", true_argv, environ);
	_exit(9);
	return arg != NULL;
}

/* A child with two threads: the second one execs, the first one is in calls that usher answers. */
static void exec_from_second(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, exec_true, NULL) != 0)
		_exit(8);
	for (;;)
		close(open("/dev/null", O_RDONLY));
}

static pid_t spawn(long i, char *stack, size_t len)
{
	pid_t pid;

	switch (i % 5) {
	case 0:
		return posix_spawn(&pid, "/bin/true", NULL, NULL, true_argv, environ) == 0 ? pid : -1;
	case 1:
		pid = vfork();
		break;
	case 2:
		return clone(exec_beside, stack + len - 64, CLONE_VM | SIGCHLD, NULL);
	default:
		pid = fork();
		if (pid == 0 && i % 5 == 4)
			exec_from_second();
	}
	if (pid == 0)
		exec_true(NULL);
	return pid;
}

static void *spawner(void *arg)
{
	char stack[65536] __attribute__((aligned(16)));
	long *lost = arg;
	int status;

	for (long i = 0; i < each; i++) {
		pid_t pid = spawn(i, stack, sizeof(stack));

		if (pid > 0 && i % 7 == 0) {
			kill(pid, SIGSTOP);
			kill(pid, SIGCONT);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			(*lost)++;
	}
	return NULL;
}

static long half_storm(void)
{
	pthread_t t[THREADS], urgent;
	long lost[THREADS] = { 0 }, all = 0;

	atomic_store(&calm, false);
	pthread_create(&urgent, NULL, shower, NULL);

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, spawner, &lost[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		all += lost[i];
	}
	atomic_store(&calm, true);
	pthread_join(urgent, NULL);
	return all;
}

/* The watched program: half, a line, a byte from the test; the other half. */
static int storm(long n)
{
	struct timespec a, b;
	char go;

	sigaction(SIGURG, &(struct sigaction){ .sa_handler = on_urgent, .sa_flags = SA_RESTART }, NULL);
	each = n / THREADS / 2;
	for (int half = 0; half < 2; half++) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		long lost = half_storm();
		clock_gettime(CLOCK_MONOTONIC, &b);
		double s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
		printf("%ld %.0f\n", lost, (double)each * THREADS / s);
		fflush(stdout);
		if (read(STDIN_FILENO, &go, 1) != 1)
			return 1;
	}
	return 0;
}

/* The rest of the line of PID's status that begins with KEY, as a number. */
static long status_of(pid_t pid, const char *key)
{
	char path[64], line[256];
	long value = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	while (f && value < 0 && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, strlen(key)))
			value = strtol(line + strlen(key), NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

static long descriptors_of(pid_t pid)
{
	char path[64];
	long n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static bool below(pid_t pid, pid_t above)
{
	for (int i = 0; pid > 1 && i < 32; i++) {
		if (pid == above)
			return true;
		pid = (pid_t)status_of(pid, "PPid:");
	}
	return false;
}

struct census {
	long descriptors, kib, zombies, traced, threads;
};

/* Of USHER and all below it. */
static void take_census(pid_t usher, struct census *c)
{
	char path[300], line[256];
	const struct dirent *e;
	DIR *d = opendir("/proc");

	*c = (struct census){ .descriptors = descriptors_of(usher), .kib = status_of(usher, "RssAnon:"), .threads = status_of(usher, "Threads:") };
	while (d && (e = readdir(d))) {
		pid_t pid = atoi(e->d_name);

		if (pid <= 0 || !below(pid, usher))
			continue;
		c->traced += status_of(pid, "TracerPid:") > 0;
		snprintf(path, sizeof(path), "/proc/%s/status", e->d_name);
		FILE *f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			c->zombies += !strncmp(line, "State:\tZ", 8);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

/* As soon as nothing changes any more, or after REST_TRIES: what does not come to rest is counted as it is. */
static void take_census_at_rest(pid_t usher, struct census *c)
{
	long before;
	int tries = 0;

	take_census(usher, c);
	do {
		before = c->descriptors;
		usleep(REST_US);
		take_census(usher, c);
	} while (c->descriptors != before && ++tries < REST_TRIES);
}

struct watched {
	pid_t pid;
	FILE *from;
	int to;
};

static bool start(char *const *argv, struct watched *w)
{
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0)
		return false;
	w->pid = fork();
	if (!w->pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[1]);
		close(out[0]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	w->to = in[1];
	w->from = fdopen(out[0], "r");
	return w->pid > 0 && w->from;
}

static bool has_grown(const struct census c[2])
{
	long workers = c[1].threads > c[0].threads ? c[1].threads - c[0].threads : 0;

	return workers > WORKERS_MORE || c[1].descriptors > c[0].descriptors + 8 + WORKER_HOLDS * workers || c[1].kib > c[0].kib + GROWTH_KIB;
}

static int run(const char *name, char *const *argv)
{
	struct census c[2] = { 0 };
	struct watched w = { 0 };
	long lost[2] = { -1, -1 };
	double rate[2] = { 0 };
	int status = -1;
	bool told = start(argv, &w);

	for (int half = 0; half < 2 && told; half++) {
		told = fscanf(w.from, "%ld %lf", &lost[half], &rate[half]) == 2;
		take_census_at_rest(w.pid, &c[half]);
		told = told && write(w.to, "x", 1) == 1;
	}
	waitpid(w.pid, &status, 0);
	bool ok = told && status == 0 && !lost[0] && !lost[1] && !c[1].zombies && !c[1].traced && !has_grown(c);
	printf("%s %s: lost %ld and %ld, %.0f and %.0f a second, descriptors %ld then %ld, threads %ld then %ld, memory %ld then %ld KiB, zombies %ld, traced %ld\n",
	       ok ? "ok" : "not ok", name, lost[0], lost[1], rate[0], rate[1], c[0].descriptors, c[1].descriptors, c[0].threads, c[1].threads, c[0].kib, c[1].kib,
	       c[1].zombies, c[1].traced);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/usher-storm-XXXXXX", self[512], rules[64], journal[64], line[128], *usher = getenv("USHER");
	char *n = getenv("STORM") ? getenv("STORM") : getenv("QUICK") ? (char *)"1000" : (char *)"20000";
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc == 3 && !strcmp(argv[1], "storm"))
		return storm(atol(argv[2]));
	if (!usher || access(usher, X_OK) < 0) {
		printf("skip exec_storm: USHER is not set\n");
		return 77;
	}
	self[len < 0 ? 0 : len] = '\0';
	if (!mkdtemp(dir))
		return 1;
	snprintf(rules, sizeof(rules), "%s/rules", dir);
	snprintf(journal, sizeof(journal), "%s/journal", dir);
	FILE *f = fopen(rules, "w");
	if (!f || fputs("default allow\n", f) < 0 || fclose(f) != 0 || chmod(rules, 0600) < 0)
		return 1;
	char *native[] = { self, "storm", n, NULL };
	char *watched[] = { usher, "run", "-p", rules, "--ask=deny", "--journal", journal, "--", self, "storm", n, NULL };
	int bad = run("native", native) | run("supervised", watched);
	snprintf(line, sizeof(line), "rm -rf %s", dir);
	return system(line) || bad;
}
