/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file calls say and do where the answer depends on more than their arguments: limits, modes of directories, ACLs, owners and
 * credentials, descriptors by name, roots and working directories of threads, leases, devices. Prints the same natively and under a policy that allows everything.
 *
 * usage: file_places DIRECTORY     an empty directory to work in
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Beyond what the output of this program takes: it may go to a file. */
#define MEGA 1048576
#define HIGH 0xdeadbeef00000000ul

static volatile sig_atomic_t seen_signal;

static void on_signal(int sig)
{
	seen_signal = sig;
}

static void say(const char *what, long rc)
{
	if (rc < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %ld\n", what, rc);
}

static void look(const char *what, const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		say(what, -1);
	else
		printf("%s: %o %u:%u size %ld links %lu\n", what, (unsigned)st.st_mode, (unsigned)st.st_uid, (unsigned)st.st_gid,
		       S_ISREG(st.st_mode) ? (long)st.st_size : -1L, (unsigned long)st.st_nlink);
}

static long open_close(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags | O_CLOEXEC, mode);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static void put(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "text\n", 5) != 5 || fchmod(fd, mode) < 0) {
		perror(path);
		exit(2);
	}
	close(fd);
}

static void run(void (*part)(void))
{
	int status;

	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		part();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		printf("a part ended with %x\n", (unsigned)status);
}

static void limits(void)
{
	struct rlimit small = { MEGA, MEGA };

	put("limited", 0644);
	signal(SIGXFSZ, on_signal);
	setrlimit(RLIMIT_FSIZE, &small);
	say("truncate of a closed file above the limit", (put("limited0", 0), geteuid() == 0 ? 0 : truncate("limited0", 2 * MEGA)));
	say("truncate below the limit", truncate("limited", 50));
	say("truncate above the limit", truncate("limited", 2 * MEGA));
	printf("signal %d\n", (int)seen_signal);
	seen_signal = 0;
	say("open with O_TRUNC", open_close("limited", O_WRONLY | O_TRUNC, 0));
	int fd = open("limited", O_RDWR | O_CLOEXEC);
	say("ftruncate above the limit", ftruncate(fd, 2 * MEGA));
	printf("signal %d\n", (int)seen_signal);
	look("limited", "limited");
	say("a directory above the limit", truncate(".", 2 * MEGA));
	printf("signal %d\n", (int)seen_signal);
}

static void limits_default(void)
{
	struct rlimit small = { MEGA, MEGA };

	put("limited2", 0644);
	setrlimit(RLIMIT_FSIZE, &small);
	say("truncate above the limit, no handler", truncate("limited2", 2 * MEGA));
}

static void directories(void)
{
	umask(027);
	mkdir("setgid", 0777);
	(void)!chown("setgid", (uid_t)-1, getgroups(0, NULL) > 0 || geteuid() == 0 ? 1000 : (gid_t)-1);
	say("chmod setgid", chmod("setgid", 02770));
	say("file below setgid", open_close("setgid/f", O_CREAT | O_WRONLY, 02777));
	say("dir below setgid", mkdir("setgid/d", 0777));
	say("fifo below setgid", mkfifo("setgid/p", 0666));
	look("setgid/f", "setgid/f");
	look("setgid/d", "setgid/d");
	look("setgid/p", "setgid/p");
	umask(0);
	mkdir("sticky", 0777);
	chmod("sticky", 01777);
	put("sticky/f", 0666);
	mkdir("sticky/d", 0777);
	look("sticky", "sticky");
}

/* A default ACL as the kernel keeps it: version, then (tag, permissions, id). */
struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

