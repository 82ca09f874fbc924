/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Odd names, pointers and flags given to every call that takes a name; prints
 * what each returned. The same natively and under usher. Uses raw system calls:
 * the C library has opinions of its own. Works in the current directory, which must
 * be empty: it refuses any other.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define HERE 9 /* the descriptor of the folder this runs in */

struct name {
	const char *what;
	const char *path;
};

static void report(const char *call, const char *what, long r)
{
	int err = errno;

	if (r >= 0)
		printf("%s %s: %s\n", call, what, r == 0 ? "0" : "ok");
	else
		printf("%s %s: errno %d\n", call, what, err);
	errno = 0;
}

/* A mapping whose last byte is the last readable one: a name that runs into nothing. */
static char *page_end(const char *text, size_t len)
{
	long page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	munmap(p + page, page);
	return memcpy(p + page - len, text, len);
}

static void report_fd(const char *call, const char *what, long fd)
{
	report(call, what, fd);
	if (fd > 2)
		close(fd);
}

static void opens(const struct name *n)
{
	static const struct {
		const char *what;
		int flags;
	} ways[] = {
		{"rdonly", O_RDONLY}, {"wronly", O_WRONLY}, {"rdwr", O_RDWR}, {"mode3", 3},
		{"creat", O_CREAT | O_WRONLY}, {"excl", O_CREAT | O_EXCL | O_RDWR}, {"trunc", O_TRUNC | O_WRONLY},
		{"dir", O_DIRECTORY}, {"creatdir", O_CREAT | O_DIRECTORY}, {"nofollow", O_NOFOLLOW}, {"path", O_PATH},
		{"pathnofollow", O_PATH | O_NOFOLLOW}, {"tmpfile", O_TMPFILE | O_RDWR}, {"tmpfilero", O_TMPFILE},
		{"append", O_APPEND | O_WRONLY}, {"nonblock", O_NONBLOCK}, {"unknown", 0x40000000}, {"noatime", O_NOATIME},
	};
	char what[200];

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		snprintf(what, sizeof(what), "%s %s", ways[i].what, n->what);
		report_fd("openat", what, syscall(SYS_openat, AT_FDCWD, n->path, ways[i].flags, 0640));
		report_fd("openat-badfd", what, syscall(SYS_openat, -7, n->path, ways[i].flags, 0640));
		unlink("new");
		unlink("dangling-target");
	}
#ifdef SYS_open
	report_fd("open", n->what, syscall(SYS_open, n->path, O_RDONLY, 0));
	report_fd("creat", n->what, syscall(SYS_creat, n->path, 0600));
	unlink("new");
	unlink("dangling-target");
#endif
	/* The upper half of an int argument is not looked at. */
	report_fd("openat-high", n->what,
		  syscall(SYS_openat, 0xdeadbeef00000000UL | (uint32_t)AT_FDCWD, n->path, 0x1234567800000000UL | O_RDONLY, 0));
}

/* A scope with ".." in it is EAGAIN when anything is renamed or mounted meanwhile, and is to be tried again: openat2(2). */
static long scoped(const char *path, const struct open_how *how, size_t size)
{
	long fd;

	do
		fd = syscall(SYS_openat2, AT_FDCWD, path, how, size);
	while (fd < 0 && errno == EAGAIN);
	return fd;
}

static void open2(void)
{
	static const struct {
		const char *what;
		struct open_how how;
		size_t size;
	} rows[] = {
		{"plain", {.flags = O_RDONLY}, sizeof(struct open_how)},
		{"small", {.flags = O_RDONLY}, 8},
		{"zero", {.flags = O_RDONLY}, 0},
		{"huge", {.flags = O_RDONLY}, 1 << 20},
		{"badflags", {.flags = 1ULL << 40}, sizeof(struct open_how)},
		{"badmode", {.flags = O_RDONLY, .mode = 0600}, sizeof(struct open_how)},
		{"bigmode", {.flags = O_CREAT | O_RDWR, .mode = 0200000}, sizeof(struct open_how)},
		{"badresolve", {.flags = O_RDONLY, .resolve = 1 << 20}, sizeof(struct open_how)},
		{"beneath", {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH}, sizeof(struct open_how)},
		{"nosymlinks", {.flags = O_RDONLY, .resolve = RESOLVE_NO_SYMLINKS}, sizeof(struct open_how)},
		{"nomagic", {.flags = O_RDONLY, .resolve = RESOLVE_NO_MAGICLINKS}, sizeof(struct open_how)},
		{"inroot", {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT}, sizeof(struct open_how)},
		{"both", {.flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT | RESOLVE_BENEATH}, sizeof(struct open_how)},
	};
	static const char *const paths[] = {"file", "link", "../x", "/etc/passwd", "dir/..", "abs"};
	char what[100];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
			snprintf(what, sizeof(what), "%s %s", rows[i].what, paths[k]);
			report_fd("openat2", what, scoped(paths[k], &rows[i].how, rows[i].size));
		}
	report("openat2", "null how", syscall(SYS_openat2, AT_FDCWD, "file", NULL, sizeof(struct open_how)));
	report("openat2", "bad how", syscall(SYS_openat2, AT_FDCWD, "file", (void *)16, sizeof(struct open_how)));
}

