/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes row 10: processes are killed at any instant of their exec, some while two of their threads exec at once. Every one
 * must be collected by its parent: a tracee that nobody collects would hang the session (that is the failure looked for).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 200

static void *run_true(void *program)
{
	char *argv[] = { "true", NULL };

	execv(program, argv);
	return NULL;
}

static void child(int i)
{
	pthread_t t;

	if (i % 3 == 0) {
		pthread_create(&t, NULL, run_true, "/bin/true");
		pthread_create(&t, NULL, run_true, "/nonexistent");
		pthread_create(&t, NULL, run_true, "/bin/true");
	}
	run_true("/bin/true");
	_exit(1);
}

/* Runs as the watched program. */
static int storm(int n)
{
	int killed = 0, done = 0, failed = 0;
	unsigned seed = 1;

	for (int i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			child(i);
		usleep((useconds_t)(rand_r(&seed) % (i % 2 ? 1200 : 500)));
		if (i % 4)
			kill(pid, SIGKILL);
		if (waitpid(pid, &status, 0) != pid)
			return 1;
		killed += WIFSIGNALED(status);
		done += WIFEXITED(status) && !WEXITSTATUS(status);
		failed += WIFEXITED(status) && WEXITSTATUS(status);
	}
	printf("%d %d %d\n", killed, done, failed);
	return 0;
}

static int run(const char *prefix, const char *name, int n)
{
	char line[1200], self[512];
	int killed = 0, done = 0, failed = 0;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[len < 0 ? 0 : len] = '\0';
	snprintf(line, sizeof(line), "timeout -k 5 %d %s %s storm %d", LIMIT_S, prefix, self, n);
	FILE *f = popen(line, "r");
	int got = f ? fscanf(f, "%d %d %d", &killed, &done, &failed) : 0;
	int status = f ? pclose(f) : -1;
	int ok = got == 3 && status == 0 && killed + done == n && killed && done;
	printf("%s %s: killed %d done %d failed %d status %d\n", ok ? "ok" : "not ok", name, killed, done, failed, status);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	char rules[] = "/tmp/usher-kills-XXXXXX", prefix[600];
	const char *usher = getenv("USHER");
	int n = getenv("QUICK") ? 500 : 4000;

	if (argc == 3 && !strcmp(argv[1], "storm"))
		return storm(atoi(argv[2]));
	if (!usher || access(usher, X_OK) < 0) {
		printf("skip exec_kills: USHER is not set\n");
		return 77;
	}
	int fd = mkstemp(rules);
	if (fd < 0 || write(fd, "default allow\n", 14) != 14)
		return 1;
	close(fd);
	int bad = run("", "native", n);
	snprintf(prefix, sizeof(prefix), "%s run -p %s --", usher, rules);
	bad |= run(prefix, "supervised", n);
	unlink(rules);
	return bad;
}
