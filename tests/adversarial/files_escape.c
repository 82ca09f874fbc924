/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes rows 1, 15 to 25 and 30: reaching a denied file by another name, through a swap, a link, a rename, /proc
 * or a descriptor. Each attack must work natively (the positive control), and must not under usher with rules
 * that deny the secrets and allow everything else.
 *
 * An attack returns 0 when it got what is denied, 1 when not, 77 when it is not possible here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "race.h"
#include "tests/e2e/old_calls.h"

#define GOT 0
#define MISSED 1
#define SKIP 77
#define DEEP 25 /* directories with long names: more than PATH_MAX */
#define LONG_NAME                                                                                                      \
	"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"                  \
	"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

static char dir[128];
static bool quick;

/* Whether what FD gives is the secret. Closes FD. */
static bool secret(int fd)
{
	char text[16] = { 0 };

	if (fd < 0)
		return false;
	bool got = read(fd, text, 6) == 6 && memcmp(text, "SECRET", 6) == 0;
	close(fd);
	return got;
}

static int result(bool got)
{
	return got ? GOT : MISSED;
}

static bool reads(const char *path)
{
	return secret(open(path, O_RDONLY | O_NONBLOCK));
}

/* --- swaps --- */

static atomic_bool stop;

struct flip {
	char *at; /* memory flips: one byte of the path */
};

static void *flip_byte(void *arg)
{
	volatile char *at = ((struct flip *)arg)->at;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		*at = 'a';
		*at = 's';
	}
	return NULL;
}

static void *flip_names(void *arg)
{
	(void)arg;
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		syscall(SYS_renameat2, AT_FDCWD, "swap1", AT_FDCWD, "swap2", RENAME_EXCHANGE);
	return NULL;
}

/* Opens PATH over and over while FLIPPER runs; every form of open that takes a path. */
static bool races(const char *path, void *(*flipper)(void *), void *arg)
{
	pthread_t thread;
	double end = race_clock() + race_seconds(quick ? 0.5 : 3);
	struct open_how how = { .flags = O_RDONLY };
	bool got = false;

	atomic_store(&stop, false);
	if (pthread_create(&thread, NULL, flipper, arg) != 0)
		return false;
	for (unsigned i = 0; !got && race_clock() < end; i++) {
		int fd = i % 3 == 0 ? (int)old_open(path, O_RDONLY) :
			 i % 3 == 1 ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY) :
				      (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
		got = secret(fd);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	return got;
}

static int path_in_memory(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/xecret/f", dir);
	struct flip f = { strrchr(path, 'x') };
	return result(races(path, flip_byte, &f));
}

static int swapped_links(void)
{
	if (symlink("public", "swap1") < 0 || symlink("secret", "swap2") < 0)
		return SKIP;
	return result(races("swap1/f", flip_names, NULL));
}

static int swapped_final_link(void)
{
	if (symlink("public/f", "swap1") < 0 || symlink("secret/f", "swap2") < 0)
		return SKIP;
	return result(races("swap1", flip_names, NULL));
}

static int swapped_directory_and_link(void)
{
	if (mkdir("swap1", 0755) < 0 || symlink("secret", "swap2") < 0)
		return SKIP;
	close(open("swap1/f", O_WRONLY | O_CREAT, 0644));
	return result(races("swap1/f", flip_names, NULL) || races("swap1/./f", flip_names, NULL) ||
		      races("swap1/../swap1/f", flip_names, NULL));
}

/* --- names --- */

static int hard_link(void)
{
	return result(link("secret/f", "mine") == 0 && reads("mine"));
}

static int link_by_descriptor(void)
{
	int fd = open("secret/f", O_PATH);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return result((linkat(AT_FDCWD, path, AT_FDCWD, "mine", AT_SYMLINK_FOLLOW) == 0 ||
		       linkat(fd, "", AT_FDCWD, "mine", AT_EMPTY_PATH) == 0) && reads("mine"));
}

static int older_hard_link(void)
{
	return result(reads("alias"));
}

static int rename_out(void)
{
	return result(rename("secret/f", "mine") == 0 && reads("mine"));
}

static int rename_ancestor(void)
{
	return result(rename("secret", "other") == 0 && reads("other/f"));
}

static int exchange_ancestor(void)
{
	return result(syscall(SYS_renameat2, AT_FDCWD, "public", AT_FDCWD, "secret", RENAME_EXCHANGE) == 0 && reads("public/f"));
}

static int rename_grandparent(void)
{
	return result(rename("deep", "flat") == 0 && reads("flat/er/secret"));
}

static int rename_to_remove(void)
{
	return result(rename("box", "crate") == 0 && unlink("crate/kept/f") == 0);
}

static int rename_to_change(void)
{
	return result(rename("box", "crate") == 0 && chmod("crate/kept/f", 0777) == 0);
}

static int dots_and_slashes(void)
{
	return result(reads("public/../secret/f") || reads(".//secret///f") || reads("secret/./f") || reads("secret/../secret/f"));
}

static int link_chain(void)
{
	char target[256];

	snprintf(target, sizeof(target), "%s/l2", dir);
	return result(symlink(target, "l1") == 0 && symlink("secret", "l2") == 0 && reads("l1/f"));
}

static int proc_aliases(void)
{
	char path[256];
	bool got = false;
	static const char *const roots[] = { "/proc/self/root", "/proc/thread-self/root", "/proc/self/task/../root" };

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s/secret/f", roots[i], dir);
		got = got || reads(path);
	}
	snprintf(path, sizeof(path), "/proc/%d/cwd/secret/f", (int)getpid());
	return result(got || reads(path) || reads("/proc/self/cwd/secret/f"));
}

