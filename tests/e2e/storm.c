/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three threads change files while another process sends the two user signals, whose handlers are without SA_RESTART, stops and continues them all:
 * more threads than cores, so that a caller is often kept from its core on its way into a wait. No call says EINTR that natively never does, and no thread goes
 * on where there is no code.
 *
 * usage: storm SECONDS    prints the same natively and under a policy that allows everything (on x86-64, see file_signals.c)
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3
#define ENOUGH 200 /* rounds, and signals handled: else nothing was tried */

static atomic_uint handled, rounds, bad;
static atomic_bool over;

static void on_signal(int sig)
{
	(void)sig;
	atomic_fetch_add(&handled, 1);
}

static void must(int rc, const char *what)
{
	if (rc < 0 && atomic_fetch_add(&bad, 1) < 10)
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
}

static void *work(void *arg)
{
	const char *name = arg;
	char to[32];

	snprintf(to, sizeof(to), "%s.to", name);
	while (!atomic_load(&over)) {
		must(mkdir(name, 0700), "mkdir");
		must(rename(name, to), "rename");
		must(rmdir(to), "rmdir");
		int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
		must(fd, "open");
		close(fd);
		must(truncate(name, 5), "truncate");
		must(chmod(name, 0644), "chmod");
		must(link(name, to), "link");
		must(unlink(name), "unlink");
		must(unlink(to), "unlink of the other");
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

static int be_hit(int seconds)
{
	static char names[THREADS][8] = { "one", "two", "three" };
	struct sigaction sa = { .sa_handler = on_signal };
	struct timespec left = { .tv_sec = seconds };
	pthread_t thread[THREADS];

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&thread[i], NULL, work, names[i]))
			return 2;
	}
	while (nanosleep(&left, &left) < 0 && errno == EINTR) {
	}
	atomic_store(&over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("rounds %s, handled %s, bad %u\n", atomic_load(&rounds) >= ENOUGH ? "many" : "few",
	       atomic_load(&handled) >= ENOUGH ? "many" : "few", atomic_load(&bad));
	return 0;
}

static void send_some(pid_t to)
{
	static const int signals[] = { SIGUSR1, SIGUSR1, SIGUSR2, SIGUSR1, SIGSTOP, SIGUSR2, SIGCONT };
	const struct timespec shortly = { .tv_nsec = 50000 };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		const struct timespec pause = { .tv_nsec = random() % 300000 };

		kill(to, signals[i]);
		nanosleep(signals[i] == SIGSTOP ? &shortly : &pause, NULL);
		if (signals[i] == SIGSTOP)
			kill(to, SIGCONT);
	}
}

int main(int argc, char **argv)
{
	const struct timespec begun = { .tv_nsec = 200000000 };
	int status;

	if (argc != 2)
		return 2;
	pid_t child = fork();
	if (child == 0)
		exit(be_hit(atoi(argv[1])));
	nanosleep(&begun, NULL); /* its handlers are there */
	while (waitpid(child, &status, WNOHANG) == 0)
		send_some(child);
	printf("ends with %d, signal %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}
