/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows 4, 5, 7 to 9, 16, 23, 36 and 44: callers that are not what they seem: without a leader, with tables of their own,
 * with descriptors that change under the call. Each reads a denied file natively, and must not under usher.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "probe.h"
#include "race.h"

#define INHERITED 9
#define DEEP 24

static int secret(int fd)
{
	char text[8] = { 0 };
	bool got = fd >= 0 && read(fd, text, 6) == 6 && memcmp(text, "SECRET", 6) == 0;

	if (fd >= 0)
		close(fd);
	return got ? WORKED : REFUSED;
}

/* The name ends with its page; behind it is nothing. */
static int page_end(void)
{
	static const char name[] = "secret/f";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || munmap(at + page, page) < 0)
		return IMPOSSIBLE;
	memcpy(at + page - sizeof(name), name, sizeof(name));
	return secret(open(at + page - sizeof(name), O_RDONLY));
}

static int undumpable(void)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return IMPOSSIBLE;
	return secret(open("secret/f", O_RDONLY));
}

static void *orphaned_thread(void *arg)
{
	(void)arg;
	usleep(50000);
	_exit(secret(open("secret/f", O_RDONLY)));
}

static int leader_gone(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, orphaned_thread, NULL) != 0)
		return IMPOSSIBLE;
	pthread_exit(NULL);
}

static void *thread_elsewhere(void *arg)
{
	int *result = arg;

	*result = unshare(CLONE_FS) < 0 || chdir("secret") < 0 ? IMPOSSIBLE : secret(open("f", O_RDONLY));
	return NULL;
}

static void *thread_own_table(void *arg)
{
	int *result = arg;
	int fd = open("secret", O_PATH | O_DIRECTORY);

	*result = fd < 0 || unshare(CLONE_FILES) < 0 || dup2(fd, 100) < 0 ? IMPOSSIBLE : secret(openat(100, "f", O_RDONLY));
	return NULL;
}

static int in_thread(void *(*body)(void *))
{
	int result = IMPOSSIBLE;
	pthread_t t;

	if (pthread_create(&t, NULL, body, &result) == 0)
		pthread_join(t, NULL);
	return result;
}

static int own_directory(void)
{
	return in_thread(thread_elsewhere);
}

/* In the leader's table 100 is the directory that may be read. */
static int own_table(void)
{
	int fd = open("public", O_PATH | O_DIRECTORY);

	return fd < 0 || dup2(fd, 100) < 0 ? IMPOSSIBLE : in_thread(thread_own_table);
}

struct swap {
	int good, bad;
	atomic_bool stop;
};

static void *swap_descriptor(void *arg)
{
	struct swap *s = arg;

	while (!atomic_load(&s->stop)) {
		dup2(s->bad, 100);
		dup2(s->good, 100);
	}
	return NULL;
}

static void *swap_directory(void *arg)
{
	struct swap *s = arg;

	while (!atomic_load(&s->stop)) {
		if (fchdir(s->bad) < 0 || fchdir(s->good) < 0)
			break;
	}
	return NULL;
}

static int race(void *(*swapper)(void *), int at)
{
	struct swap s = { .good = open("public", O_PATH | O_DIRECTORY), .bad = open("secret", O_PATH | O_DIRECTORY) };
	double end = race_clock() + race_seconds(getenv("QUICK") ? 0.3 : 2);
	int result = REFUSED;
	pthread_t t;

	if (s.good < 0 || s.bad < 0 || dup2(s.good, 100) < 0 || fchdir(s.good) < 0 || pthread_create(&t, NULL, swapper, &s) != 0)
		return IMPOSSIBLE;
	while (result == REFUSED && race_clock() < end)
		result = secret(openat(at, "f", O_RDONLY));
	atomic_store(&s.stop, true);
	pthread_join(t, NULL);
	return result;
}

static int descriptor_swapped(void)
{
	return race(swap_descriptor, 100);
}

static int directory_swapped(void)
{
	return race(swap_directory, AT_FDCWD);
}

static int thread_self(void)
{
	return chdir("secret") < 0 ? IMPOSSIBLE : secret(open("/proc/thread-self/cwd/f", O_RDONLY));
}