static int chdir_in(void)
{
	return result(chdir("secret") == 0 && reads("f"));
}

static int through_descriptors(void)
{
	char path[64];
	int d = open("secret", O_PATH | O_DIRECTORY), f = open("secret/f", O_PATH);
	bool got = secret(openat(d, "f", O_RDONLY)) || secret(openat(d, "../secret/f", O_RDONLY));

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f);
	got = got || reads(path);
	snprintf(path, sizeof(path), "/dev/fd/%d", f);
	got = got || reads(path);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/f", d);
	return result(got || reads(path) || (fchdir(d) == 0 && reads("f")));
}

/* Tried again for as long as something is renamed or mounted meanwhile: openat2(2). */
static int scoped(const char *path, const struct open_how *how)
{
	int fd;

	do
		fd = (int)syscall(SYS_openat2, AT_FDCWD, path, how, sizeof(*how));
	while (fd < 0 && errno == EAGAIN);
	return fd;
}

static int scoped_opens(void)
{
	struct open_how root = { .flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT };
	struct open_how beneath = { .flags = O_RDONLY, .resolve = RESOLVE_BENEATH };

	return result(secret(scoped("/../secret/f", &root)) || secret(scoped("public/../secret/f", &beneath)));
}

/* --- effects --- */

static bool intact(void)
{
	struct stat st;

	return stat("guarded", &st) == 0 && st.st_size == 6 && (st.st_mode & 0777) == 0644;
}

static int truncates(void)
{
	int fd = open("guarded", O_RDONLY | O_TRUNC);

	close(fd);
	fd = open("guarded", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	close(fd);
	(void)!truncate("guarded", 0);
	(void)!truncate("guarded_link", 0);
	return result(!intact());
}

static int changes_mode(void)
{
	int fd = open("guarded", O_RDONLY);

	(void)!chmod("guarded", 0600);
	(void)!fchmod(fd, 0600);
	return result(!intact());
}

static int replaces(void)
{
	close(open("bait", O_WRONLY | O_CREAT, 0644));
	(void)!rename("bait", "guarded");
	return result(!intact());
}

static int new_forbidden_names(void)
{
	struct stat st;

	mkdir("repo", 0755);
	mkdir("repo/hooks.new", 0755);
	close(open("repo/hooks.new/pre-commit", O_WRONLY | O_CREAT, 0755));
	(void)!rename("repo/hooks.new/pre-commit", "repo/.envrc");
	(void)!link("repo/hooks.new/pre-commit", "repo/.envrc");
	(void)!symlink("hooks.new/pre-commit", "repo/.envrc");
	(void)!mknod("repo/.envrc", S_IFREG | 0644, 0);
	(void)!mkdir("repo/.envrc", 0755);
	close(open("repo/.envrc", O_WRONLY | O_CREAT, 0644));
	(void)!symlink(".envrc", "repo/dangling");
	close(open("repo/dangling", O_WRONLY | O_CREAT, 0644));
	return result(lstat("repo/.envrc", &st) == 0);
}

/* Down the DEEP directories below the one at hand. */
static bool go_down(void)
{
	for (int i = 0; i < DEEP; i++) {
		if (chdir(LONG_NAME) < 0)
			return false;
	}
	return true;
}

static int deeper_than_names(void)
{
	if (chdir("secret") < 0 || !go_down())
		return SKIP;
	int here = open(".", O_PATH | O_DIRECTORY);
	bool got = reads("f") || secret(openat(here, "f", O_RDONLY)) || (link("f", "mine") == 0 && reads("mine"));
	got = got || (rename("f", "moved") == 0 && reads("moved"));
	close(here);
	return result(got);
}

static int no_text(void)
{
	return result(reads("secret/\xff\xfe\x80") || reads("public/../secret//\xff\xfe\x80"));
}

static int looks_deleted(void)
{
	return result(reads("secret/f (deleted)"));
}

static int others_proc(void)
{
	char path[64];
	bool got = false;
	int pid = atoi(getenv("OUTSIDE"));
	static const char *const what[] = { "environ", "maps", "mem", "root/etc/passwd", "cwd", "fd/0", "auxv" };

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, what[i]);
		int fd = open(path, O_RDONLY | O_NONBLOCK);
		got = got || fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return result(got);
}