static void acls(void)
{
	struct {
		uint32_t version;
		struct acl_entry entry[5];
	} acl = { 2, { { 1, 7, ~0u }, { 2, 6, 1234 }, { 4, 5, ~0u }, { 16, 7, ~0u }, { 32, 0, ~0u } } };

	umask(077);
	mkdir("acl", 0755);
	say("set a default ACL", setxattr("acl", "system.posix_acl_default", &acl, 4 + 5 * 8, 0));
	say("create below it", open_close("acl/f", O_CREAT | O_WRONLY, 0666));
	say("mkdir below it", mkdir("acl/d", 0777));
	say("mknod below it", mknod("acl/n", S_IFREG | 0666, 0));
	look("acl/f", "acl/f");
	look("acl/d", "acl/d");
	look("acl/n", "acl/n");
	char buf[200];
	say("access ACL of the file", getxattr("acl/f", "system.posix_acl_access", buf, sizeof(buf)));
	say("default ACL of the directory", getxattr("acl/d", "system.posix_acl_default", buf, sizeof(buf)));
	say("tmpfile below it", open_close("acl", O_TMPFILE | O_RDWR, 0666));
	say("a bad ACL", setxattr("acl", "system.posix_acl_default", &acl, 11, 0));
	say("remove it", removexattr("acl", "system.posix_acl_default"));
}

static void high_bits(void)
{
	put("hb", 0644);
	say("openat", syscall(SYS_openat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | O_RDONLY, HIGH));
	say("mkdirat", syscall(SYS_mkdirat, HIGH | (uint32_t)AT_FDCWD, "hbd", HIGH | 0700));
	say("unlinkat", syscall(SYS_unlinkat, HIGH | (uint32_t)AT_FDCWD, "hbd", HIGH | AT_REMOVEDIR));
	say("fchmodat", syscall(SYS_fchmodat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | 0640));
	say("fchownat", syscall(SYS_fchownat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | (uint32_t)-1, HIGH | (uint32_t)-1, HIGH));
	say("linkat", syscall(SYS_linkat, HIGH | (uint32_t)AT_FDCWD, "hb", HIGH | (uint32_t)AT_FDCWD, "hb2", HIGH));
	say("renameat2", syscall(SYS_renameat2, HIGH | (uint32_t)AT_FDCWD, "hb2", HIGH | (uint32_t)AT_FDCWD, "hb3", HIGH));
	say("symlinkat", syscall(SYS_symlinkat, "x", HIGH | (uint32_t)AT_FDCWD, "hbl"));
	say("mknodat", syscall(SYS_mknodat, HIGH | (uint32_t)AT_FDCWD, "hbn", HIGH | S_IFIFO | 0600, 0));
	say("utimensat", syscall(SYS_utimensat, HIGH | (uint32_t)AT_FDCWD, "hb", NULL, HIGH));
	say("fchmod", syscall(SYS_fchmod, HIGH | 99, HIGH | 0640));
	say("setxattr", syscall(SYS_setxattr, "hb", "user.k", "v", 1, HIGH));
	look("hb", "hb");
	look("hbn", "hbn");
}

