/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's floor says where usher does not: every call that usher mediates, tried on something that the rules deny.
 *
 *   forgotten list        NAME NUMBER for each, and "floor" where the kernel must refuse it or the reason why it cannot
 *   forgotten queue, forgotten unqueue   makes and removes the message queue QUEUE
 *   forgotten try NAME    status 0 when it worked, 1 when it was refused (the error on standard output), 77 when it is not possible here
 *
 * Tried in a directory of things that are denied: file, old, dir, full/x, prog, fifo-less; descriptor 9 is file, opened before.
 * PORT is a TCP port with a listener, UDP one that receives, sock a unix socket with a listener, OUTSIDE a process of the same user.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mqueue.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#define __NR_getxattrat 464
#define __NR_listxattrat 465
#define __NR_removexattrat 466
#endif
#ifndef __NR_file_getattr
#define __NR_file_getattr 468
#define __NR_file_setattr 469
#endif

#define HELD 9
#define AT AT_FDCWD
#define DO(name, call) \
	static long try_##name(void) { return (long)(call); }

static const char *const no_argv[] = { "prog", NULL };
static const struct timeval moments[2] = { { 1, 0 }, { 1, 0 } };
static const struct timespec instants[2] = { { 1, 0 }, { 1, 0 } };
static struct stat st;
static struct statfs sfs;
static char room[4096];
static const char key[] = "user.forgotten";

static struct sockaddr_in inet(const char *port)
{
	const char *text = getenv(port);

	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((in_port_t)(text ? atoi(text) : 0)), .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static long try_connect(void)
{
	struct sockaddr_in a = inet("PORT");

	return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof(a));
}

static long try_connect_unix(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "sock" };

	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof(a));
}

static long try_connect_abstract(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", getenv("ABSTRACT"));

	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
}

static long try_bind(void)
{
	struct sockaddr_in a = inet("NONE");

	return bind(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof(a));
}

static long try_bind_unix(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "made" };

	return bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, sizeof(a));
}

static long try_listen(void)
{
	return listen(socket(AF_INET, SOCK_STREAM, 0), 1);
}

static long datagram(bool many, int flags, int type, const char *port)
{
	struct sockaddr_in a = inet(port);
	struct iovec part = { (void *)(uintptr_t)"x", 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &part, .msg_iovlen = 1 } };
	int fd = socket(AF_INET, type, 0);

	if (fd < 0)
		return -1;
	return many ? sendmmsg(fd, &m, 1, flags) : sendmsg(fd, &m.msg_hdr, flags);
}

static long try_sendto(void)
{
	struct sockaddr_in a = inet("UDP");

	return sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&a, sizeof(a));
}

static long try_exec(bool at)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (at)
			syscall(SYS_execveat, AT, "prog", no_argv, environ, 0);
		else
			syscall(SYS_execve, "prog", no_argv, environ);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	return status == 0 ? 0 : -1;
}

static long try_openat2(void)
{
	struct open_how how = { .flags = O_RDONLY };

	return syscall(SYS_openat2, AT, "file", &how, sizeof(how));
}

static long try_setxattrat(void)
{
	struct { uint64_t value; uint32_t size, flags; } args = { (uint64_t)(uintptr_t)"x", 1, 0 };

	return syscall(__NR_setxattrat, AT, "file", 0, key, &args, sizeof(args));
}

static long try_getxattrat(void)
{
	struct { uint64_t value; uint32_t size, flags; } args = { (uint64_t)(uintptr_t)room, sizeof(room), 0 };

	return syscall(__NR_getxattrat, AT, "marked", 0, key, &args, sizeof(args));
}

static long try_file_attr(bool set)
{
	uint64_t attr[3] = { 0 };

	return syscall(set ? __NR_file_setattr : __NR_file_getattr, AT, "file", attr, sizeof(attr), 0);
}

static long try_listing(long nr)
{
	int fd = open("dir", O_RDONLY | O_DIRECTORY);

	return fd < 0 ? -1 : syscall(nr, fd, room, sizeof(room));
}

static int outside(void)
{
	return atoi(getenv("OUTSIDE"));
}