static void changes(const struct name *n)
{
	const char *p = n->path;
	struct timespec past[2] = {{1, 0}, {2, 0}};
	struct timespec bad[2] = {{1, 2000000000}, {2, 0}};
	struct stat st;
	char buf[10];

	report("mkdirat", n->what, syscall(SYS_mkdirat, AT_FDCWD, p, 0750));
	report("unlinkat-dir", n->what, syscall(SYS_unlinkat, AT_FDCWD, p, AT_REMOVEDIR));
	report("unlinkat-flags", n->what, syscall(SYS_unlinkat, AT_FDCWD, p, 0x8000));
	report("mknodat", n->what, syscall(SYS_mknodat, AT_FDCWD, p, S_IFREG | 0600, 0));
	report("mknodat-bad", n->what, syscall(SYS_mknodat, AT_FDCWD, p, S_IFDIR | 0600, 0));
	unlink("new");
	report("symlinkat", n->what, syscall(SYS_symlinkat, "target", AT_FDCWD, p));
	report("symlinkat-of", n->what, syscall(SYS_symlinkat, p, AT_FDCWD, "made"));
	unlink("made");
	report("linkat", n->what, syscall(SYS_linkat, AT_FDCWD, p, AT_FDCWD, "made", 0));
	unlink("made");
	unlink("new");
	report("linkat-to", n->what, syscall(SYS_linkat, AT_FDCWD, "file", AT_FDCWD, p, 0));
	report("linkat-flags", n->what, syscall(SYS_linkat, AT_FDCWD, "file", AT_FDCWD, p, 0x80));
	report("renameat2-flags", n->what, syscall(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, p, 7));
	report("renameat2-noreplace", n->what, syscall(SYS_renameat2, AT_FDCWD, p, AT_FDCWD, "file", 1));
	report("renameat2-exchange", n->what, syscall(SYS_renameat2, AT_FDCWD, p, AT_FDCWD, "nothing", 2));
	report("fchmodat", n->what, syscall(SYS_fchmodat, AT_FDCWD, p, 0700));
	report("fchownat", n->what, syscall(SYS_fchownat, AT_FDCWD, p, -1, -1, 0));
	report("fchownat-flags", n->what, syscall(SYS_fchownat, AT_FDCWD, p, -1, -1, 1));
	report("utimensat", n->what, syscall(SYS_utimensat, AT_FDCWD, p, past, 0));
	report("utimensat-bad", n->what, syscall(SYS_utimensat, AT_FDCWD, p, bad, 0));
	report("utimensat-ptr", n->what, syscall(SYS_utimensat, AT_FDCWD, p, (void *)8, 0));
	report("truncate", n->what, syscall(SYS_truncate, p, 3));
	report("truncate-neg", n->what, syscall(SYS_truncate, p, -3));
	report("setxattr", n->what, syscall(SYS_setxattr, p, "user.k", "v", 1, 0));
	report("setxattr-name", n->what, syscall(SYS_setxattr, p, "nonsense", "v", 1, 0));
	report("setxattr-flags", n->what, syscall(SYS_setxattr, p, "user.k", "v", 1, 99));
	report("removexattr", n->what, syscall(SYS_removexattr, p, "user.none"));
	report("chdir", n->what, syscall(SYS_chdir, p));
	if (fchdir(HERE) < 0)
		exit(2);
	report("faccessat", n->what, syscall(SYS_faccessat, AT_FDCWD, p, R_OK));
	report("newfstatat", n->what, syscall(SYS_newfstatat, AT_FDCWD, p, &st, 0));
	report("readlinkat", n->what, syscall(SYS_readlinkat, AT_FDCWD, p, buf, sizeof(buf)));
	/* Nothing here has an x bit that would let it run. */
	chmod("file", 0600);
	report("execve", n->what, syscall(SYS_execve, p, NULL, NULL));
	report("execveat-flags", n->what, syscall(SYS_execveat, AT_FDCWD, p, NULL, NULL, 0x20));
}

static void restore(void)
{
	int fd;

	if (fchdir(HERE) < 0)
		exit(2);
	unlink("file");
	fd = open("file", O_CREAT | O_TRUNC | O_WRONLY, 0640);
	if (fd < 0 || write(fd, "content\n", 8) != 8)
		exit(2);
	close(fd);
	mkdir("dir", 0755);
	chmod("dir", 0755);
	unlink("link");
	unlink("dangling");
	unlink("loop");
	unlink("abs");
	unlink("new");
	unlink("a\nb");
	unlink("\xff\xfe");
	unlink("fileee");
	unlink("nothing");
	rmdir("nothing");
	rmdir("new");
	if (symlink("file", "link") || symlink("dangling-target", "dangling") || symlink("loop", "loop") || symlink("/etc/hostname", "abs"))
		exit(2);
}

