/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flood FLOODERS pPROCESSES|tTHREADS MILLISECONDS: so many processes (or threads of one) open and close a file as fast as they can, while one more
 * process does so every two milliseconds. Prints the median of what that one waited for an open and close, in nanoseconds,
 * then the nine-hundredth of a thousand. flood 0 is that process alone.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 20000
#define PAUSE_NS 2000000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void touch(void)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		_exit(1);
	close(fd);
}

static void *flooder(void *arg)
{
	for (;;)
		touch();
	return arg;
}

static _Noreturn void threads(long n)
{
	pthread_t t;

	for (long i = 1; i < n; i++) {
		if (pthread_create(&t, NULL, flooder, NULL))
			_exit(1);
	}
	flooder(NULL);
	_exit(0);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void quiet(uint64_t until)
{
	static uint64_t took[SAMPLES];
	size_t n = 0;

	while (n < SAMPLES && now() < until) {
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
		uint64_t begin = now();
		touch();
		took[n++] = now() - begin;
	}
	qsort(took, n, sizeof(took[0]), by_size);
	if (n)
		printf("%llu %llu\n", (unsigned long long)took[n / 2], (unsigned long long)took[n * 9 / 10]);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: flood FLOODERS p|t MILLISECONDS\n");
		return 2;
	}
	long n = atol(argv[1]);
	int parent = getpid();
	int gate[2];
	char end;

	/* They begin together: beside flooders that run already, natively, the 512th was there after half a minute. */
	if (pipe2(gate, O_CLOEXEC) < 0)
		return 1;
	for (long i = 0; i < (argv[2][0] == 't' && n ? 1 : n); i++) {
		pid_t pid = fork();
		if (pid < 0)
			return 1;
		if (pid > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(gate[1]);
		if (getppid() != parent || read(gate[0], &end, 1) != 0)
			_exit(0);
		if (argv[2][0] == 't')
			threads(n);
		flooder(NULL);
	}
	close(gate[1]);
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	quiet(now() + (uint64_t)atol(argv[3]) * 1000000);
	return 0;
}
