/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes row 38: another thread changes the path, or an argument, between the decision and the exec.
 *
 * Two copies of this program, DIR/good and DIR/evil; a rule denies evil. A thread and a process that shares its memory flip the path (then: an
 * argument; its pointer; path and argument at once; a variable; then: two symbolic links, while the dynamic loader is asked to run one)
 * while children exec it, from their first and from another thread. Natively both run; under usher evil must never run, whatever else
 * happens. TRIES= is how often each is tried.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "race.h"

#define RAN_GOOD 40
#define RAN_EVIL 42
#define EXEC_FAILED 44

struct count {
	int good, evil, failed, killed, other;
};

static char *shared; /* what the children exec, or their argument */
static atomic_bool stop;
static const char *words[2];

enum kind { PATH, ARGV, LOADER, ENV, VECTOR, BOTH };
static enum kind kind_of(const char *word)
{
	if (!strcmp(word, "vector") || !strcmp(word, "both"))
		return word[0] == 'v' ? VECTOR : BOTH;
	return !strcmp(word, "path") ? PATH : !strcmp(word, "argv") ? ARGV : !strcmp(word, "env") ? ENV : LOADER;
}

/* The names differ in one byte range of equal length, so that a torn copy is one of the two or nothing. */
static void *flip(void *arg)
{
	size_t n = strlen(words[0]) + 1;

	for (unsigned i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++) {
		memcpy(shared, words[i & 1], n);
		for (volatile int spin = 0; spin < 40 + (int)(i % 1500); spin++)
			;
	}
	return NULL;
}

/* The argument's pointer in a vector that all share; what it points to stays. */
static char **vector;

static void *flip_vector(void *arg)
{
	for (unsigned i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++) {
		__atomic_store_n(&vector[1], (char *)words[i & 1], __ATOMIC_RELAXED);
		for (volatile int spin = 0; spin < 40 + (int)(i % 1500); spin++)
			;
	}
	return NULL;
}

/* Path and argument: the path is evil only with the innocent argument, so that each alone is denied. */
static void *flip_both(void *arg)
{
	char *path = shared + 1024;
	size_t n = strlen(path) + 1;

	for (unsigned i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++) {
		memcpy(path + n - 5, i & 1 ? "evil" : "good", 4);
		memcpy(shared, words[i >> 1 & 1], strlen(words[0]) + 1);
		for (volatile int spin = 0; spin < 40 + (int)(i % 1500); spin++)
			;
	}
	return NULL;
}

static void *flip_links(void *arg)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		renameat2(AT_FDCWD, words[0], AT_FDCWD, words[1], RENAME_EXCHANGE);
	return NULL;
}

static void *(*flipper(enum kind kind))(void *)
{
	return kind == LOADER ? flip_links : kind == VECTOR ? flip_vector : kind == BOTH ? flip_both : flip;
}

/* A process that shares the memory. */
static int flip_beside(void *arg)
{
	(*(void *(**)(void *))arg)(NULL);
	return 0;
}

static void exec_child(enum kind kind, const char *dir)
{
	static const char *const loaders[] = { "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1" };
	char good[512];
	char *argv[] = { "x", kind == PATH ? "ok" : shared, NULL };

	snprintf(good, sizeof(good), "%s/good", dir);
	if (kind == ENV) {
		char *env[] = { "A=1", shared, "B=2", NULL };
		argv[1] = "ok";
		execve(good, argv, env);
	} else if (kind == LOADER) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* it complains of every refusal */
		argv[1] = (char *)words[0];
		execv(loaders[0], argv);
		execv(loaders[1], argv);
	} else if (kind == VECTOR) {
		execv(good, vector);
	} else {
		execv(kind == PATH ? shared : kind == BOTH ? shared + 1024 : good, argv);
	}
	_exit(EXEC_FAILED);
}

struct second {
	enum kind kind;
	const char *dir;
};

static void *exec_second(void *arg)
{
	const struct second *s = arg;

	exec_child(s->kind, s->dir);
	return NULL;
}

/* A child that shares memory with the flipping thread, as posix_spawn makes them (vfork), or a copy of it. */
static pid_t spawn(enum kind kind, const char *dir, int i)
{
	struct second second = { kind, dir };
	pid_t pid = i & 1 ? vfork() : fork();
	pthread_t t;

	if (!pid && i % 4 == 2 && pthread_create(&t, NULL, exec_second, &second) == 0)
		pthread_join(t, NULL);
	if (!pid)
		exec_child(kind, dir);
	return pid;
}

