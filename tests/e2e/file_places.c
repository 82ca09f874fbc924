/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file calls say and do where the answer depends on the place: roots, working directories and descriptors by name, devices, what nobody can do.
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>

#include "tests/e2e/places.h"

/* What is wrong with the second name is said after the first was looked up. */
static void second_names(void)
{
	static char big[5000], name[300];
	const char *const first[] = { "nx", "sn", "nx/y", "sn/x", "", ".", (const char *)8, name, big };
	const char *const second[] = { (const char *)8, big, name, "", "nx/y", "sn/x", "." };

	memset(big, 'b', sizeof(big) - 1);
	memset(name, 'n', sizeof(name) - 1);
	put("sn", 0644);
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		for (size_t k = 0; k < sizeof(second) / sizeof(second[0]); k++) {
			char what[64];
			snprintf(what, sizeof(what), "rename %zu %zu", i, k);
			say(what, syscall(SYS_renameat2, AT_FDCWD, first[i], AT_FDCWD, second[k], 0));
			snprintf(what, sizeof(what), "link %zu %zu", i, k);
			say(what, syscall(SYS_linkat, AT_FDCWD, first[i], AT_FDCWD, second[k], 0));
			snprintf(what, sizeof(what), "symlink %zu %zu", i, k);
			say(what, syscall(SYS_symlinkat, first[i], AT_FDCWD, second[k]));
		}
	}
	struct timespec stay[2] = { { 0, UTIME_OMIT }, { 0, UTIME_OMIT } };
	say("utimensat that changes nothing, of a bad name", syscall(SYS_utimensat, AT_FDCWD, 8, stay, 0));
	say("removexattrat of nothing but a place", syscall(466, AT_FDCWD, "", AT_EMPTY_PATH, "user.k"));
	say("by a null name", syscall(466, AT_FDCWD, NULL, AT_EMPTY_PATH, "user.k"));
	say("listxattrat of nothing but a place", syscall(465, AT_FDCWD, "", AT_EMPTY_PATH, NULL, 0));
	say("by a null name", syscall(465, AT_FDCWD, NULL, AT_EMPTY_PATH, NULL, 0));
	say("fsetxattr of it", fsetxattr(AT_FDCWD, "user.k", "v", 1, 0));
	say("fgetxattr of it", fgetxattr(AT_FDCWD, "user.k", NULL, 0));
	say("of a bad name", fgetxattr(AT_FDCWD, (const char *)8, NULL, 0));
	say("flistxattr of it", flistxattr(AT_FDCWD, NULL, 0));
	say("fremovexattr of it", fremovexattr(AT_FDCWD, "user.k"));
	(void)removexattr(".", "user.k");
	unlink("sn");
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

/* The links of a process that has ended, and that nobody has waited for, lead nowhere. */
static void ended_process(void)
{
	static const char *const links[] = { "cwd", "root", "exe", "ns/net", "fd/0", "stat" };
	char name[64], text[64];
	siginfo_t ended;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	(void)waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, links[i]);
		printf("of an ended process, %s:\n", links[i]);
		say("readlink", readlink(name, text, sizeof(text)));
		say("stat", access(name, F_OK));
		say("open", open_close(name, O_RDONLY, 0));
	}
	waitpid(pid, NULL, 0);
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

static void make_at(int dir, const char *name)
{
	int fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	say(name, fd < 0 ? -1 : 0);
	if (fd >= 0)
		close(fd);
}

/* Names below descriptors and below the working directory by turns, while directories move, lose their bits and go. */
static void by_turns(void)
{
	mkdir("bt", 0755);
	mkdir("bt/one", 0755);
	mkdir("bt/two", 0755);
	int one = open("bt/one", O_RDONLY | O_DIRECTORY | O_CLOEXEC), two = open("bt/two/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof(name), "a%d", i);
		make_at(one, name);
		make_at(AT_FDCWD, name);
		make_at(two, name);
	}
	say("move it", rename("bt/one", "bt/three"));
	make_at(one, "b");
	look("bt/three/b", "bt/three/b");
	say("go there", fchdir(two));
	make_at(one, "c");
	make_at(AT_FDCWD, "d");
	look("../three/c", "../three/c");
	look("../two/d", "../two/d");
	say("no more bits", fchmod(one, 0));
	make_at(one, "e");
	make_at(AT_FDCWD, "f");
	say("nor here", chmod(".", 0));
	make_at(AT_FDCWD, "g");
	make_at(one, "h");
	say("bits again", fchmodat(AT_FDCWD, ".", 0755, 0));
	say("and there", fchmod(one, 0755));
	make_at(one, "i");
	make_at(AT_FDCWD, "j");
	for (const char *n = "abci"; *n; n++) {
		const char name[] = { *n, *n == 'a' ? '0' : '\0', '\0' };
		(void)unlinkat(one, name, 0);
	}
	(void)unlinkat(one, "a1", 0);
	(void)unlinkat(one, "a2", 0);
	(void)unlinkat(one, "e", 0);
	(void)unlinkat(one, "h", 0);
	say("remove it", rmdir("../three"));
	make_at(one, "k");
	make_at(AT_FDCWD, "l");
	say("its parent", openat(one, "..", O_RDONLY | O_CLOEXEC) < 0 ? -1 : 0);
	say("itself", openat(one, ".", O_RDONLY | O_CLOEXEC) < 0 ? -1 : 0);
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC), file = open("d", O_RDONLY | O_CLOEXEC);
	say("in /proc", openat(proc, "comm", O_RDONLY | O_CLOEXEC) < 0 ? -1 : 0);
	make_at(AT_FDCWD, "m");
	say("below a file", openat(file, "x", O_RDONLY | O_CLOEXEC));
}

/* A slash at the end of what is opened as a directory. */
static void slashes(void)
{
	static const char *const names[] = { "sd", "sd/", "sd//", "./sd/", "sf/", "sl/", "sl//", "slf/", "sx/", "sd/./", "/", "//", "/proc/self/", "/lib/", "" };
	static const int flags[] = { O_RDONLY | O_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, O_RDONLY, O_WRONLY | O_DIRECTORY, O_PATH | O_DIRECTORY,
				     O_RDONLY | O_DIRECTORY | O_CREAT, O_TMPFILE | O_RDWR };

	mkdir("sd", 0755);
	put("sf", 0644);
	(void)(symlink("sd", "sl") | symlink("sf", "slf"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
			char what[64];
			struct stat st = { 0 };
			int fd = open(names[i], flags[k] | O_CLOEXEC, 0600);
			snprintf(what, sizeof(what), "%s %#x", names[i], (unsigned)flags[k]);
			say(what, fd < 0 ? -1 : fstat(fd, &st) < 0 ? -2 : (long)(st.st_mode & S_IFMT));
			if (fd >= 0)
				printf("flags %#x\n", (unsigned)fcntl(fd, F_GETFL));
			close(fd);
		}
	}
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

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = { second_names, descriptors, ended_process, standard_input, gone_directory, other_root, threads, shared_fs, busy_text,
					       by_turns, slashes, root_itself };

	return run_all(argc, argv, parts, sizeof(parts) / sizeof(parts[0]));
}