static int device_node(void)
{
	char text[8];
	if (geteuid() != 0 || mknod("zero", S_IFCHR | 0600, (1 << 8) | 5) < 0)
		return geteuid() != 0 ? SKIP : MISSED;
	int fd = open("zero", O_RDONLY);
	return result(fd >= 0 && read(fd, text, 1) == 1);
}

static const struct {
	const char *name;
	int (*run)(void);
} attacks[] = {
	{ "row 1: the path changes in memory", path_in_memory },
	{ "row 15: directory links swapped", swapped_links },
	{ "row 15: final links swapped", swapped_final_link },
	{ "row 15: a directory swapped for a link", swapped_directory_and_link },
	{ "row 15: dots and slashes", dots_and_slashes },
	{ "row 15: a chain of links", link_chain },
	{ "row 17: /proc aliases of root and cwd", proc_aliases },
	{ "row 18: /proc of a process outside", others_proc },
	{ "row 19: working directory", chdir_in },
	{ "row 19: path descriptors opened again", through_descriptors },
	{ "row 19: a link made from a path descriptor", link_by_descriptor },
	{ "row 20: a hard link", hard_link },
	{ "row 20: a hard link from before", older_hard_link },
	{ "row 21: renamed out", rename_out },
	{ "row 21: its directory renamed", rename_ancestor },
	{ "row 21: its grandparent renamed", rename_grandparent },
	{ "row 21: its grandparent renamed, to remove it", rename_to_remove },
	{ "row 21: its grandparent renamed, to change its mode", rename_to_change },
	{ "row 21: its directory exchanged", exchange_ancestor },
	{ "row 22: names that must not come to be", new_forbidden_names },
	{ "row 23: deeper than PATH_MAX", deeper_than_names },
	{ "row 24: a name that looks deleted", looks_deleted },
	{ "row 25: bytes that are no text", no_text },
	{ "row 29: openat2 within a scope", scoped_opens },
	{ "row 30: truncation", truncates },
	{ "row 33: mode by name and by descriptor", changes_mode },
	{ "row 33: replaced by a rename", replaces },
	{ "a device node of one's own", device_node },
};
#define N (sizeof(attacks) / sizeof(attacks[0]))

/* --- the stage --- */

/* Runs a command on the stage; one that does not fit is not run in part. */
static void shell(const char *before, const char *path)
{
	char command[512];
	int n = snprintf(command, sizeof(command), "%s '%s'", before, path);

	if (n < 0 || (size_t)n >= sizeof(command) || strncmp(path, "/tmp/usher-files.", 17) != 0 || system(command) != 0) {
		fprintf(stderr, "could not: %s %s\n", before, path);
		exit(2);
	}
}

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(name);
		exit(2);
	}
	close(fd);
}

/* A secret further down than any path reaches. */
static void put_deep(void)
{
	if (chdir("secret") < 0)
		exit(2);
	for (int i = 0; i < DEEP; i++) {
		if (mkdir(LONG_NAME, 0755) < 0 || chdir(LONG_NAME) < 0)
			exit(2);
	}
	put("f", "SECRET");
	if (chdir(dir) < 0)
		exit(2);
}

static void stage(const char *rules, uid_t uid)
{
	char owner[48];

	shell("rm -rf", dir);
	if (mkdir(dir, 0755) < 0 || chdir(dir) < 0)
		exit(2);
	mkdir("secret", 0755);
	mkdir("xecret", 0755);
	mkdir("aecret", 0755);
	mkdir("public", 0755);
	mkdir("deep", 0755);
	mkdir("deep/er", 0755);
	mkdir("box", 0755);
	mkdir("box/kept", 0755);
	put("box/kept/f", "public");
	put("secret/f", "SECRET");
	put("secret/f (deleted)", "SECRET");
	put("secret/\xff\xfe\x80", "SECRET");
	put_deep();
	put("aecret/f", "public");
	put("public/f", "public");
	put("pinned", "SECRET");
	put("deep/er/secret", "SECRET");
	put("guarded", "guards");
	(void)!symlink("guarded", "guarded_link");
	(void)!link("pinned", "alias");
	snprintf(owner, sizeof(owner), "chown -R %u", (unsigned)uid);
	shell(owner, dir);
	FILE *f = fopen(rules, "w");
	if (!f)
		exit(2);
	fprintf(f, "deny open %s/secret/**\ndeny open %s/pinned\ndeny open %s/deep/er/secret\ndeny delete,attr %s/box/kept/**\ndeny write %s/guarded\n"
		   "deny write **/.envrc\ndeny open /dev/char/** /dev/block/**\ndefault allow\n", dir, dir, dir, dir, dir);
	fclose(f);
	chmod(rules, 0644);
}