static void attack(enum kind kind, const char *dir, int tries, struct count *c)
{
	static char stack[65536];
	void *(*flips)(void *) = flipper(kind);
	pthread_t t;

	memset(c, 0, sizeof(*c));
	atomic_store(&stop, false);
	pthread_create(&t, NULL, flips, NULL);
	pid_t beside = clone(flip_beside, stack + sizeof(stack) - 64, CLONE_VM | SIGCHLD, &flips);
	for (int i = 0; race_on(i, tries); i++) {
		int status;
		pid_t pid = spawn(kind, dir, i);

		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			continue;
		int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		c->killed += WIFSIGNALED(status);
		c->good += code == RAN_GOOD;
		c->evil += code == RAN_EVIL;
		c->failed += code == EXEC_FAILED;
		c->other += WIFEXITED(status) && code != RAN_GOOD && code != RAN_EVIL && code != EXEC_FAILED;
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	if (beside > 0)
		waitpid(beside, NULL, 0);
}

/* Runs as the watched program. */
static int attacker(const char *word, const char *dir, int tries)
{
	enum kind kind = kind_of(word);
	char good[512], evil[512], one[512], two[512];
	struct count c;

	snprintf(good, sizeof(good), "%s/good", dir);
	snprintf(evil, sizeof(evil), "%s/evil", dir);
	snprintf(one, sizeof(one), "%s/link-1", dir);
	snprintf(two, sizeof(two), "%s/link-2", dir);
	bool argument = kind == ARGV || kind == VECTOR || kind == BOTH;
	words[0] = kind == PATH ? good : argument ? "fair" : kind == ENV ? "FAIR=x" : one;
	words[1] = kind == PATH ? evil : argument ? "evil" : kind == ENV ? "EVIL=x" : two;
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memcpy(shared, words[0], strlen(words[0]) + 1);
	memcpy(shared + 1024, good, strlen(good) + 1);
	vector = (char **)(void *)(shared + 2048);
	vector[0] = (char *)"x";
	vector[1] = (char *)words[0];
	attack(kind, dir, tries, &c);
	printf("%d %d %d %d %d\n", c.good, c.evil, c.failed, c.killed, c.other);
	return 0;
}

static int copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	struct stat st;

	if (in < 0 || out < 0 || fstat(in, &st) < 0)
		return -1;
	ssize_t n = sendfile(out, in, NULL, (size_t)st.st_size);
	close(in);
	close(out);
	return n == st.st_size ? 0 : -1;
}

/* Runs this program as the attacker, behind PREFIX (usher, or nothing). */
static int run(const char *prefix, const char *kind, const char *dir, int tries, struct count *c)
{
	char line[2048], self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return -1;
	self[n] = '\0';
	snprintf(line, sizeof(line), "%s %s attack %s %s %d", prefix, self, kind, dir, tries);
	FILE *f = popen(line, "r");
	int got = f ? fscanf(f, "%d %d %d %d %d", &c->good, &c->evil, &c->failed, &c->killed, &c->other) : 0;
	int status = f ? pclose(f) : -1;
	/* A loader that cannot open its program says so with 127. */
	if (kind_of(kind) == LOADER) {
		c->failed += c->other;
		c->other = 0;
	}
	return got == 5 && status == 0 ? 0 : -1;
}

static int say(const char *kind, const char *what, bool ok, const struct count *c)
{
	printf("%s %s %s: good %d evil %d failed %d killed %d other %d\n", ok ? "ok" : "not ok", kind, what, c->good, c->evil,
	       c->failed, c->killed, c->other);
	return ok ? 0 : 1;
}

static int probe(const char *kind, const char *usher, const char *dir, int tries)
{
	char prefix[1024];
	struct count c = { 0 };
	int bad = 0;

	int err = run("", kind, dir, tries, &c);
	bad |= say(kind, "control", !err && c.evil > 0 && c.good > 0, &c);
	snprintf(prefix, sizeof(prefix), "%s run -p %s/%s.rules --journal %s/%s.journal --ask=deny --", usher, dir, kind, dir, kind);
	memset(&c, 0, sizeof(c));
	err = run(prefix, kind, dir, tries, &c);
	bad |= say(kind, "supervised", !err && c.evil == 0 && c.good > 0 && c.other == 0, &c);
	return bad;
}

static void rules(const char *dir, const char *kind, const char *deny)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s.rules", dir, kind);
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%s\ndefault allow\n", deny);
	fclose(f);
	chmod(path, 0600);
}

/* Which copy this is, by the file it is mapped from: under the dynamic loader /proc/self/exe is the loader. */
static bool mapped_from(const char *leaf)
{
	char line[1024];
	bool found = false;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		const char *slash = strrchr(line, '/');
		found = slash && !strcmp(slash + 1, leaf) && strstr(line, "usher-toggler-");
	}
	if (f)
		fclose(f);
	return found;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/usher-toggler-XXXXXX", path[800], deny[700];
	const char *usher = getenv("USHER");
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n < 0 ? 0 : n] = '\0';
	if (mapped_from("evil"))
		return RAN_EVIL;
	if (mapped_from("good"))
		return (argc > 1 && !strcmp(argv[1], "evil")) || getenv("EVIL") ? RAN_EVIL : RAN_GOOD;
	if (argc > 4)
		return attacker(argv[2], argv[3], atoi(argv[4]));
	if (!usher || access(usher, X_OK) < 0) {
		printf("skip exec_toggler: USHER is not set\n");
		return 77;
	}
	int tries = getenv("TRIES") ? atoi(getenv("TRIES")) : getenv("QUICK") ? 400 : 4000;
	if (!mkdtemp(dir))
		return 1;
	chmod(dir, 0755);
	snprintf(path, sizeof(path), "%s/good", dir);
	int bad = copy(self, path);
	snprintf(path, sizeof(path), "%s/evil", dir);
	bad |= copy(self, path);
	snprintf(deny, sizeof(deny), "deny exec %s/evil", dir);
	rules(dir, "path", deny);
	rules(dir, "argv", "deny exec ** argv=\"evil\"");
	bad |= probe("path", usher, dir, tries);
	bad |= probe("argv", usher, dir, tries);
	rules(dir, "vector", "deny exec ** argv=\"evil\"");
	bad |= probe("vector", usher, dir, tries);
	snprintf(path, sizeof(path), "%s\ndeny exec ** argv=\"evil\"", deny);
	rules(dir, "both", path);
	bad |= probe("both", usher, dir, tries);
	rules(dir, "env", "deny exec ** env=EVIL");
	bad |= probe("env", usher, dir, tries);
	snprintf(path, sizeof(path), "ln -s good %s/link-1 && ln -s evil %s/link-2", dir, dir);
	bad |= system(path);
	rules(dir, "loader", deny);
	bad |= probe("loader", usher, dir, tries);
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	if (system(path) < 0)
		bad = 1;
	return bad ? 1 : 0;
}
