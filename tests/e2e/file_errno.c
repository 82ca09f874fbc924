/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the file calls with a matrix of good and bad arguments and prints what each returned and left behind. Run
 * natively and under `usher run` with a policy that allows everything, the output must be the same.
 *
 * usage: file_errno DIRECTORY     an empty directory to work in
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/old_calls.h"

static char long_path[5000];  /* 4,999 bytes, valid components */
static char long_name[300];   /* a component of 299 bytes */
static char *edge;            /* "f" and its NUL end at a page that is followed by none */
static char *unended;         /* no NUL before the page that is not there */

struct name {
	const char *label;
	const char *path;
};

static char lines[100][600]; /* what list() found */
static size_t n_lines;
static struct name names[48];
static size_t n_names;
static bool touched = true; /* since fresh(): a call that fails leaves all as it was, and where it does not, what follows tells */

static void add(const char *label, const char *path)
{
	names[n_names++] = (struct name){ label, path };
}

static void say(const char *call, const char *label, long rc)
{
	touched = touched || rc >= 0;
	if (rc < 0)
		printf("%s %s: %s\n", call, label, strerrorname_np(errno));
	else
		printf("%s %s: %s\n", call, label, rc == 0 ? "0" : "positive");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
		exit(2);
	close(fd);
}

static void fresh(void)
{
	static const char *const dirs[] = { "closed", "d", "d/e", "empty", "newname" };

	if (!touched)
		return;
	touched = false;
	/* By its absolute name: without the right to search it, "." cannot be named. */
	if (chmod(getenv("WORK"), 0755) < 0 && errno != EPERM)
		exit(2);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		(void)chmod(dirs[i], 0700);
	(void)nftw(".", remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (mkdir("d", 0755) < 0 || mkdir("d/e", 0755) < 0 || mkdir("empty", 0755) < 0 || mkdir("closed", 0) < 0 ||
	    symlink("f", "lf") < 0 || symlink("d", "ld") < 0 || symlink("nowhere", "dangling") < 0 ||
	    symlink("loop", "loop") < 0 || symlink(".", "here") < 0 || mkfifo("p", 0644) < 0)
		exit(2);
	put("f", "content\n", 0644);
	put("d/g", "x\n", 0644);
	put("noperm", "y\n", 0);
	put("x (deleted)", "", 0644);
	if (link("f", "hard") < 0)
		exit(2);
}

static void make_names(void)
{
	memset(long_path, 'a', sizeof(long_path) - 1);
	for (size_t i = 0; i < sizeof(long_path) - 1; i += 100)
		long_path[i] = '/';
	memset(long_name, 'b', sizeof(long_name) - 1);
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(pages + 4096, 4096);
	edge = pages + 4094;
	memcpy(edge, "f", 2);
	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages + 4096, 4096, PROT_NONE);
	unended = pages + 4090;
	memset(unended, 'q', 6);

	add("null", NULL);
	add("bad-pointer", (const char *)8);
	add("unended", unended);
	add("empty", "");
	add("edge", edge);
	add("too-long", long_path);
	add("long-name", long_name);
	add("file", "f");
	add("file-slash", "f/");
	add("file-dot", "f/.");
	add("below-file", "f/x");
	add("dir", "d");
	add("dir-slash", "d/");
	add("dot", ".");
	add("dotdot", "d/..");
	add("dotdot-slash", "d/../");
	add("root", "/");
	add("double", "d//./e");
	add("up", "d/../f");
	add("missing", "nx");
	add("missing-slash", "nx/");
	add("missing-dir", "nx/y");
	add("missing-up", "nx/../f");
	add("link", "lf");
	add("link-slash", "lf/");
	add("link-dir", "ld");
	add("link-dir-slash", "ld/");
	add("through-link", "ld/g");
	add("through-link-missing", "ld/new");
	add("dangling", "dangling");
	add("dangling-slash", "dangling/");
	add("loop", "loop");
	add("below-loop", "loop/x");
	add("closed", "closed");
	add("below-closed", "closed/x");
	add("noperm", "noperm");
	add("hard", "hard");
	add("deleted-like", "x (deleted)");
	add("here", "here/here/f");
	add("proc-self", "/proc/self/status");
	add("proc-self-root", "/proc/self/root/etc/hostname");
	add("proc-missing", "/proc/self/nothing");
	add("dev-null", "/dev/null");
	add("fifo-nonblock", "p");
}

struct open_case {
	const char *label;
	int flags;
	mode_t mode;
};

