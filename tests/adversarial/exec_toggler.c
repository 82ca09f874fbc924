/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes row 38: another thread changes the path, or an argument, between the decision and the exec.
 *
 * Two copies of one program, DIR/good and DIR/evil; a rule denies evil. A thread and a process that shares its memory, in turns, flip the path
 * (then: an argument; its pointer; path and argument at once; a variable; then: two symbolic links, while the dynamic loader is asked to
 * run one) while children exec it, from their first and from another thread. Natively both run; under usher evil must never run, whatever
 * else happens. A try is one exec with somebody rewriting what it names from before the call until its end; "rewrites" are all of these
 * together. TRIES= is how often each kind is tried, KIND= which one, alone: the long form.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "race.h"

#define RAN_GOOD 40
#define RAN_EVIL 42
#define EXEC_FAILED 44
#define CONTROL_TRIES 4000
#define NOBODY_EVER 3

struct count {
	int good, evil, failed, killed, other;
	long rewrites;
};

/* In shared memory: who rewrites now. They sleep between two execs, so that the execs come fast. */
struct race {
	atomic_uint turn; /* 0: nobody, 1: the thread, 2: the process */
	atomic_long rewrites;
};

static char *shared; /* what the children exec, or their argument */
static struct race *race;
static atomic_bool stop;
static const char *words[2];

static void turn_to(unsigned who)
{
	atomic_store(&race->turn, who);
	syscall(SYS_futex, &race->turn, FUTEX_WAKE, 2, NULL, NULL, 0);
}

/* For the one whose turn is ME: true before each rewrite, false at the end. */
static bool next_rewrite(unsigned me, unsigned i)
{
	unsigned turn;

	for (volatile int spin = 0; spin < 40 + (int)(i % 1500); spin++)
		;
	while ((turn = atomic_load(&race->turn)) != me && !atomic_load(&stop))
		syscall(SYS_futex, &race->turn, FUTEX_WAIT, turn, NULL, NULL, 0);
	atomic_fetch_add_explicit(&race->rewrites, 1, memory_order_relaxed);
	return !atomic_load(&stop);
}

enum kind { PATH, ARGV, LOADER, ENV, VECTOR, BOTH };
static enum kind kind_of(const char *word)
{
	if (!strcmp(word, "vector") || !strcmp(word, "both"))
		return word[0] == 'v' ? VECTOR : BOTH;
	return !strcmp(word, "path") ? PATH : !strcmp(word, "argv") ? ARGV : !strcmp(word, "env") ? ENV : LOADER;
}

/* The names differ in one byte range of equal length, so that a torn copy is one of the two or nothing. */
static void flip(unsigned i)
{
	memcpy(shared, words[i & 1], strlen(words[0]) + 1);
}

/* The argument's pointer in a vector that all share; what it points to stays. */
static char **vector;

static void flip_vector(unsigned i)
{
	__atomic_store_n(&vector[1], (char *)words[i & 1], __ATOMIC_RELAXED);
}

/* Path and argument: the path is evil only with the innocent argument, so that each alone is denied. */
static void flip_both(unsigned i)
{
	char *path = shared + 1024;

	memcpy(path + strlen(path) - 4, i & 1 ? "evil" : "good", 4);
	memcpy(shared, words[i >> 1 & 1], strlen(words[0]) + 1);
}

static void flip_links(unsigned i)
{
	(void)i;
	renameat2(AT_FDCWD, words[0], AT_FDCWD, words[1], RENAME_EXCHANGE);
}

static void (*flipper(enum kind kind))(unsigned)
{
	return kind == LOADER ? flip_links : kind == VECTOR ? flip_vector : kind == BOTH ? flip_both : flip;
}

static void flip_on(unsigned me, enum kind kind)
{
	void (*rewrite)(unsigned) = flipper(kind);

	for (unsigned i = 0; next_rewrite(me, i); i++)
		rewrite(i);
}

static void *flip_thread(void *arg)
{
	flip_on(1, *(enum kind *)arg);
	return NULL;
}

/* A process that shares the memory. */
static int flip_beside(void *arg)
{
	flip_on(2, *(enum kind *)arg);
	return 0;
}

static void exec_child(enum kind kind, const char *dir)
{
	static const char *const loaders[] = { "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1" };
	char good[512];
	char *argv[] = { "x", kind == PATH ? "ok" : shared, NULL };

	snprintf(good, sizeof(good), "%s/good", dir);
	turn_to(1 + ((unsigned)getpid() & 1));
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
	pthread_t t;

	memset(c, 0, sizeof(*c));
	atomic_store(&stop, false);
	pthread_create(&t, NULL, flip_thread, &kind);
	pid_t beside = clone(flip_beside, stack + sizeof(stack) - 64, CLONE_VM | SIGCHLD, &kind);
	for (int i = 0; race_on(i, tries); i++) {
		int status;
		pid_t pid = spawn(kind, dir, i);

		bool ended = pid > 0 && waitpid(pid, &status, 0) == pid;
		turn_to(0);
		if (!ended)
			continue;
		int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		c->killed += WIFSIGNALED(status);
		c->good += code == RAN_GOOD;
		c->evil += code == RAN_EVIL;
		c->failed += code == EXEC_FAILED;
		c->other += WIFEXITED(status) && code != RAN_GOOD && code != RAN_EVIL && code != EXEC_FAILED;
	}
	c->rewrites = atomic_load(&race->rewrites);
	atomic_store(&stop, true);
	turn_to(NOBODY_EVER); /* not what they may be about to wait on */
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
	race = (struct race *)(void *)(shared + 3072);
	vector[0] = (char *)"x";
	vector[1] = (char *)words[0];
	attack(kind, dir, tries, &c);
	printf("%d %d %d %d %d %ld\n", c.good, c.evil, c.failed, c.killed, c.other, c.rewrites);
	return 0;
}