static void flags(void)
{
	struct timespec omit[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };

	put("fl", 0644);
	mkdir("fld", 0755);
	for (unsigned bit = 0; bit < 32; bit++) {
		unsigned f = 1u << bit;
		char what[64];
		int fds[2] = { -1, -1 };
		snprintf(what, sizeof(what), "bit %u of openat", bit);
		say(what, (fds[0] = (int)syscall(SYS_openat, AT_FDCWD, "fl", f & ~(unsigned)(O_CREAT | O_TRUNC), 0)) < 0 ? -1 : 0);
		if (fds[0] >= 0)
			printf("\t%x\n", (unsigned)fcntl(fds[0], F_GETFL));
		close(fds[0]);
		snprintf(what, sizeof(what), "bit %u of unlinkat", bit);
		say(what, syscall(SYS_unlinkat, AT_FDCWD, "nothing", f));
		snprintf(what, sizeof(what), "bit %u of linkat", bit);
		say(what, syscall(SYS_linkat, AT_FDCWD, "nothing", AT_FDCWD, "n", f));
		snprintf(what, sizeof(what), "bit %u of renameat2", bit);
		say(what, syscall(SYS_renameat2, AT_FDCWD, "nothing", AT_FDCWD, "n", f));
		snprintf(what, sizeof(what), "bit %u of fchownat", bit);
		say(what, syscall(SYS_fchownat, AT_FDCWD, "fl", -1, -1, f));
		snprintf(what, sizeof(what), "bit %u of fchmodat2", bit);
		say(what, syscall(452, AT_FDCWD, "fl", 0644, f));
		snprintf(what, sizeof(what), "bit %u of utimensat", bit);
		say(what, syscall(SYS_utimensat, AT_FDCWD, "fl", omit, f));
		snprintf(what, sizeof(what), "bit %u of setxattr", bit);
		say(what, syscall(SYS_setxattr, "fl", "user.k", "v", 1, f));
		snprintf(what, sizeof(what), "bit %u of statx", bit);
		char st[256];
		say(what, syscall(SYS_statx, AT_FDCWD, "fl", f, 0, st));
		snprintf(what, sizeof(what), "bit %u of mknod's mode", bit);
		say(what, syscall(SYS_mknod, "fln", f, 0));
		unlink("fln");
		snprintf(what, sizeof(what), "bit %u of mkdir's mode", bit);
		say(what, syscall(SYS_mkdir, "flm", f));
		look("\tflm", "flm");
		rmdir("flm");
	}
	say("renameat2 exchange and noreplace", syscall(SYS_renameat2, AT_FDCWD, "fl", AT_FDCWD, "fld", RENAME_EXCHANGE | RENAME_NOREPLACE));
	say("renameat2 whiteout", syscall(SYS_renameat2, AT_FDCWD, "nothing", AT_FDCWD, "fld", RENAME_WHITEOUT));
	say("rename onto a full directory", (mkdir("fld/x", 0700), mkdir("fle", 0700), rename("fle", "fld")));
	say("rename into itself", rename("fld", "fld/x/y"));
	say("rename of itself", rename("fld", "fld"));
	say("rename to a link of the same", (link("fl", "fl2"), rename("fl", "fl2")));
	look("both links stay", "fl");
	say("exchange with itself", syscall(SYS_renameat2, AT_FDCWD, "fl", AT_FDCWD, "fl", RENAME_EXCHANGE));
	say("exchange parent and child", syscall(SYS_renameat2, AT_FDCWD, "fld", AT_FDCWD, "fld/x", RENAME_EXCHANGE));
	say("rmdir of .", rmdir("."));
	say("rmdir of fld/.", rmdir("fld/."));
	say("rmdir of fld/..", rmdir("fld/x/.."));
	say("unlink of a directory", unlink("fld"));
	say("link of a directory", link("fld", "flh"));
}