static const struct open_case opens[] = {
	{ "r", O_RDONLY | O_NONBLOCK, 0 },
	{ "w", O_WRONLY | O_NONBLOCK, 0 },
	{ "rw", O_RDWR | O_NONBLOCK, 0 },
	{ "mode3", O_ACCMODE | O_NONBLOCK, 0 },
	{ "creat", O_WRONLY | O_CREAT | O_NONBLOCK, 0644 },
	{ "creat-excl", O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK, 0600 },
	{ "creat-ro", O_RDONLY | O_CREAT | O_NONBLOCK, 0400 },
	{ "trunc", O_WRONLY | O_TRUNC | O_NONBLOCK, 0 },
	{ "dir", O_RDONLY | O_DIRECTORY, 0 },
	{ "nofollow", O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0 },
	{ "creat-nofollow", O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644 },
	{ "tmpfile", O_TMPFILE | O_RDWR, 0600 },
	{ "tmpfile-ro", O_TMPFILE | O_RDONLY, 0600 },
	{ "path", O_PATH, 0 },
	{ "path-nofollow", O_PATH | O_NOFOLLOW, 0 },
	{ "creat-dir", O_CREAT | O_DIRECTORY | O_RDONLY, 0700 },
	{ "append", O_WRONLY | O_APPEND | O_NONBLOCK, 0 },
	{ "unknown", (int)0x40000000 | O_RDONLY | O_NONBLOCK, 0 },
};

static void try_open(const struct name *n, const struct open_case *o)
{
	char label[128];
	struct stat st;

	fresh();
	long fd = syscall(SYS_openat, AT_FDCWD, n->path, o->flags, o->mode);
	snprintf(label, sizeof(label), "%s %s", o->label, n->label);
	say("openat", label, fd);
	if (fd < 0)
		return;
	if (fstat((int)fd, &st) == 0)
		printf("\tfd %ld flags %x mode %o size %ld\n", fd, (unsigned)fcntl((int)fd, F_GETFL),
		       (unsigned)st.st_mode, S_ISREG(st.st_mode) && n->path[0] != '/' ? (long)st.st_size : 0);
	close((int)fd);
}

/* A scope with ".." in it is EAGAIN when anything is renamed or mounted meanwhile, and is to be tried again: openat2(2). */
static long scoped(int dir, const char *path, const void *how, size_t size, uint64_t resolve)
{
	long fd;

	do
		fd = syscall(SYS_openat2, dir, path, how, size);
	while (fd < 0 && errno == EAGAIN && !(resolve & RESOLVE_CACHED));
	return fd;
}