#ifdef __x86_64__
/* Ends with 40; or with 42 when its first argument, or the second string of its environment, begins with "evil" in either case. */
static const unsigned char ends[] =
	"\xbf\x28\x00\x00\x00"     /*       mov edi, 40 (the byte at 1 tells good from evil) */
	"\x48\x8b\x5c\x24\x10"     /*       mov rbx, [rsp+16] */
	"\xe8\x15\x00\x00\x00"     /*       call look */
	"\x48\x8b\x04\x24"         /*       mov rax, [rsp] */
	"\x48\x8b\x5c\xc4\x18"     /*       mov rbx, [rsp+rax*8+24] */
	"\xe8\x07\x00\x00\x00"     /*       call look */
	"\xb8\x3c\x00\x00\x00"     /*       mov eax, 60 */
	"\x0f\x05"                 /*       syscall */
	"\x48\x85\xdb\x74\x13"     /* look: test rbx, rbx; jz out */
	"\x8b\x03"                 /*       mov eax, [rbx] */
	"\x0d\x20\x20\x20\x20"     /*       or eax, 0x20202020 */
	"\x3d\x65\x76\x69\x6c"     /*       cmp eax, "evil" */
	"\x75\x05"                 /*       jne out */
	"\xbf\x2a\x00\x00\x00\xc3"; /*       mov edi, 42; out: ret */

/* As small as a program can be: the kernel is soon back for the next try. */
static int write_program(const char *path, unsigned char code)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph;
		unsigned char text[sizeof(ends)];
	} f = {
		.eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_EXEC, .e_machine = EM_X86_64,
			.e_version = EV_CURRENT, .e_entry = 0x400000 + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), .e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1 },
		.ph = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000, .p_filesz = sizeof(f), .p_memsz = sizeof(f), .p_align = 4096 },
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	memcpy(f.text, ends, sizeof(ends));
	f.text[1] = code;
	ssize_t n = fd < 0 ? -1 : write(fd, &f, sizeof(f));
	close(fd);
	return n == (ssize_t)sizeof(f) ? 0 : -1;
}
#define SMALL 1
#else
static int write_program(const char *path, unsigned char code)
{
	(void)path;
	(void)code;
	return -1;
}
#define SMALL 0
#endif

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
	int got = f ? fscanf(f, "%d %d %d %d %d %ld", &c->good, &c->evil, &c->failed, &c->killed, &c->other, &c->rewrites) : 0;
	int status = f ? pclose(f) : -1;
	/* A loader that cannot open its program says so with 127. */
	if (kind_of(kind) == LOADER) {
		c->failed += c->other;
		c->other = 0;
	}
	return got == 6 && status == 0 ? 0 : -1;
}

static int say(const char *kind, const char *what, bool ok, const struct count *c)
{
	printf("%s %s %s: good %d evil %d failed %d killed %d other %d, %ld rewrites\n", ok ? "ok" : "not ok", kind, what, c->good,
	       c->evil, c->failed, c->killed, c->other, c->rewrites);
	return ok ? 0 : 1;
}

static int probe(const char *kind, const char *usher, const char *dir, int tries)
{
	char prefix[1024];
	struct count c = { 0 };
	int bad = 0;

	int err = run("", kind, dir, tries < CONTROL_TRIES ? tries : CONTROL_TRIES, &c);
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

/* The dynamic loader is shown programs that it can load: copies of this one. */
static int make_programs(const char *self, const char *dir, bool small)
{
	char good[600], evil[600];

	snprintf(good, sizeof(good), "%s/good", dir);
	snprintf(evil, sizeof(evil), "%s/evil", dir);
	unlink(good);
	unlink(evil);
	return small ? write_program(good, RAN_GOOD) | write_program(evil, RAN_EVIL) : copy(self, good) | copy(self, evil);
}

static int probe_all(const char *usher, const char *self, const char *only, int tries)
{
	char dir[] = "/tmp/usher-toggler-XXXXXX", file[800], both[900], links[800];

	if (!mkdtemp(dir))
		return 1;
	chmod(dir, 0755);
	snprintf(file, sizeof(file), "deny exec %s/evil", dir);
	snprintf(both, sizeof(both), "%s\ndeny exec ** argv=\"evil\"", file);
	snprintf(links, sizeof(links), "ln -s good %s/link-1 && ln -s evil %s/link-2", dir, dir);
	const struct {
		const char *kind, *rule;
	} probes[] = { { "path", file }, { "argv", "deny exec ** argv=\"evil\"" }, { "vector", "deny exec ** argv=\"evil\"" },
		       { "both", both }, { "env", "deny exec ** env=EVIL" }, { "loader", file } };
	int bad = system(links);
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		if (only && strcmp(only, probes[i].kind) != 0)
			continue;
		bad |= make_programs(self, dir, SMALL && kind_of(probes[i].kind) != LOADER);
		rules(dir, probes[i].kind, probes[i].rule);
		bad |= probe(probes[i].kind, usher, dir, tries);
	}
	snprintf(file, sizeof(file), "rm -rf %s", dir);
	return system(file) < 0 || bad ? 1 : 0;
}

int main(int argc, char **argv)
{
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
	return probe_all(usher, self, getenv("KIND"), getenv("TRIES") ? atoi(getenv("TRIES")) : getenv("QUICK") ? 150 : 4000);
}