static void descriptors(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), path, p[2];
	char name[64];

	put("ds", 0644);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	say("link a temporary file", linkat(AT_FDCWD, name, AT_FDCWD, "tmp1", AT_SYMLINK_FOLLOW));
	say("link it without following", linkat(AT_FDCWD, name, AT_FDCWD, "tmp2", 0));
	say("link it by AT_EMPTY_PATH", linkat(fd, "", AT_FDCWD, "tmp3", AT_EMPTY_PATH));
	int excl = open(".", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", excl);
	say("link an exclusive one", linkat(AT_FDCWD, name, AT_FDCWD, "tmp4", AT_SYMLINK_FOLLOW));
	look("tmp1", "tmp1");
	path = open("ds", O_PATH | O_CLOEXEC);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	say("chmod through /proc", chmod(name, 0600));
	say("truncate through /proc", truncate(name, 2));
	say("utimes through /proc", utimes(name, NULL));
	say("setxattr through /proc", setxattr(name, "user.k", "v", 1, 0));
	say("rename through /proc", rename(name, "dsx"));
	say("rmdir in /proc", rmdir("/proc/self/fd"));
	say("mkdir in /proc", mkdir("/proc/self/fd/x", 0700));
	say("create in /proc", open_close("/proc/self/x", O_CREAT | O_WRONLY, 0600));
	say("fchmod of a path descriptor", fchmod(path, 0644));
	say("fchmodat2 of a path descriptor", syscall(452, path, "", 0644, AT_EMPTY_PATH));
	say("fchownat of it", fchownat(path, "", (uid_t)-1, (gid_t)-1, AT_EMPTY_PATH));
	say("utimensat of it", utimensat(path, "", NULL, AT_EMPTY_PATH));
	look("ds", "ds");
	if (pipe(p) == 0) {
		snprintf(name, sizeof(name), "/dev/fd/%d", p[0]);
		say("a pipe by name, to write", open_close(name, O_WRONLY, 0));
		say("chmod of a pipe", chmod(name, 0600));
		say("truncate of a pipe", truncate(name, 1));
	}
	static const char *const magic[] = { "/proc/self/exe", "/proc/self/cwd", "/proc/self/root", "/proc/thread-self/cwd", "/proc/self/ns/mnt",
		"/proc/self/fd", "/proc/self/task", "/proc/self/maps", "/proc/self/mem", "/proc/self/environ", "/proc/self/attr/current",
		"/proc/self/oom_score_adj", "/proc/self/comm", "/proc/self/mounts", "/proc/mounts", "/proc/net/tcp", "/dev/stdin", "/dev/stdout",
		"/dev/tty", "/dev/fd", "/dev/full", "/dev/zero", "/dev/ptmx", "/dev/nonexistent", "/proc/self/cwd/ds", "/proc/self/root/dev/null",
		"/proc/thread-self/fd/0", "/dev/fd/9999", "/proc/self/fd/9999", "/proc/1/../self/cwd/ds", "/proc/self/task/../cwd/ds" };
	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++) {
		char what[128];
		snprintf(what, sizeof(what), "read %s", magic[i]);
		say(what, open_close(magic[i], O_RDONLY | O_NONBLOCK | O_NOCTTY, 0));
		snprintf(what, sizeof(what), "write %s", magic[i]);
		say(what, open_close(magic[i], O_WRONLY | O_NONBLOCK | O_NOCTTY, 0));
		snprintf(what, sizeof(what), "nofollow %s", magic[i]);
		say(what, open_close(magic[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0));
		snprintf(what, sizeof(what), "dir %s", magic[i]);
		say(what, open_close(magic[i], O_RDONLY | O_DIRECTORY, 0));
	}
}

static void standard_input(void)
{
	char c = 0;
	int fd = open("rs", O_RDWR | O_CREAT, 0600);

	(void)!write(fd, "abc", 3);
	dup2(fd, 0);
	int in = open("/dev/stdin", O_RDONLY | O_CLOEXEC);
	say("read of a reopened stdin", read(in, &c, 1));
	printf("%c, offset of the first %ld\n", c, (long)lseek(0, 0, SEEK_CUR));
	unlink("rs");
	in = open("/dev/stdin", O_RDONLY | O_CLOEXEC);
	say("stdin whose file is gone", in < 0 ? -1 : 0);
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 1);
	say("stdout is /dev/null", open_close("/dev/stdout", O_WRONLY, 0));
}

static void gone_directory(void)
{
	mkdir("gone", 0700);
	if (chdir("gone") < 0 || rmdir("../gone") < 0)
		_exit(2);
	say("open .", open_close(".", O_RDONLY, 0));
	say("open ..", open_close("..", O_RDONLY, 0));
	say("create below", open_close("x", O_CREAT | O_WRONLY, 0600));
	say("mkdir below", mkdir("x", 0700));
	say("symlink below", symlink("x", "x"));
	say("rename below", rename("a", "b"));
	say("absolute", open_close("/dev/null", O_RDONLY, 0));
	say("unlink below", unlink("x"));
	say("chmod .", chmod(".", 0700));
	say("rmdir .", rmdir("."));
	say("stat ..", access("..", F_OK));
}

static void other_root(void)
{
	mkdir("root", 0755);
	mkdir("root/etc", 0755);
	put("root/etc/file", 0644);
	(void)!symlink("/etc/file", "root/link");
	(void)!symlink("../../../etc/file", "root/up");
	if (chroot("root") < 0) {
		say("chroot", -1);
		return;
	}
	say("chdir", chdir("/etc"));
	say("relative", open_close("../etc/./file", O_RDONLY, 0));
	say("absolute", open_close("/etc/file", O_RDONLY, 0));
	say("an absolute link", open_close("/link", O_RDONLY, 0));
	say("a link upwards", open_close("/up", O_RDONLY, 0));
	say("..", open_close("/../../etc/file", O_RDONLY, 0));
	say("chdir", chdir("/"));
	say("mkdir", mkdir("/made", 0700));
	say("rename", rename("/made", "/etc/made"));
	say("create", open_close("etc/new", O_CREAT | O_EXCL | O_WRONLY, 0600));
	say("link", link("/etc/new", "/new"));
	say("not there", open_close("/etc/passwd", O_RDONLY, 0));
	say("unlink", unlink("/new"));
	say("rmdir", rmdir("/etc/made"));
}