static void try_openat2(void)
{
	static const struct { const char *label; uint64_t flags, mode, resolve; size_t size; const char *path; } cases[] = {
		{ "plain", O_RDONLY, 0, 0, 24, "f" },
		{ "size 0", O_RDONLY, 0, 0, 0, "f" },
		{ "size 23", O_RDONLY, 0, 0, 23, "f" },
		{ "size 25", O_RDONLY, 0, 0, 25, "f" },
		{ "size 4096", O_RDONLY, 0, 0, 4096, "f" },
		{ "size 4097", O_RDONLY, 0, 0, 4097, "f" },
		{ "unknown flag", 1ull << 40, 0, 0, 24, "f" },
		{ "unknown resolve", O_RDONLY, 0, 1 << 10, 24, "f" },
		{ "mode without create", O_RDONLY, 0600, 0, 24, "f" },
		{ "bad mode", O_CREAT | O_WRONLY, 010000, 0, 24, "n1" },
		{ "both scopes", O_RDONLY, 0, RESOLVE_BENEATH | RESOLVE_IN_ROOT, 24, "f" },
		{ "beneath", O_RDONLY, 0, RESOLVE_BENEATH, 24, "d/../f" },
		{ "beneath out", O_RDONLY, 0, RESOLVE_BENEATH, 24, "../x" },
		{ "beneath absolute", O_RDONLY, 0, RESOLVE_BENEATH, 24, "/etc/passwd" },
		{ "in root", O_RDONLY, 0, RESOLVE_IN_ROOT, 24, "/../../f" },
		{ "in root link", O_RDONLY, 0, RESOLVE_IN_ROOT, 24, "/lf" },
		{ "in root create", O_WRONLY | O_CREAT, 0600, RESOLVE_IN_ROOT, 24, "/fresh" },
		{ "beneath create", O_WRONLY | O_CREAT, 0600, RESOLVE_BENEATH, 24, "ld/fresh" },
		{ "no symlinks", O_RDONLY, 0, RESOLVE_NO_SYMLINKS, 24, "lf" },
		{ "no symlinks plain", O_RDONLY, 0, RESOLVE_NO_SYMLINKS, 24, "f" },
		{ "no symlinks nofollow", O_RDONLY | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS, 24, "lf" },
		{ "no magic", O_RDONLY, 0, RESOLVE_NO_MAGICLINKS, 24, "/proc/self/cwd/f" },
		{ "no magic plain", O_RDONLY, 0, RESOLVE_NO_MAGICLINKS, 24, "lf" },
		{ "no xdev", O_RDONLY, 0, RESOLVE_NO_XDEV, 24, "/proc/cpuinfo" },
		{ "no xdev plain", O_RDONLY, 0, RESOLVE_NO_XDEV, 24, "d/g" },
		{ "cached create", O_CREAT | O_WRONLY, 0600, RESOLVE_CACHED, 24, "f" },
	};
	static const struct { const char *label; uint64_t flags, resolve; const char *path; } looks[] = {
		{ "file", O_PATH, 0, "f" },
		{ "link", O_PATH, 0, "lf" },
		{ "link itself", O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, "lf" },
		{ "directory", O_PATH | O_DIRECTORY, 0, "ld/" },
		{ "not a directory", O_PATH | O_DIRECTORY, 0, "f" },
		{ "missing", O_PATH, 0, "nx" },
		{ "loop", O_PATH, 0, "loop" },
		{ "beneath", O_PATH, RESOLVE_BENEATH, "here/ld/../f" },
		{ "beneath, missing", O_PATH, RESOLVE_BENEATH, "nx" },
		{ "beneath, out", O_PATH, RESOLVE_BENEATH, "../x" },
		{ "in root", O_PATH, RESOLVE_IN_ROOT, "/../../ld/g" },
		{ "no links", O_PATH, RESOLVE_NO_SYMLINKS, "lf" },
		{ "no links, itself", O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS, "lf" },
		{ "magic", O_PATH, 0, "/proc/self/exe" },
		{ "no magic", O_PATH, RESOLVE_NO_MAGICLINKS, "/proc/self/exe" },
		{ "magic directory", O_PATH, RESOLVE_NO_XDEV, "/proc/self/cwd" },
		{ "closed", O_PATH, 0, "closed/x" },
		{ "noperm", O_PATH, 0, "noperm" },
		{ "with O_RDWR", O_PATH | O_RDWR, 0, "f" },
		{ "with O_CREAT", O_PATH | O_CREAT, 0, "f" },
		{ "empty", O_PATH, 0, "" },
	};
	char how[8192] __attribute__((aligned(8)));

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fresh();
		memset(how, 0, sizeof(how));
		memcpy(how, &cases[i].flags, 8);
		memcpy(how + 8, &cases[i].mode, 8);
		memcpy(how + 16, &cases[i].resolve, 8);
		long fd = scoped(AT_FDCWD, cases[i].path, how, cases[i].size, cases[i].resolve);
		say("openat2", cases[i].label, fd);
		if (fd >= 0)
			close((int)fd);
	}
	for (size_t i = 0; FROM_INSIDE && i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct open_how h = { .flags = looks[i].flags, .resolve = looks[i].resolve };
		struct stat st;
		fresh();
		long fd = scoped(AT_FDCWD, looks[i].path, &h, sizeof(h), h.resolve);
		say("openat2 path", looks[i].label, fd);
		if (fd >= 0 && fstat((int)fd, &st) == 0)
			printf("\tfd %ld flags %x %x mode %o\n", fd, (unsigned)fcntl((int)fd, F_GETFL), (unsigned)fcntl((int)fd, F_GETFD),
			       (unsigned)st.st_mode);
		close((int)fd);
	}
	struct open_how beneath = { .resolve = RESOLVE_BENEATH };
	say("openat2", "beneath, absolute, no directory", syscall(SYS_openat2, 99, "/f", &beneath, sizeof(beneath)));
	say("openat2", "beneath, no directory", syscall(SYS_openat2, 99, "f", &beneath, sizeof(beneath)));
	memset(how, 0, sizeof(how));
	how[24] = 1;
	say("openat2", "tail not zero", syscall(SYS_openat2, AT_FDCWD, "f", how, 32));
	say("openat2", "how unreadable", syscall(SYS_openat2, AT_FDCWD, "f", (void *)8, 24));
}

/*
 * /proc/self in a scope of the caller's own is the caller's. What is had from cache is the kernel's affair: EAGAIN is as good.
 */