static int dev_fd(void)
{
	char name[32];
	int fd = open("secret", O_PATH | O_DIRECTORY);

	snprintf(name, sizeof(name), "/dev/fd/%d/f", fd);
	return fd < 0 ? IMPOSSIBLE : secret(open(name, O_RDONLY));
}

static void long_name(char name[201])
{
	memset(name, 'd', 200);
	name[200] = '\0';
}

/* Further down than a name can say. */
static int deeper(void)
{
	char name[201];

	long_name(name);
	if (chdir("secret") < 0)
		return IMPOSSIBLE;
	for (int i = 0; i < DEEP; i++) {
		if (chdir(name) < 0)
			return IMPOSSIBLE;
	}
	return secret(open("f", O_RDONLY));
}

static int inherited(void)
{
	char text[8] = { 0 };

	/* At its beginning, wherever the run before has left it. */
	return pread(INHERITED, text, 6, 0) == 6 && memcmp(text, "SECRET", 6) == 0 ? WORKED : REFUSED;
}

static int setuid_program(void)
{
	int status, pid = fork();

	if (getuid() == 0)
		return IMPOSSIBLE;
	if (pid == 0) {
		execl("../setuid", "setuid", "--euid", NULL);
		_exit(REFUSED);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : REFUSED;
}

static const struct attack attacks[] = {
	{ "row 4: a name that ends with its page", page_end, false },
	{ "row 5: a caller that cannot be dumped", undumpable, false },
	{ "row 7: a thread whose leader has gone", leader_gone, false },
	{ "row 8: a thread with a directory of its own", own_directory, false },
	{ "row 8: a thread with a descriptor table of its own", own_table, false },
	{ "row 9: a sibling swaps the directory descriptor", descriptor_swapped, false },
	{ "row 9: a sibling swaps the working directory", directory_swapped, false },
	{ "row 16: /proc/thread-self/cwd", thread_self, false },
	{ "row 16: /dev/fd of a directory", dev_fd, false },
	{ "row 23: deeper than a name can be", deeper, false },
	{ "row 36: an inherited descriptor", inherited, false },
	{ "row 44: a setuid program", setuid_program, false },
};

#define N (sizeof(attacks) / sizeof(attacks[0]))

static int put(const char *text)
{
	int fd = open("f", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int rc = fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

static int go_down(const char *name)
{
	return mkdir(name, 0755) < 0 && errno != EEXIST ? -1 : chdir(name);
}

static int set(struct stage *s)
{
	char name[201], program[96];

	long_name(name);
	snprintf(program, sizeof(program), "%s/setuid", s->dir);
	if (probe_copy("/proc/self/exe", program, 0755) < 0 || (geteuid() == 0 && chmod(program, 04755) < 0))
		return -1;
	FILE *f = fopen(s->rules, "w");
	if (!f || fprintf(f, "deny open %s/secret/**\ndefault allow\n", s->work) < 0 || fclose(f) != 0)
		return -1;
	if (chdir(s->work) < 0 || go_down("public") < 0 || put("public") < 0 || chdir(s->work) < 0 || go_down("secret") < 0 || put("SECRET") < 0)
		return -1;
	int fd = open("f", O_RDONLY);
	if (fd < 0 || dup2(fd, INHERITED) < 0)
		return -1;
	close(fd);
	for (int i = 0; i < DEEP; i++) {
		if (go_down(name) < 0)
			return -1;
	}
	return put("SECRET") < 0 ? -1 : chdir("/");
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc == 2 && strcmp(argv[1], "--euid") == 0)
		return geteuid() == 0 ? WORKED : REFUSED;
	if (argc == 3 && strcmp(argv[1], "--attack") == 0)
		return attacks[atoi(argv[2])].run();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int round = 0; round < 2; round++) {
		struct stage stage = { .uid = 0 };
		if (round == 1 && geteuid() != 0)
			break;
		if (probe_stage(&stage, round == 1 || geteuid() != 0 ? PROBE_UID : 0) < 0 || set(&stage) < 0) {
			printf("not ok stage: %s\n", strerror(errno));
			return 1;
		}
		for (unsigned i = 0; i < N; i++)
			failed += probe_one(&stage, &attacks[i], i);
		probe_clean(&stage);
	}
	return failed ? 1 : 0;
}