static void *own_directory(void *arg)
{
	(void)arg;
	if (unshare(CLONE_FS) < 0 || chdir("ot") < 0)
		return NULL;
	umask(077);
	say("thread: create", open_close("here", O_CREAT | O_WRONLY, 0666));
	say("thread: mkdir", mkdir("dir", 0777));
	return NULL;
}

static void *shared_umask(void *arg)
{
	umask((mode_t)(uintptr_t)arg);
	return NULL;
}

static void threads(void)
{
	pthread_t t;

	umask(022);
	mkdir("ot", 0755);
	pthread_create(&t, NULL, own_directory, NULL);
	pthread_join(t, NULL);
	say("main: create", open_close("there", O_CREAT | O_WRONLY, 0666));
	look("ot/here", "ot/here");
	look("ot/dir", "ot/dir");
	look("there", "there");
	pthread_create(&t, NULL, shared_umask, (void *)007);
	pthread_join(t, NULL);
	say("after a sibling's umask", open_close("there2", O_CREAT | O_WRONLY, 0666));
	look("there2", "there2");
}

static int clone_child(void *arg)
{
	(void)arg;
	umask(0177);
	return chdir("cf") < 0;
}

static void shared_fs(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status;

	umask(022);
	mkdir("cf", 0755);
	pid_t pid = clone(clone_child, stack + sizeof(stack), CLONE_FS | SIGCHLD, NULL);
	waitpid(pid, &status, 0);
	say("where the child went", open_close("inside", O_CREAT | O_WRONLY, 0777));
	look("inside", "inside");
	look("../cf/inside", "../cf/inside");
}

static void lease(void)
{
	put("leased", 0644);
	int fd = open("leased", O_RDONLY | O_CLOEXEC);
	signal(SIGIO, on_signal);
	say("lease", fcntl(fd, F_SETLEASE, F_RDLCK));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(open("leased", O_WRONLY | O_NONBLOCK | O_CLOEXEC) < 0 && errno == EWOULDBLOCK ? 0 : 1);
	int status;
	while (waitpid(pid, &status, 0) < 0)
		;
	printf("an open that would break it: %x, signal %d\n", (unsigned)status, (int)seen_signal);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	say("after it", open_close("leased", O_WRONLY | O_NONBLOCK, 0));
}

static void busy_text(void)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	say("write to a running program", open_close(self, O_WRONLY, 0));
	say("truncate it", truncate(self, 0));
	say("read it", open_close(self, O_RDONLY, 0));
	say("device without a driver", mknod("nodev", S_IFCHR | 0600, makedev(250, 250)));
	say("open it", open_close("nodev", O_RDONLY, 0));
	say("block device without a driver", mknod("noblk", S_IFBLK | 0600, makedev(250, 250)));
	say("open it", open_close("noblk", O_RDONLY, 0));
	say("whiteout", mknod("white", S_IFCHR | 0600, 0));
	say("socket", mknod("sock", S_IFSOCK | 0600, 0));
	say("open a socket", open_close("sock", O_RDONLY, 0));
	say("fifo", mkfifo("fifo", 0600));
	say("fifo for writing, nobody reads", open_close("fifo", O_WRONLY | O_NONBLOCK, 0));
	say("fifo for both", open_close("fifo", O_RDWR, 0));
	say("fifo with O_TRUNC", open_close("fifo", O_RDWR | O_TRUNC, 0));
	say("fifo with O_CREAT", open_close("fifo", O_RDWR | O_CREAT, 0));
	say("truncate a fifo", truncate("fifo", 0));
	say("truncate a directory", truncate(".", 0));
	say("direct", open_close("direct", O_CREAT | O_RDWR | O_DIRECT, 0600));
	say("async", open_close("direct", O_RDWR | O_ASYNC | O_NDELAY, 0));
	say("read only file system", open_close("/sys/x", O_CREAT | O_WRONLY, 0600));
	say("mkdir there", mkdir("/sys/x", 0700));
	say("mkdir in /proc", mkdir("/proc/x", 0700));
}