static void try_openat2_proc(void)
{
	static const struct { const char *label; uint64_t resolve; } scopes[] = {
		{ "beneath", RESOLVE_BENEATH }, { "in root", RESOLVE_IN_ROOT }, { "no xdev", RESOLVE_NO_XDEV }, { "cached", RESOLVE_CACHED },
		{ "beneath, no magic", RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV },
	};
	static const char *const paths[] = { "self", "self/status", "thread-self/status", "self/fd", "self/fd/", "self/exe", "self/cwd/f", "self/fd/0",
					     "self/../self/stat", "self/../../etc", "self/fd/60", "net/tcp", "cpuinfo" };
	static const uint64_t flags[] = { O_RDONLY, O_PATH, O_PATH | O_NOFOLLOW, O_RDONLY | O_NOFOLLOW, O_PATH | O_DIRECTORY };
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	char label[100];

	fresh();
	dup2(proc, 60);
	for (size_t n = 0; n < sizeof(scopes) / sizeof(scopes[0]) * 65; n++) {
		const char *name = paths[n / 5 % 13];
		struct open_how h = { .flags = flags[n % 5], .resolve = scopes[n / 65].resolve };
		struct stat st, own;
		long fd = scoped(proc, name, &h, sizeof(h), h.resolve);
		snprintf(label, sizeof(label), "%s %s %x", scopes[n / 65].label, name, (unsigned)flags[n % 5]);
		if ((h.resolve & RESOLVE_CACHED) && (fd >= 0 || errno == EAGAIN || errno == ENOTDIR || errno == ELOOP || errno == ENOENT))
			printf("openat2 proc %s: well\n", label);
		else
			say("openat2 proc", label, fd);
		if (fd >= 0 && (fstat((int)fd, &st) < 0 ||
				fstatat(proc, name, &own, h.flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) < 0 || st.st_ino != own.st_ino))
			printf("\tanother's\n");
		if (fd >= 0)
			close((int)fd);
	}
	close(60);
	close(proc);
}

/* The calls with one path. */
struct one {
	const char *label;
	long (*call)(const char *path);
};

static long c_unlink(const char *p) { return old_unlink(p); }
static long c_rmdir(const char *p) { return old_rmdir(p); }
static long c_unlinkat_dir(const char *p) { return syscall(SYS_unlinkat, AT_FDCWD, p, AT_REMOVEDIR); }
static long c_unlinkat_bad(const char *p) { return syscall(SYS_unlinkat, AT_FDCWD, p, 0x10000); }
static long c_mkdir(const char *p) { return old_mkdir(p, 0777); }
static long c_mknod(const char *p) { return old_mknod(p, S_IFREG | 0666); }
static long c_mkfifo(const char *p) { return syscall(SYS_mknodat, AT_FDCWD, p, S_IFIFO | 0600, 0); }
static long c_mknod_dir(const char *p) { return old_mknod(p, S_IFDIR | 0666); }
static long c_mknod_bad(const char *p) { return old_mknod(p, 0170000 | 0666); }
static long c_symlink_to(const char *p) { return old_symlink("text", p); }
static long c_symlink_text(const char *p) { return old_symlink(p, "newlink"); }
static long c_link_from(const char *p) { return old_link(p, "newname"); }
static long c_link_follow(const char *p) { return syscall(SYS_linkat, AT_FDCWD, p, AT_FDCWD, "newname", AT_SYMLINK_FOLLOW); }
static long c_link_to(const char *p) { return old_link("f", p); }
static long c_rename_from(const char *p) { return old_rename(p, "newname"); }
static long c_rename_to(const char *p) { return old_rename("f", p); }
static long c_rename_dir_to(const char *p) { return old_rename("empty", p); }
static long c_rename_noreplace(const char *p) { return syscall(SYS_renameat2, AT_FDCWD, "f", AT_FDCWD, p, RENAME_NOREPLACE); }
static long c_exchange(const char *p) { return syscall(SYS_renameat2, AT_FDCWD, "empty", AT_FDCWD, p, RENAME_EXCHANGE); }
static long c_rename_bad(const char *p) { return syscall(SYS_renameat2, AT_FDCWD, "f", AT_FDCWD, p, 0x80); }
static long c_truncate(const char *p) { return syscall(SYS_truncate, p, 3); }
static long c_truncate_negative(const char *p) { return syscall(SYS_truncate, p, -1L); }
static long c_chmod(const char *p) { return old_chmod(p, 0640); }
static long c_chmodat2_nofollow(const char *p) { return syscall(452, AT_FDCWD, p, 0640, AT_SYMLINK_NOFOLLOW); }
static long c_chmodat2_bad(const char *p) { return syscall(452, AT_FDCWD, p, 0640, 0x4000); }
static long c_chown(const char *p) { return old_chown(p, -1, -1); }
static long c_lchown(const char *p) { return old_lchown(p, -1, -1); }
static long c_fchownat_bad(const char *p) { return syscall(SYS_fchownat, AT_FDCWD, p, -1, -1, 0x4000); }
static long c_utime(const char *p) { return old_utime(p); }
static long c_utimensat_nofollow(const char *p)
{
	struct timespec ts[2] = { { 1, 0 }, { 2, 0 } };
	return syscall(SYS_utimensat, AT_FDCWD, p, ts, AT_SYMLINK_NOFOLLOW);
}
static long c_utimensat_nsec(const char *p)
{
	struct timespec ts[2] = { { 1, 2000000000 }, { 2, 0 } };
	return syscall(SYS_utimensat, AT_FDCWD, p, ts, 0);
}
static long c_utimensat_pointer(const char *p) { return syscall(SYS_utimensat, AT_FDCWD, p, (void *)8, 0); }
static long c_setxattr(const char *p) { return syscall(SYS_setxattr, p, "user.k", "v", 1, 0); }
static long c_lsetxattr(const char *p) { return syscall(SYS_lsetxattr, p, "user.k", "v", 1, 0); }
static long c_setxattr_replace(const char *p) { return syscall(SYS_setxattr, p, "user.k", "v", 1, 2); }
static long c_setxattr_empty(const char *p) { return syscall(SYS_setxattr, p, "", "v", 1, 0); }
static long c_setxattr_flags(const char *p) { return syscall(SYS_setxattr, p, "user.k", "v", 1, 4); }
static long c_setxattr_big(const char *p) { return syscall(SYS_setxattr, p, "user.k", "v", 70000, 0); }
static long c_removexattr(const char *p) { return syscall(SYS_removexattr, p, "user.k"); }
static long c_chdir(const char *p) { long rc = syscall(SYS_chdir, p); int e = errno; if (rc == 0 && p[0] != '/') (void)!chdir(getenv("WORK")); errno = e; return rc; }
static long c_stat(const char *p) { struct stat st; return old_stat(p, &st); }
static long c_readlink(const char *p) { char b[100]; return old_readlink(p, b, sizeof(b)); }