#ifdef __x86_64__
DO(open, syscall(SYS_open, "file", O_RDONLY))
DO(creat, syscall(SYS_creat, "file", 0600))
DO(rename, syscall(SYS_rename, "old", "new"))
DO(mkdir, syscall(SYS_mkdir, "new", 0700))
DO(rmdir, syscall(SYS_rmdir, "dir"))
DO(link, syscall(SYS_link, "old", "new"))
DO(unlink, syscall(SYS_unlink, "old"))
DO(symlink, syscall(SYS_symlink, "old", "new"))
DO(chmod, syscall(SYS_chmod, "file", 0640))
DO(chown, syscall(SYS_chown, "file", getuid(), getgid()))
DO(lchown, syscall(SYS_lchown, "file", getuid(), getgid()))
DO(utime, syscall(SYS_utime, "file", NULL))
DO(utimes, syscall(SYS_utimes, "file", moments))
DO(futimesat, syscall(SYS_futimesat, AT, "file", moments))
DO(mknod, syscall(SYS_mknod, "new", S_IFIFO | 0600, 0))
DO(stat, syscall(SYS_stat, "file", &st))
DO(lstat, syscall(SYS_lstat, "file", &st))
DO(access, syscall(SYS_access, "file", F_OK))
DO(getdents, try_listing(SYS_getdents))
DO(readlink, syscall(SYS_readlink, "link", room, sizeof(room)))
#endif
DO(openat, syscall(SYS_openat, AT, "file", O_RDONLY))
DO(truncate, truncate("file", 0))
DO(mkdirat, mkdirat(AT, "new", 0700))
DO(mknodat, syscall(SYS_mknodat, AT, "new", S_IFIFO | 0600, 0))
DO(unlinkat, unlinkat(AT, "old", 0))
DO(renameat, syscall(SYS_renameat, AT, "old", AT, "new"))
DO(renameat2, syscall(SYS_renameat2, AT, "old", AT, "new", 0))
DO(linkat, linkat(AT, "old", AT, "new", 0))
DO(symlinkat, symlinkat("old", AT, "new"))
DO(mq_open, mq_open(getenv("QUEUE"), O_RDWR))
DO(mq_unlink, mq_unlink(getenv("QUEUE")))
DO(fchmod, fchmod(HELD, 0640))
DO(fchmodat, syscall(SYS_fchmodat, AT, "file", 0640))
DO(fchmodat2, syscall(__NR_fchmodat2, AT, "file", 0640, 0))
DO(fchown, fchown(HELD, getuid(), getgid()))
DO(fchownat, fchownat(AT, "file", getuid(), getgid(), 0))
DO(utimensat, syscall(SYS_utimensat, AT, "file", instants, 0))
DO(chroot, chroot("dir"))
DO(chdir, chdir("dir"))
DO(statfs, statfs("file", &sfs))
DO(statx, syscall(SYS_statx, AT, "file", 0, STATX_BASIC_STATS, room))
DO(newfstatat, syscall(SYS_newfstatat, AT, "file", &st, 0))
DO(readlinkat, syscall(SYS_readlinkat, AT, "link", room, sizeof(room)))
DO(faccessat, syscall(SYS_faccessat, AT, "file", F_OK))
DO(faccessat2, syscall(SYS_faccessat2, AT, "file", F_OK, 0))
DO(getdents64, try_listing(SYS_getdents64))
DO(inotify_add_watch, inotify_add_watch(inotify_init1(0), "file", IN_OPEN))
DO(setxattr, syscall(SYS_setxattr, "file", key, "x", 1, 0))
DO(lsetxattr, syscall(SYS_lsetxattr, "file", key, "x", 1, 0))
DO(fsetxattr, syscall(SYS_fsetxattr, HELD, key, "x", 1, 0))
DO(removexattr, syscall(SYS_removexattr, "marked", key))
DO(lremovexattr, syscall(SYS_lremovexattr, "marked", key))
DO(fremovexattr, syscall(SYS_fremovexattr, HELD, "user.held"))
DO(removexattrat, syscall(__NR_removexattrat, AT, "marked", 0, key))
DO(getxattr, syscall(SYS_getxattr, "marked", key, room, sizeof(room)))
DO(lgetxattr, syscall(SYS_lgetxattr, "marked", key, room, sizeof(room)))
DO(listxattr, syscall(SYS_listxattr, "marked", room, sizeof(room)))
DO(llistxattr, syscall(SYS_llistxattr, "marked", room, sizeof(room)))
DO(listxattrat, syscall(__NR_listxattrat, AT, "marked", 0, room, sizeof(room)))
DO(execve, try_exec(false))
DO(execveat, try_exec(true))
DO(file_setattr, try_file_attr(true))
DO(file_getattr, try_file_attr(false))
DO(sendmsg, datagram(false, 0, SOCK_DGRAM, "UDP"))
DO(sendmmsg, datagram(true, 0, SOCK_DGRAM, "UDP"))
DO(sendmsg_fastopen, datagram(false, MSG_FASTOPEN, SOCK_STREAM, "PORT"))
DO(kill, kill(outside(), 0))
DO(tkill, syscall(SYS_tkill, outside(), 0))
DO(tgkill, syscall(SYS_tgkill, outside(), outside(), 0))
DO(pidfd_send_signal, syscall(SYS_pidfd_send_signal, (int)syscall(SYS_pidfd_open, outside(), 0), 0, NULL, 0))
DO(rt_sigqueueinfo, sigqueue(outside(), 0, (union sigval){ 0 }))

static long try_rt_tgsigqueueinfo(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	info.si_pid = getpid();
	info.si_uid = getuid();
	return syscall(SYS_rt_tgsigqueueinfo, outside(), outside(), 0, &info);
}

struct attempt {
	const char *name;
	long nr;
	long (*run)(void);
	const char *why; /* why the floor cannot refuse it; NULL: it must */
	int abi;         /* from which on it must all the same; 0: from none */
};