static void immutable(void)
{
	put("immutable", 0644);
	int attr = 0, fd = open("immutable", O_RDONLY | O_CLOEXEC);
	say("get flags", ioctl(fd, FS_IOC_GETFLAGS, &attr));
	int was = attr;
	attr |= FS_IMMUTABLE_FL;
	say("set immutable", ioctl(fd, FS_IOC_SETFLAGS, &attr));
	say("write", open_close("immutable", O_WRONLY, 0));
	say("truncate", truncate("immutable", 0));
	say("chmod", chmod("immutable", 0600));
	say("unlink", unlink("immutable"));
	say("rename", rename("immutable", "mutable"));
	say("rename over", (put("over", 0644), rename("over", "immutable")));
	say("link", link("immutable", "hardlink"));
	say("utime", utimes("immutable", NULL));
	say("setxattr", setxattr("immutable", "user.a", "b", 1, 0));
	attr = was | FS_APPEND_FL;
	say("set append", ioctl(fd, FS_IOC_SETFLAGS, &attr));
	say("write at will", open_close("immutable", O_WRONLY, 0));
	say("append", open_close("immutable", O_WRONLY | O_APPEND, 0));
	say("append and truncate", open_close("immutable", O_WRONLY | O_APPEND | O_TRUNC, 0));
	ioctl(fd, FS_IOC_SETFLAGS, &was);
	look("immutable", "immutable");
}

static void other_user(void)
{
	const gid_t groups[] = { 2000, 2001 };

	say("root's file for noatime", open_close("/etc/hostname", O_RDONLY | O_NOATIME, 0));
	put("mine", 0640);
	mkdir("other", 0755);
	say("chown to others", chown("mine", 0, 0));
	say("chgrp to others", chown("mine", (uid_t)-1, 2001));
	say("setuid bit", chmod("mine", 06755));
	look("mine", "mine");
	say("chown clears it", chown("mine", (uid_t)-1, getegid()));
	look("mine", "mine");
	if (geteuid() != 0)
		return;
	put("group", 0060);
	say("give it to a group", chown("group", 0, 2001));
	say("give a directory away", chown("other", 1000, 1000));
	mkdir("stick", 0777);
	chmod("stick", 01777);
	put("stick/f", 0666);
	chmod(".", 0777);
	if (setgroups(2, groups) < 0 || setresgid(1000, 1000, 1000) < 0 || setresuid(1000, 1000, 1000) < 0)
		_exit(2);
	say("by a further group", open_close("group", O_RDWR, 0));
	say("sticky: unlink", unlink("stick/f"));
	say("sticky: rename", rename("stick/f", "stick/g"));
	say("sticky: write", open_close("stick/f", O_WRONLY, 0));
	say("chmod of another's", chmod("group", 0777));
	say("utime of another's, now", utimes("stick/f", NULL));
	struct timeval tv[2] = { { 1, 0 }, { 2, 0 } };
	say("utime of another's, then", utimes("stick/f", tv));
	say("own directory", open_close("other/f", O_CREAT | O_WRONLY, 0666));
	say("chgrp to a further group", chown("other/f", (uid_t)-1, 2000));
	say("chgrp to another group", chown("other/f", (uid_t)-1, 3000));
	say("trusted xattr", setxattr("other/f", "trusted.a", "b", 1, 0));
	say("security xattr", setxattr("other/f", "security.capability", "b", 1, 0));
	say("device", mknod("other/dev", S_IFCHR | 0600, makedev(1, 3)));
	say("link of another's (protected)", link("mine", "other/hl"));
	look("other/f", "other/f");
}