static const struct one ones[] = {
	{ "unlink", c_unlink }, { "rmdir", c_rmdir }, { "unlinkat-dir", c_unlinkat_dir }, { "unlinkat-bad", c_unlinkat_bad },
	{ "mkdir", c_mkdir }, { "mknod", c_mknod }, { "mkfifo", c_mkfifo }, { "mknod-dir", c_mknod_dir },
	{ "mknod-bad", c_mknod_bad }, { "symlink-to", c_symlink_to }, { "symlink-text", c_symlink_text },
	{ "link-from", c_link_from }, { "link-follow", c_link_follow }, { "link-to", c_link_to },
	{ "rename-from", c_rename_from }, { "rename-to", c_rename_to }, { "rename-dir-to", c_rename_dir_to },
	{ "rename-noreplace", c_rename_noreplace }, { "exchange", c_exchange }, { "rename-bad", c_rename_bad },
	{ "truncate", c_truncate }, { "truncate-negative", c_truncate_negative }, { "chmod", c_chmod },
	{ "fchmodat2-nofollow", c_chmodat2_nofollow }, { "fchmodat2-bad", c_chmodat2_bad }, { "chown", c_chown },
	{ "lchown", c_lchown }, { "fchownat-bad", c_fchownat_bad }, { "utime", c_utime },
	{ "utimensat-nofollow", c_utimensat_nofollow }, { "utimensat-nsec", c_utimensat_nsec },
	{ "utimensat-pointer", c_utimensat_pointer }, { "setxattr", c_setxattr }, { "lsetxattr", c_lsetxattr },
	{ "setxattr-replace", c_setxattr_replace }, { "setxattr-empty", c_setxattr_empty },
	{ "setxattr-flags", c_setxattr_flags }, { "setxattr-big", c_setxattr_big }, { "removexattr", c_removexattr },
	{ "chdir", c_chdir }, { "stat", c_stat }, { "readlink", c_readlink },
};

/* Calls that would act on the world outside the directory are left out. */
static bool outside(const struct name *n)
{
	return n->path && n->path > (const char *)4096 && n->path != unended && n->path[0] == '/';
}

