/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Micro benchmarks: micro NAME COUNT [WORKERS] does one kind of call COUNT times in the current folder (which
 * it may fill) and prints nanoseconds for each. Setting up is not measured.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct work {
	long count;
	int id;
	char path[4096];
	struct sockaddr_storage addr;
	socklen_t addr_len;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	if (fd < 0)
		fail(path);
	close(fd);
}

static void open_path(struct work *w, int flags)
{
	for (long i = 0; i < w->count; i++) {
		int fd = open(w->path, flags, 0644);

		if (fd < 0)
			fail(w->path);
		close(fd);
	}
}

static void setup_open(struct work *w)
{
	char cwd[2048];

	if (!getcwd(cwd, sizeof(cwd)))
		fail("getcwd");
	snprintf(w->path, sizeof(w->path), "%s/f%d", cwd, w->id);
	make_file(w->path);
}

static void run_open(struct work *w)
{
	open_path(w, O_RDONLY);
}

static void setup_relative(struct work *w)
{
	snprintf(w->path, sizeof(w->path), "f%d", w->id);
	make_file(w->path);
}

static void setup_deep(struct work *w)
{
	snprintf(w->path, sizeof(w->path), ".");
	for (int i = 0; i < 12; i++) {
		strcat(w->path, "/deep");
		if (mkdir(w->path, 0755) < 0 && errno != EEXIST)
			fail(w->path);
	}
	strcat(w->path, "/f");
	make_file(w->path);
}

static void setup_link(struct work *w)
{
	setup_relative(w);
	snprintf(w->path, sizeof(w->path), "l%d", w->id);
	if (symlink("f0", w->path) < 0 && errno != EEXIST)
		fail("symlink");
}

/* Cold: a different name each time, out of many. */
static void setup_cold(struct work *w)
{
	char name[64];

	for (long i = 0; i < w->count; i++) {
		snprintf(name, sizeof(name), "c%d-%ld", w->id, i);
		make_file(name);
	}
}

static void run_cold(struct work *w)
{
	char name[64];

	for (long i = 0; i < w->count; i++) {
		snprintf(name, sizeof(name), "c%d-%ld", w->id, i);
		int fd = open(name, O_RDONLY);
		if (fd < 0)
			fail(name);
		close(fd);
	}
}

static void run_create(struct work *w)
{
	char name[64];

	for (long i = 0; i < w->count; i++) {
		snprintf(name, sizeof(name), "n%d-%ld", w->id, i);
		int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
		if (fd < 0)
			fail(name);
		close(fd);
	}
}

static void run_missing(struct work *w)
{
	for (long i = 0; i < w->count; i++)
		if (open("no such file", O_RDONLY) >= 0)
			fail("missing");
}

static void run_mkdir(struct work *w)
{
	char name[64];

	snprintf(name, sizeof(name), "d%d", w->id);
	for (long i = 0; i < w->count; i++)
		if (mkdir(name, 0755) < 0 || rmdir(name) < 0)
			fail("mkdir");
}

static void run_rename(struct work *w)
{
	char other[64];

	snprintf(other, sizeof(other), "r%d", w->id);
	for (long i = 0; i < w->count; i++)
		if (rename(i & 1 ? other : w->path, i & 1 ? w->path : other) < 0)
			fail("rename");
}

static void run_unlink(struct work *w)
{
	char name[64];

	for (long i = 0; i < w->count; i++) {
		snprintf(name, sizeof(name), "c%d-%ld", w->id, i);
		if (unlink(name) < 0)
			fail(name);
	}
}

static void run_stat(struct work *w)
{
	struct stat st;

	for (long i = 0; i < w->count; i++)
		if (stat(w->path, &st) < 0)
			fail("stat");
}

static void *accept_all(void *arg)
{
	int s = *(int *)arg, c;

	free(arg);
	while ((c = accept(s, NULL, NULL)) >= 0)
		close(c);
	return NULL;
}

static void listen_on(struct work *w, int family)
{
	int *s = malloc(sizeof(*s));
	pthread_t t;

	if (!s)
		fail("malloc");
	*s = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*s < 0 || bind(*s, (struct sockaddr *)&w->addr, w->addr_len) < 0 || listen(*s, 1024) < 0)
		fail("listen");
	w->addr_len = sizeof(w->addr);
	getsockname(*s, (struct sockaddr *)&w->addr, &w->addr_len);
	if (pthread_create(&t, NULL, accept_all, s))
		fail("pthread_create");
	pthread_detach(t);
}

static void setup_tcp(struct work *w)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	memcpy(&w->addr, &in, sizeof(in));
	w->addr_len = sizeof(in);
	listen_on(w, AF_INET);
}