static void *with_fsuid(void *arg)
{
	(void)arg;
	syscall(SYS_setfsgid, 1000);
	syscall(SYS_setfsuid, 1000);
	say("fsuid: create", open_close("fs/f", O_CREAT | O_EXCL | O_WRONLY, 0666));
	say("fsuid: another's", open_close("closed", O_RDONLY, 0));
	say("fsuid: chown", chown("fs/f", 0, 0));
	return NULL;
}

static void capabilities(void)
{
	pthread_t t;

	if (geteuid() != 0)
		return;
	mkdir("fs", 0777);
	chmod("fs", 0777);
	put("closed", 0);
	pthread_create(&t, NULL, with_fsuid, NULL);
	pthread_join(t, NULL);
	look("fs/f", "fs/f");
	say("main: the closed file", open_close("closed", O_RDONLY, 0));
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];
	syscall(SYS_capget, &h, d);
	d[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_CHOWN | 1u << CAP_FOWNER | 1u << CAP_MKNOD);
	say("capset", syscall(SYS_capset, &h, d));
	put("fs/g", 0600);
	say("no override", open_close("fs/g", O_RDWR, 0));
	(void)!chmod("fs/g", 0);
	say("own file without rights", open_close("fs/g", O_RDWR, 0));
	say("another's file", chmod("fs/f", 0600));
	say("chown", chown("fs/g", 1000, 1000));
	say("device", mknod("fs/dev", S_IFCHR | 0600, makedev(1, 3)));
	say("setgid of another group", (chmod("fs/g", 02755)));
	look("fs/g", "fs/g");
}

static void few_numbers(void)
{
	struct rlimit few = { 6, 6 };

	for (int fd = 3; fd < 20; fd++)
		close(fd);
	dup2(0, 9);
	dup2(0, 12);
	dup2(0, 13);
	dup2(0, 14);
	setrlimit(RLIMIT_NOFILE, &few);
	for (int i = 0; i < 4; i++)
		say("create below a limit that others lie above", open("few", O_CREAT | O_RDWR, 0600));
	for (int i = 3; i < 6; i++)
		close(i);
	for (int i = 0; i < 4; i++)
		say("open below it", open("few", O_RDONLY));
}

/* A session leader takes the terminal that it opens. */
static void terminal(void)
{
	static const struct { const char *what; bool leads; int flags; } cases[] = {
		{ "leader", true, O_RDWR }, { "leader, reading", true, O_RDONLY }, { "leader, writing", true, O_WRONLY },
		{ "leader, O_NOCTTY", true, O_RDWR | O_NOCTTY }, { "no leader", false, O_RDWR },
	};
	char name[64];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || ptsname_r(master, name, sizeof(name)) != 0) {
		say("no terminal", -1);
		return;
	}
	signal(SIGHUP, SIG_IGN);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fflush(stdout);
		pid_t pid = fork();
		if (pid > 0)
			waitpid(pid, NULL, 0);
		if (pid)
			continue;
		if (cases[i].leads || i + 1 == sizeof(cases) / sizeof(cases[0]))
			setsid();
		if (!cases[i].leads && fork() > 0) {
			wait(NULL);
			_exit(0);
		}
		say(cases[i].what, open(name, cases[i].flags));
		int own = open("/dev/tty", O_RDWR | O_CLOEXEC);
		say("its controlling terminal", own);
		printf("in front: %d\n", own >= 0 && tcgetpgrp(own) == getpid());
		fflush(stdout);
		_exit(0);
	}
	close(master);
}

static void may(const char *what, const char *path)
{
	for (int mode = 0; mode < 8; mode++) {
		printf("%s, %d:", what, mode);
		for (int at = 0; at <= AT_EACCESS; at += AT_EACCESS)
			printf(" %s", faccessat(AT_FDCWD, path, mode, at) == 0 ? "yes" : strerrorname_np(errno));
		printf("\n");
	}
}