static int list_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	static const struct stat unknown;

	(void)at;
	if (type == FTW_NS)
		st = &unknown;
	if (n_lines < sizeof(lines) / sizeof(lines[0]))
		snprintf(lines[n_lines++], sizeof(lines[0]), "\t%s %o %u %ld", path, (unsigned)st->st_mode,
			 (unsigned)st->st_nlink, S_ISREG(st->st_mode) ? (long)st->st_size : 0);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void list(void)
{
	n_lines = 0;
	(void)nftw(".", list_one, 16, FTW_PHYS);
	qsort(lines, n_lines, sizeof(lines[0]), by_text);
	for (size_t i = 0; i < n_lines; i++)
		puts(lines[i]);
}

static void try_one(const struct one *o, const struct name *n)
{
	if (outside(n) && o->call != c_stat && o->call != c_readlink && o->call != c_symlink_text)
		return;
	fresh();
	long rc = o->call(n->path);
	say(o->label, n->label, rc);
	if (rc >= 0 && o->call != c_stat && o->call != c_readlink && o->call != c_chdir)
		list();
}

static void try_descriptors(void)
{
	fresh();
	int file = open("f", O_RDONLY), dir = open("d", O_RDONLY | O_DIRECTORY), path = open("f", O_PATH);
	int dpath = open("d", O_PATH), pipe_fd[2], gone = open("gone", O_RDWR | O_CREAT, 0600);
	struct timespec ts[2] = { { 5, 0 }, { 6, 0 } };
	unlink("gone");
	(void)!pipe(pipe_fd);
	struct { const char *label; int fd; } fds[] = { { "file", file }, { "dir", dir }, { "path", path }, { "dirpath", dpath },
		{ "pipe", pipe_fd[0] }, { "gone", gone }, { "closed", 99 }, { "negative", -5 } };
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		int fd = fds[i].fd;
		const char *l = fds[i].label;
		say("fchmod", l, syscall(SYS_fchmod, fd, 0700));
		say("fchown", l, syscall(SYS_fchown, fd, -1, -1));
		say("futimens", l, syscall(SYS_utimensat, fd, NULL, ts, 0));
		say("fsetxattr", l, syscall(SYS_fsetxattr, fd, "user.a", "b", 1, 0));
		say("fremovexattr", l, syscall(SYS_fremovexattr, fd, "user.a"));
		say("fchownat-empty", l, syscall(SYS_fchownat, fd, "", -1, -1, AT_EMPTY_PATH));
		say("fchmodat2-empty", l, syscall(452, fd, "", 0700, AT_EMPTY_PATH));
		say("utimensat-empty", l, syscall(SYS_utimensat, fd, "", ts, AT_EMPTY_PATH));
		say("openat-relative", l, syscall(SYS_openat, fd, "g", O_RDONLY));
		say("openat-absolute", l, syscall(SYS_openat, fd, "/dev/null", O_RDONLY));
		say("openat-empty", l, syscall(SYS_openat, fd, "", O_RDONLY));
		say("mkdirat", l, syscall(SYS_mkdirat, fd, "sub", 0700));
		say("unlinkat", l, syscall(SYS_unlinkat, fd, "sub", AT_REMOVEDIR));
		say("renameat", l, syscall(SYS_renameat, fd, "g", fd, "h"));
		say("fchdir", l, syscall(SYS_fchdir, fd));
		(void)!chdir(getenv("WORK"));
		char self[64];
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		say("reopen-r", l, syscall(SYS_openat, AT_FDCWD, self, O_RDONLY | O_NONBLOCK));
		say("reopen-w", l, syscall(SYS_openat, AT_FDCWD, self, O_WRONLY | O_NONBLOCK));
		say("reopen-nofollow", l, syscall(SYS_openat, AT_FDCWD, self, O_RDONLY | O_NOFOLLOW));
		say("reopen-below", l, syscall(SYS_openat, AT_FDCWD, strcat(self, "/g"), O_RDONLY));
	}
	list();
}