#define FLOOR(name) { #name, __NR_##name, try_##name, NULL, 0 }
#define OPEN(name, why) { #name, __NR_##name, try_##name, why, 0 }
#define FLOOR_AS(name, nr) { #name, __NR_##nr, try_##name, NULL, 0 }
#define OPEN_AS(name, nr, why) { #name, __NR_##nr, try_##name, why, 0 }
#define OPEN_BEFORE(abi, name, nr, why) { #name, __NR_##nr, try_##name, why, abi }
#define METADATA "Landlock does not know modes, owners, times and attributes"
#define LOOKING "Landlock does not know looking at names"
#define UDP "Landlock does not know UDP before ABI 10"

static const struct attempt attempts[] = {
#ifdef __x86_64__
	FLOOR(open), FLOOR(creat), FLOOR(rename), FLOOR(mkdir), FLOOR(rmdir), FLOOR(link), FLOOR(unlink), FLOOR(symlink), FLOOR(mknod),
	OPEN(chmod, METADATA), OPEN(chown, METADATA), OPEN(lchown, METADATA), OPEN(utime, METADATA), OPEN(utimes, METADATA),
	OPEN(futimesat, METADATA), OPEN(stat, LOOKING), OPEN(lstat, LOOKING), OPEN(access, LOOKING), FLOOR(getdents), OPEN(readlink, LOOKING),
#endif
	FLOOR(openat), FLOOR(openat2), FLOOR(truncate), FLOOR(mkdirat), FLOOR(mknodat), FLOOR(unlinkat), FLOOR(renameat), FLOOR(renameat2),
	FLOOR(linkat), FLOOR(symlinkat), FLOOR(execve), FLOOR(execveat), FLOOR(connect), FLOOR(bind),
	FLOOR_AS(connect_abstract, connect), FLOOR_AS(bind_unix, bind), FLOOR(getdents64),
	FLOOR(kill), FLOOR(tkill), FLOOR(tgkill), FLOOR(rt_sigqueueinfo), FLOOR(rt_tgsigqueueinfo), FLOOR(pidfd_send_signal),
	OPEN_BEFORE(9, connect_unix, connect, "Landlock does not know sockets with a path name before ABI 9"),
	OPEN_AS(sendmsg_fastopen, sendmsg, "Landlock does not see a connection that data opens"),
	OPEN(listen, "Landlock does not see the port that the kernel picks"),
	OPEN_BEFORE(10, sendto, sendto, UDP), OPEN_BEFORE(10, sendmsg, sendmsg, UDP), OPEN_BEFORE(10, sendmmsg, sendmmsg, UDP),
	FLOOR(mq_open), OPEN(mq_unlink, "Landlock is not asked when a message queue is removed"),
	OPEN(fchmod, METADATA), OPEN(fchmodat, METADATA), OPEN(fchmodat2, METADATA), OPEN(fchown, METADATA), OPEN(fchownat, METADATA),
	OPEN(utimensat, METADATA), OPEN(setxattr, METADATA), OPEN(lsetxattr, METADATA), OPEN(fsetxattr, METADATA), OPEN(setxattrat, METADATA),
	OPEN(removexattr, METADATA), OPEN(lremovexattr, METADATA), OPEN(fremovexattr, METADATA), OPEN(removexattrat, METADATA),
	OPEN(file_setattr, METADATA), OPEN(statx, LOOKING), OPEN(newfstatat, LOOKING), OPEN(readlinkat, LOOKING), OPEN(faccessat, LOOKING),
	OPEN(faccessat2, LOOKING), OPEN(statfs, LOOKING), OPEN(chdir, LOOKING), OPEN(inotify_add_watch, LOOKING), OPEN(getxattr, LOOKING),
	OPEN(lgetxattr, LOOKING), OPEN(listxattr, LOOKING), OPEN(llistxattr, LOOKING), OPEN(getxattrat, LOOKING), OPEN(listxattrat, LOOKING),
	OPEN(file_getattr, LOOKING),
	OPEN(chroot, "Landlock holds whatever the root is"),
};

#define N (sizeof(attempts) / sizeof(attempts[0]))

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, 1);
		for (size_t i = 0; i < N; i++) {
			const struct attempt *a = &attempts[i];
			printf("%s %ld %s\n", a->name, a->nr, a->why && (!a->abi || abi < a->abi) ? a->why : "floor");
		}
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "queue") == 0)
		return mq_open(getenv("QUEUE"), O_RDWR | O_CREAT, 0600, NULL) < 0;
	if (argc == 2 && strcmp(argv[1], "unqueue") == 0)
		return mq_unlink(getenv("QUEUE")) < 0;
	for (size_t i = 0; argc == 3 && i < N; i++) {
		if (strcmp(attempts[i].name, argv[2]) != 0)
			continue;
		if (attempts[i].run() >= 0)
			return 0;
		int error = errno;
		printf("%s\n", strerrorname_np(error));
		return error == ENOSYS || error == EOPNOTSUPP ? 77 : 1;
	}
	return 2;
}