static int run(char *const *argv, uid_t uid)
{
	int status, pid = fork();

	if (pid == 0) {
		if (geteuid() == 0 && uid && (setgid(uid) < 0 || setuid(uid) < 0))
			_exit(99);
		if (chdir(dir) < 0 || setenv("HOME", dir, 1) < 0)
			_exit(99);
		execv(argv[0], argv);
		_exit(99);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

static int outside(uid_t uid)
{
	int pid = fork();

	if (pid != 0)
		return pid;
	if (geteuid() == 0 && uid && (setgid(uid) < 0 || setuid(uid) < 0))
		_exit(1);
	char *argv[] = { (char *)"/bin/sleep", (char *)"1000", NULL };
	execv(argv[0], argv);
	_exit(1);
}

static int try(const char *usher, const char *base, size_t i, uid_t uid)
{
	char number[8], text[16], rules[200], self[200], journal[200];

	snprintf(number, sizeof(number), "%zu", i);
	snprintf(rules, sizeof(rules), "%s/rules", base);
	snprintf(self, sizeof(self), "%s/self", base);
	snprintf(journal, sizeof(journal), "%s/j%u-%zu", base, (unsigned)uid, i);
	int victim = outside(uid);
	snprintf(text, sizeof(text), "%d", victim);
	setenv("OUTSIDE", text, 1);
	stage(rules, uid);
	char *native[] = { self, (char *)"--attack", number, dir, NULL };
	int plain = run(native, uid);
	stage(rules, uid);
	char *guarded[] = { (char *)usher, (char *)"run", (char *)"-p", rules, (char *)"--ask=deny", (char *)"--journal", journal,
			    (char *)"--", self, (char *)"--attack", number, dir, NULL };
	int held = plain == GOT ? run(guarded, uid) : SKIP;
	kill(victim, 9);
	waitpid(victim, NULL, 0);
	const char *who = uid ? "user" : "root";
	if (plain == MISSED || plain == SKIP)
		printf("# left out %s (%s): natively %s\n", attacks[i].name, who, plain == SKIP ? "not possible here" : "it misses");
	else
		printf("%s %s (%s)%s\n", held == MISSED ? "ok" : "not ok", attacks[i].name, who,
		       held == GOT ? ": it got through" : held == MISSED ? "" : ": it could not be run");
	return plain == MISSED || plain == SKIP ? 0 : held != MISSED;
}

static int copy_program(const char *from, const char *to)
{
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n = -1;

	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0) {
		if (write(out, buf, (size_t)n) != n)
			return -1;
	}
	if (n < 0 || fchmod(out, 0755) < 0)
		return -1;
	close(in);
	close(out);
	return 0;
}

int main(int argc, char **argv)
{
	char base[64] = "/tmp/usher-files.XXXXXX", self[96], copy[96];
	const char *usher = getenv("USHER");
	int failed = 0;

	quick = getenv("QUICK") != NULL;
	if (argc == 4 && strcmp(argv[1], "--attack") == 0) {
		snprintf(dir, sizeof(dir), "%s", argv[3]);
		/* What is not denied must be there, or a miss would prove nothing. */
		int fd = open("public/f", O_RDWR);
		if (fd < 0)
			return 98;
		close(fd);
		return attacks[atoi(argv[2])].run();
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!usher || !mkdtemp(base) || chmod(base, 0777) < 0) {
		fprintf(stderr, "USHER is not set, or /tmp cannot be written\n");
		return 77;
	}
	snprintf(dir, sizeof(dir), "%s/work", base);
	snprintf(self, sizeof(self), "%s/self", base);
	snprintf(copy, sizeof(copy), "%s/usher", base);
	if (copy_program("/proc/self/exe", self) < 0 || copy_program(usher, copy) < 0)
		return 2;
	for (size_t i = 0; i < N; i++) {
		failed += try(copy, base, i, geteuid());
		if (geteuid() == 0)
			failed += try(copy, base, i, 1000);
	}
	shell("rm -rf", base);
	return failed ? 1 : 0;
}