/* The calls of Linux 6.13 and 6.17 on attributes, with names, without, and with flags that mean nothing. */
static void try_newer_calls(void)
{
	static const struct { const char *label; int dirfd; const char *path; unsigned at; } cases[] = {
		{ "file", AT_FDCWD, "f", 0 }, { "link", AT_FDCWD, "lf", 0 }, { "link itself", AT_FDCWD, "lf", AT_SYMLINK_NOFOLLOW },
		{ "missing", AT_FDCWD, "nx", 0 }, { "empty", AT_FDCWD, "", 0 }, { "null", AT_FDCWD, NULL, 0 },
		{ "bad pointer", AT_FDCWD, (const char *)8, 0 }, { "bad flag", AT_FDCWD, "f", 0x80000 },
		{ "null and a bad flag", AT_FDCWD, NULL, 0x80000 }, { "descriptor", 20, "", AT_EMPTY_PATH }, { "descriptor, null", 20, NULL, AT_EMPTY_PATH },
		{ "path descriptor", 21, "", AT_EMPTY_PATH }, { "no descriptor", 99, "", AT_EMPTY_PATH }, { "directory", 22, "g", AT_EMPTY_PATH },
		{ "not a directory", 20, "g", 0 }, { "not a descriptor", 99, "g", 0 },
	};
	struct { uint64_t value; uint32_t size, flags; } value = { (uint64_t)(uintptr_t)"v", 1, 0 };
	char attr[32] __attribute__((aligned(8))), tail[24] __attribute__((aligned(8))) = { 0 };

	tail[23] = 1;
	fresh();
	dup2(open("f", O_RDONLY), 20);
	dup2(open("f", O_PATH), 21);
	dup2(open("d", O_RDONLY), 22);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int fd = cases[i].dirfd;
		const char *p = cases[i].path, *l = cases[i].label;
		unsigned at = cases[i].at;
		memset(attr, 0, sizeof(attr));
		value.flags = 0;
		say("setxattrat", l, syscall(463, fd, p, at, "user.k", &value, sizeof(value)));
		say("setxattrat, size 15", l, syscall(463, fd, p, at, "user.k", &value, 15));
		say("setxattrat, no name", l, syscall(463, fd, p, at, "", &value, sizeof(value)));
		say("getxattrat", l, syscall(464, fd, p, at, "user.k", &value, sizeof(value)));
		say("getxattrat, tail not zero", l, syscall(464, fd, p, at, "user.k", tail, sizeof(tail)));
		say("listxattrat", l, syscall(465, fd, p, at, NULL, 0));
		say("removexattrat", l, syscall(466, fd, p, at, "user.k"));
		say("file_getattr", l, syscall(468, fd, p, attr, 24, at));
		say("file_setattr", l, syscall(469, fd, p, attr, 24, at));
		say("file_setattr, size 23", l, syscall(469, fd, p, attr, 23, at));
		say("file_setattr, size 5000", l, syscall(469, fd, p, attr, 5000, at));
		say("file_setattr, bad pointer", l, syscall(469, fd, p, (void *)8, 24, at));
		attr[31] = 1;
		say("file_setattr, tail not zero", l, syscall(469, fd, p, attr, 32, at));
	}
	for (int fd = 20; fd < 23; fd++)
		close(fd);
	list();
}

/* Watches and listings: descriptors and masks that are none, a list that has no room. */
static void try_watches(void)
{
	static const struct { const char *label; uint32_t mask; } masks[] = { { "modify", IN_MODIFY }, { "nothing", 0 }, { "unknown", 1u << 20 },
		{ "only a directory", IN_MODIFY | IN_ONLYDIR }, { "add and create", IN_MODIFY | IN_MASK_ADD | IN_MASK_CREATE } };
	static const char *const paths[] = { "f", "d", "lf", "nx", "f/x", "" };
	char buf[4096], label[64];

	fresh();
	say("symlink", "with a slash", symlink("f/", "lfslash"));
	say("symlink", "and to nothing", symlink("none/", "lnslash"));
	static const int how[] = { O_WRONLY, O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC, O_WRONLY | O_CREAT | O_EXCL, O_RDONLY | O_CREAT | O_NOFOLLOW };
	static const char *const ends[] = { "lfslash", "lnslash", "lfslash/x", "f/x", "d/../lfslash" };
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++)
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
			say("open by a link that ends in a slash", ends[k], open(ends[k], how[i], 0600) < 0 ? -1 : 0);
	int watch = inotify_init1(IN_CLOEXEC), dir = open("d", O_RDONLY | O_DIRECTORY), path = open("d", O_PATH);
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
			snprintf(label, sizeof(label), "%s, %s", masks[i].label, paths[k]);
			say("inotify_add_watch", label, syscall(SYS_inotify_add_watch, watch, paths[k], masks[i].mask));
		}
		say("inotify_add_watch, bad pointer", masks[i].label, syscall(SYS_inotify_add_watch, watch, (void *)8, masks[i].mask));
		say("inotify_add_watch, no descriptor", masks[i].label, syscall(SYS_inotify_add_watch, 99, "nx", masks[i].mask));
		say("inotify_add_watch, another one", masks[i].label, syscall(SYS_inotify_add_watch, dir, "nx", masks[i].mask));
		say("inotify_add_watch, a path descriptor", masks[i].label, syscall(SYS_inotify_add_watch, path, "nx", masks[i].mask));
	}
	close(path);
	close(watch);
	for (int mode = 0; mode < 8; mode++) {
		snprintf(label, sizeof(label), "%d", mode);
		say("one's own descriptors", label, faccessat(AT_FDCWD, "/proc/self/fd", mode, 0));
		say("one's own maps", label, faccessat(AT_FDCWD, "/proc/self/map_files", mode, 0));
		say("one's own descriptors, in effect", label, faccessat(AT_FDCWD, "/proc/thread-self/fd", mode, AT_EACCESS));
	}
	say("getdents64", "no room", syscall(SYS_getdents64, dir, buf, 1));
	say("getdents64", "bad pointer", syscall(SYS_getdents64, dir, (void *)8, sizeof(buf)));
	long n = syscall(SYS_getdents64, dir, buf, sizeof(buf));
	printf("after that: %ld\n", n);
	say("getdents64", "the end", syscall(SYS_getdents64, dir, buf, sizeof(buf)));
	close(dir);
	int file = open("f", O_RDONLY);
	say("getdents64", "a file", syscall(SYS_getdents64, file, buf, sizeof(buf)));
	close(file);
}