static void setup_unix(struct work *w)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	char cwd[64];

	if (!getcwd(cwd, sizeof(cwd)))
		fail("getcwd");
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/s%d", cwd, w->id);
	memcpy(&w->addr, &un, sizeof(un));
	w->addr_len = sizeof(un);
	listen_on(w, AF_UNIX);
}

static void run_connect(struct work *w)
{
	struct linger hard = {1, 0};

	for (long i = 0; i < w->count; i++) {
		int s = socket(w->addr.ss_family, SOCK_STREAM, 0);

		/* A reset keeps the ports from running out. */
		setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		if (connect(s, (struct sockaddr *)&w->addr, w->addr_len) < 0)
			fail("connect");
		close(s);
	}
}

/* A fixed amount of computation, some hundred microseconds, before each open. */
static void run_work(struct work *w)
{
	for (long i = 0; i < w->count; i++) {
		for (volatile unsigned n = 0; n < 200000; n++)
			;
		int fd = open(w->path, O_RDONLY);

		if (fd < 0)
			fail(w->path);
		close(fd);
	}
}

static void run_spawn(struct work *w)
{
	char *argv[] = {"true", NULL};
	pid_t pid;
	int status;

	for (long i = 0; i < w->count; i++)
		if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid || status != 0)
			fail("spawn");
}

static const struct bench {
	const char *name;
	void (*setup)(struct work *w);
	void (*run)(struct work *w);
} benches[] = {
	{"open", setup_open, run_open},          {"open-relative", setup_relative, run_open}, {"open-deep", setup_deep, run_open},
	{"open-link", setup_link, run_open},     {"open-cold", setup_cold, run_cold},         {"open-create", NULL, run_create},
	{"open-missing", NULL, run_missing},     {"mkdir", NULL, run_mkdir},                  {"rename", setup_relative, run_rename},
	{"unlink", setup_cold, run_unlink},      {"stat", setup_relative, run_stat},          {"connect-tcp", setup_tcp, run_connect},
	{"connect-unix", setup_unix, run_connect}, {"spawn", NULL, run_spawn},
	{"work", setup_open, run_work},
};

/* Shared with the worker, which may be a process: from its first call to its last. */
struct start {
	pthread_barrier_t *ready;
	const struct bench *bench;
	uint64_t begin;
	uint64_t end;
	struct work work;
};

static void *in_thread(void *arg)
{
	struct start *s = arg;

	pthread_barrier_wait(s->ready);
	s->begin = now();
	s->bench->run(&s->work);
	s->end = now();
	return NULL;
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

/* Workers are threads, or processes when WORKERS is written pN. All calls are counted together. */
static uint64_t run_all(const struct bench *b, long count, int workers, bool processes)
{
	struct start *s = shared((size_t)workers * sizeof(*s));
	pthread_t *t = calloc((size_t)workers, sizeof(*t));
	pthread_barrier_t *ready = shared(sizeof(*ready));
	pthread_barrierattr_t attr;
	uint64_t begin = UINT64_MAX, end = 0;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(ready, &attr, (unsigned)workers);
	for (int i = 0; i < workers; i++) {
		s[i] = (struct start){.ready = ready, .bench = b, .work = {.count = count, .id = i}};
		if (b->setup)
			b->setup(&s[i].work);
	}
	for (int i = 0; i < workers; i++) {
		if (!processes && pthread_create(&t[i], NULL, in_thread, &s[i]))
			fail("pthread_create");
		if (processes && fork() == 0) {
			in_thread(&s[i]);
			_exit(0);
		}
	}
	for (int i = 0; i < workers; i++) {
		int status = 0;

		if (!processes)
			pthread_join(t[i], NULL);
		else if (wait(&status) < 0 || status != 0)
			exit(1);
	}
	for (int i = 0; i < workers; i++) {
		begin = s[i].begin < begin ? s[i].begin : begin;
		end = s[i].end > end ? s[i].end : end;
	}
	free(t);
	return end - begin;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	bool processes = argc > 3 && argv[3][0] == 'p';
	int workers = argc > 3 ? atoi(argv[3] + processes) : 1;

	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]) && count > 0 && workers > 0; i++)
		if (strcmp(argv[1], benches[i].name) == 0) {
			uint64_t took = run_all(&benches[i], count, workers, processes);

			printf("%.1f\n", (double)took / (double)count / workers);
			return 0;
		}
	fprintf(stderr, "usage: micro NAME COUNT [THREADS|pPROCESSES]\n");
	return 2;
}