/* What AT_EMPTY_PATH means by AT_FDCWD: no right to search is needed. */
static void closed_cwd(void)
{
	struct stat st;

	mkdir("ccwd", 0700);
	if (chdir("ccwd") < 0 || chmod(".", 0) < 0)
		_exit(2);
	say("fchownat", fchownat(AT_FDCWD, "", (uid_t)-1, (gid_t)-1, AT_EMPTY_PATH));
	say("utimensat", utimensat(AT_FDCWD, "", NULL, AT_EMPTY_PATH));
	say("fstatat", fstatat(AT_FDCWD, "", &st, AT_EMPTY_PATH));
	say("fchmodat2", syscall(452, AT_FDCWD, "", 0100, AT_EMPTY_PATH));
	say("faccessat2", syscall(SYS_faccessat2, AT_FDCWD, "", R_OK, AT_EMPTY_PATH));
	say("linkat", linkat(AT_FDCWD, "", AT_FDCWD, "x", AT_EMPTY_PATH));
	say("open of .", open_close(".", O_RDONLY, 0));
	say("open below", open_close("x", O_CREAT | O_WRONLY, 0600));
	say("chmod back", chmod("../ccwd", 0700));
	look("ccwd", "../ccwd");
}

static void rights(void)
{
	static const mode_t modes[] = { 0, 0400, 0200, 0100, 0755, 0007 };

	put("right", 0);
	mkdir("rightd", 0);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		char what[64];
		chmod("right", modes[i]);
		chmod("rightd", modes[i]);
		snprintf(what, sizeof(what), "file %o", (unsigned)modes[i]);
		may(what, "right");
		snprintf(what, sizeof(what), "directory %o", (unsigned)modes[i]);
		may(what, "rightd");
	}
	may("/etc/shadow", "/etc/shadow");
	may("/", "/");
	if (geteuid() != 0)
		return;
	/* real and effective users differ */
	if (setresuid(1000, 0, 0) < 0)
		_exit(2);
	may("real user 1000", "/etc/shadow");
	chmod("right", 0);
	may("real user 1000, own", "right");
	if (setresuid(0, 1000, 0) < 0)
		_exit(2);
	may("effective user 1000", "/etc/shadow");
}

/* Nobody, not even root, can do any of this. */
static void root_itself(void)
{
	static const char *const roots[] = { "/", "//", "/.", "/..", "/./" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		printf("%s:\n", roots[i]);
		say("mkdir", mkdir(roots[i], 0700));
		say("rmdir", rmdir(roots[i]));
		say("unlink", unlink(roots[i]));
		say("mknod", mknod(roots[i], S_IFIFO | 0600, 0));
		say("symlink", symlink("x", roots[i]));
		say("link", link(roots[i], "lr"));
		say("link to", link("..", roots[i]));
		say("rename", rename(roots[i], "rr"));
		say("rename to", rename("..", roots[i]));
		say("rename of nothing to", rename("nothing", roots[i]));
		say("open", open_close(roots[i], O_RDONLY, 0));
		say("open to write", open_close(roots[i], O_WRONLY, 0));
		say("create", open_close(roots[i], O_CREAT | O_WRONLY, 0600));
		say("create exclusively", open_close(roots[i], O_CREAT | O_EXCL | O_WRONLY, 0600));
		say("create to read", open_close(roots[i], O_CREAT | O_RDONLY, 0600));
		say("truncate", truncate(roots[i], 0));
	}
}

static void deep(void)
{
	char name[256];
	int made = 0;

	memset(name, 'n', 250);
	name[250] = '\0';
	while (made < 20 && mkdir(name, 0700) == 0 && chdir(name) == 0)
		made++;
	printf("levels %d\n", made);
	say("create in the deep", open_close("f", O_CREAT | O_WRONLY, 0600));
	say("rename in the deep", rename("f", "g"));
	say("unlink in the deep", unlink("g"));
	while (made-- > 0 && chdir("..") == 0)
		say("rmdir upwards", rmdir(name));
}

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = { limits, limits_default, directories, acls, high_bits, flags, descriptors, standard_input,
		gone_directory, other_root, threads, shared_fs, lease, busy_text, immutable, deep,
		root_itself, few_numbers, terminal, rights, closed_cwd, capabilities, other_user };

	if (argc != 2 || chdir(argv[1]) < 0) {
		fprintf(stderr, "usage: file_places DIRECTORY\n");
		return 2;
	}
	umask(022);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		run(parts[i]);
	return 0;
}