static void try_limits(void)
{
	struct rlimit old, low;

	fresh();
	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &low);
	for (int fd = 3; fd < 1000; fd++)
		close(fd);
	say("openat", "no descriptor left", syscall(SYS_openat, AT_FDCWD, "f", O_RDONLY));
	say("openat", "no descriptor left, create", syscall(SYS_openat, AT_FDCWD, "made", O_WRONLY | O_CREAT, 0600));
	setrlimit(RLIMIT_NOFILE, &old);
	list();
}

static void try_umask(void)
{
	fresh();
	for (mode_t m = 0; m <= 0777; m += 0111) {
		char name[32];
		umask(m);
		snprintf(name, sizeof(name), "u%o", (unsigned)m);
		close(open(name, O_CREAT | O_WRONLY, 07777));
		snprintf(name, sizeof(name), "ud%o", (unsigned)m);
		mkdir(name, 01777);
	}
	umask(022);
	list();
}

/* A page that grows downwards, and room below it: what lies there is mapped when a call first uses it. NULL where there is no room. */
static char *stack_top(void)
{
	const size_t room = 4 << 20, page = 4096;
	char *low = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *top = low + room - page;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED;

	if (low == MAP_FAILED || munmap(low + room / 2, room / 2) < 0)
		return NULL;
	return mmap(top, page, PROT_READ | PROT_WRITE, flags, -1, 0) == top ? top : NULL;
}

static void try_stack(void)
{
	const size_t step = 64 << 10;
	char *at = stack_top();
	int dir = open(".", O_RDONLY | O_DIRECTORY);

	if (!at)
		return;
	fresh();
	say("openat", "a name on a stack that grows", syscall(SYS_openat, AT_FDCWD, at -= step, O_RDONLY));
	say("openat2", "a stack that grows", syscall(SYS_openat2, AT_FDCWD, "f", at -= step, sizeof(struct open_how)));
	say("readlinkat", "a stack that grows", syscall(SYS_readlinkat, AT_FDCWD, "lf", at -= step, 64));
	say("getdents64", "a stack that grows", syscall(SYS_getdents64, dir, at -= step, 4096));
	say("statx", "a stack that grows", syscall(SYS_statx, AT_FDCWD, "f", 0, STATX_SIZE, at -= step));
	say("openat", "a name below the room of a stack", syscall(SYS_openat, AT_FDCWD, at - (2 << 20), O_RDONLY));
	close(dir);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0) {
		fprintf(stderr, "usage: file_errno DIRECTORY\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	char cwd[4096];
	setenv("WORK", getcwd(cwd, sizeof(cwd)), 1);
	make_names();
	for (size_t i = 0; i < n_names; i++) {
		for (size_t k = 0; k < sizeof(opens) / sizeof(opens[0]); k++) {
			if (!outside(&names[i]) || !(opens[k].flags & (O_CREAT | O_TRUNC)))
				try_open(&names[i], &opens[k]);
		}
	}
	try_openat2();
	try_openat2_proc();
	for (size_t i = 0; i < n_names; i++) {
		for (size_t k = 0; k < sizeof(ones) / sizeof(ones[0]); k++)
			try_one(&ones[k], &names[i]);
	}
	try_descriptors();
	try_newer_calls();
	try_watches();
	try_limits();
	try_umask();
	try_stack();
	return 0;
}