static void connects(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	unsigned char in[128] = {AF_INET, 0, 0, 1, 127, 0, 0, 1};

	strcpy(un.sun_path, "file");
	report("connect", "not a socket", connect(s, (void *)&un, sizeof(un)));
	report("connect", "short", connect(s, (void *)&un, 1));
	report("connect", "zero length", connect(s, (void *)&un, 0));
	report("connect", "negative length", connect(s, (void *)&un, -1));
	report("connect", "too long", connect(s, (void *)&un, 4000));
	report("connect", "bad pointer", connect(s, (void *)24, 16));
	report("connect", "null", connect(s, NULL, 16));
	report("connect", "wrong family", connect(s, (void *)in, 16));
	report("connect", "not a socket fd", connect(HERE, (void *)&un, sizeof(un)));
	report("connect", "no fd", connect(-1, (void *)&un, sizeof(un)));
	report("connect", "no fd 999", connect(999, (void *)&un, sizeof(un)));
	memset(un.sun_path, 'x', sizeof(un.sun_path));
	report("connect", "unterminated", connect(s, (void *)&un, sizeof(un)));
	un.sun_path[0] = 0;
	report("connect", "abstract", connect(s, (void *)&un, sizeof(un)));
	close(s);
	s = socket(AF_INET, SOCK_STREAM, 0);
	report("connect", "inet refused", connect(s, (void *)in, 16));
	report("connect", "inet short", connect(s, (void *)in, 8));
	in[0] = AF_INET6;
	report("connect", "inet6 on inet", connect(s, (void *)in, 28));
	in[0] = 77;
	report("connect", "family 77", connect(s, (void *)in, 16));
	close(s);
}

static int folder_is_empty(void)
{
	DIR *d = opendir(".");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n == 2;
}

static char *repeat(const char *text, int times, const char *end)
{
	char *p = calloc(times + 1, strlen(text) + strlen(end) + 1);

	if (!p)
		exit(2);
	for (int i = 0; i < times; i++)
		strcat(p, text);
	return strcat(p, end);
}

/* An absolute name of LEN bytes in the folder the test is in: it may be made there. */
static char *as_long_as(size_t len, const char *end)
{
	char *p = calloc(len + 2, 1);

	if (!p || !getcwd(p, len - strlen(end)))
		exit(2);
	strcat(p, "/");
	while (strlen(p) + strlen(end) + 2 <= len)
		strcat(p, "./");
	if (strlen(p) + strlen(end) < len)
		strcat(p, "/");
	return strcat(p, end);
}

int main(void)
{
	struct name names[] = {
		{"file", "file"}, {"dir", "dir"}, {"link", "link"}, {"dangling", "dangling"}, {"loop", "loop"}, {"missing", "nothing"},
		{"new", "new"}, {"below file", "file/x"}, {"slash on file", "file/"}, {"slash on dir", "dir/"}, {"slash on missing", "nothing/"},
		{"dot", "."}, {"dotdot", "dir/.."}, {"below missing", "nothing/x"}, {"empty", ""}, {"null", NULL}, {"bad pointer", (char *)16},
		{"kernel pointer", (char *)0xffff888000000000UL}, {"not canonical", (char *)0x8000000000000000UL},
		{"4095 bytes", as_long_as(4095, "nofile")}, {"4096 bytes", repeat("./", 2045, "nofile")}, {"8000 bytes", repeat("dir/..//", 1000, "f")},
		{"255 in a component", repeat("c", 255, "")}, {"256 in a component", repeat("c", 256, "")},
		{"many slashes", "dir////..//./file"}, {"deep", repeat("dir/../", 200, "file")}, {"newline", "a\nb"}, {"not utf-8", "\xff\xfe"},
		{"page end", page_end("file", 5)}, {"unterminated", page_end("fileee", 6)},
		{"proc self exe", "/proc/self/exe"}, {"proc fd", "/proc/self/fd/9"}, {"dev fd", "/dev/fd/9/file"},
		{"proc root", "/proc/self/root/etc/hostname"}, {"proc cwd", "/proc/self/cwd/file"}, {"thread self", "/proc/thread-self/cwd/dir"},
		{"proc missing", "/proc/self/fd/77"},
	};
	int here = open(".", O_RDONLY | O_DIRECTORY);

	if (!folder_is_empty() || dup2(here, HERE) < 0) {
		fprintf(stderr, "odd: start me in an empty folder\n");
		return 2;
	}
	close(here);
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	umask(027);
	alarm(120);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		restore();
		if (strcmp(names[i].what, "proc root") != 0)
			opens(&names[i]);
		restore();
		/* No changes through /proc: they would change what the test stands on. */
		if (names[i].path != NULL && (names[i].path < (char *)4096 || (intptr_t)names[i].path < 0 || names[i].path[0] != '/'))
			changes(&names[i]);
	}
	restore();
	open2();
	connects();
	fflush(stdout);
	return 0;
}
