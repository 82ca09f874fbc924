/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bare notifier: the floor that usher is measured against. Starts a command under a filter that
 * notifies of some calls, and answers them with the least work there is: no policy, no
 * journal, no resolution of names. It protects nothing.
 *
 *   bare [continue|inject] [-c] [-f] [-m] [-s] [-x] [-t] [-n THREADS] CMD...
 *
 * continue: every call is let go on.  inject: opens are done here and the descriptor is put
 * into the caller (ADDFD, close, SEND); connects, mkdir, rmdir, rename, unlink, stat
 * and changes of metadata by descriptor are done here too.
 * -c traps connect, -f mkdir/rmdir/rename/unlink, -m fchmod/fchown/utimensat, -s stat, -x execve. Calls it cannot do itself go on.
 * -t also stops the new program before its first instruction, looks at nothing, and lets it go.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

struct bare {
	int listener;
	bool inject, stops;
};

struct traps {
	bool connects, files, metadata, stats, execs;
};

static void die(const char *what)
{
	perror(what);
	exit(125);
}

static int install(const struct traps *t)
{
	static const int open_calls[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(creat)};
	static const int file_calls[] = {SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(unlink), SCMP_SYS(unlinkat),
					 SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2)};
	static const int metadata_calls[] = {SCMP_SYS(fchmod), SCMP_SYS(fchown), SCMP_SYS(utimensat)};
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	struct sock_filter code[512];
	struct sock_fprog prog = {.filter = code};
	int fd = memfd_create("filter", MFD_CLOEXEC);

	if (!ctx || fd < 0)
		die("seccomp_init");
	seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	for (size_t i = 0; i < sizeof(open_calls) / sizeof(*open_calls); i++)
		seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, open_calls[i], 0);
	for (size_t i = 0; t->files && i < sizeof(file_calls) / sizeof(*file_calls); i++)
		seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, file_calls[i], 0);
	for (size_t i = 0; t->metadata && i < sizeof(metadata_calls) / sizeof(*metadata_calls); i++)
		seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, metadata_calls[i], 0);
	if (t->stats)
		seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, SCMP_SYS(newfstatat), 0);
	if (t->connects)
		seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, SCMP_SYS(connect), 0);
	if (t->execs)
		seccomp_rule_add(ctx, SCMP_ACT_NOTIFY, SCMP_SYS(execve), 0);
	if (seccomp_export_bpf(ctx, fd) < 0)
		die("seccomp_export_bpf");
	ssize_t n = pread(fd, code, sizeof(code), 0);
	prog.len = (unsigned short)(n / (ssize_t)sizeof(code[0]));
	close(fd);
	seccomp_release(ctx);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &prog);
}

static bool read_string(pid_t pid, uint64_t from, char *out, size_t cap)
{
	/* Up to the end of the page first, then the rest: a name may end where its mapping does. */
	size_t n = 4096 - (from & 4095);
	struct iovec local = {out, n < cap ? n : cap};
	struct iovec remote = {(void *)from, local.iov_len};
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (got <= 0)
		return false;
	if (memchr(out, 0, (size_t)got))
		return true;
	local = (struct iovec){out + got, cap - (size_t)got};
	remote = (struct iovec){(char *)from + got, local.iov_len};
	ssize_t more = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return more > 0 && memchr(out + got, 0, (size_t)more);
}

/* The folder a relative name starts from, in *own when it was opened here. */
static int base_of(pid_t pid, int dirfd, const char *path, int *own)
{
	char link[64];

	*own = -1;
	if (path[0] == '/')
		return AT_FDCWD;
	if (dirfd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	else
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, dirfd);
	*own = open(link, O_PATH | O_CLOEXEC);
	return *own;
}

static void close_own(int fd)
{
	if (fd >= 0)
		close(fd);
}

struct open_args {
	int dirfd;
	uint64_t path;
	int flags;
	mode_t mode;
};

static bool open_args(const struct seccomp_data *d, struct open_args *out)
{
	switch (d->nr) {
	case SYS_openat:
		*out = (struct open_args){(int)d->args[0], d->args[1], (int)d->args[2], (mode_t)d->args[3]};
		return true;
#ifdef SYS_open
	case SYS_open:
		*out = (struct open_args){AT_FDCWD, d->args[0], (int)d->args[1], (mode_t)d->args[2]};
		return true;
	case SYS_creat:
		*out = (struct open_args){AT_FDCWD, d->args[0], O_CREAT | O_WRONLY | O_TRUNC, (mode_t)d->args[1]};
		return true;
#endif
	default:
		return false;
	}
}

/* Answers an open by doing it. False: let it go on. */
static bool do_open(const struct bare *b, const struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	char path[4096];
	struct open_args a;
	int own;

	if (!open_args(&req->data, &a) || (a.flags & O_PATH) || !read_string((pid_t)req->pid, a.path, path, sizeof(path)))
		return false;
	/* These mean the caller, and may block: not this program's business. */
	if (strncmp(path, "/proc/", 6) == 0 || (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0))
		return false;
	int base = base_of((pid_t)req->pid, a.dirfd, path, &own);
	if (ioctl(b->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &req->id) < 0) {
		close_own(own);
		return false;
	}
	int fd = openat(base, path, a.flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, a.mode);
	int err = errno;
	close_own(own);
	if (fd < 0) {
		resp->error = -err;
		return true;
	}
	if (!(a.flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, a.flags & ~O_NONBLOCK & (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME));
	struct seccomp_notif_addfd add = {.id = req->id, .srcfd = (uint32_t)fd, .newfd_flags = (uint32_t)(a.flags & O_CLOEXEC)};
	int got = ioctl(b->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	if (got < 0)
		resp->error = -errno;
	else
		resp->val = got;
	close(fd);
	return true;
}

/* The caller's descriptor FD, as one of this program. The number PID is a thread's; before Linux 6.9 only a process's first thread has a pidfd. */
static int fetch(pid_t pid, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, PIDFD_THREAD);
	if (pidfd < 0)
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int own = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	close_own(pidfd);
	return own;
}

static bool do_connect(const struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	struct sockaddr_storage addr;
	size_t len = req->data.args[2];
	struct iovec local = {&addr, len}, remote = {(void *)req->data.args[1], len};

	if (len > sizeof(addr) || process_vm_readv((pid_t)req->pid, &local, 1, &remote, 1, 0) != (ssize_t)len)
		return false;
	int sock = fetch((pid_t)req->pid, (int)req->data.args[0]);
	bool done = sock >= 0 && !(addr.ss_family == AF_UNIX && ((char *)&addr)[2] != '/' && ((char *)&addr)[2]);
	if (done && connect(sock, (struct sockaddr *)&addr, (socklen_t)len) < 0)
		resp->error = -errno;
	close_own(sock);
	return done;
}

/* Answers a change of metadata by descriptor by doing it. False: let it go on. */
static bool do_metadata(const struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	const struct seccomp_data *d = &req->data;
	struct timespec times[2];
	struct iovec local = {times, sizeof(times)}, remote = {(void *)d->args[2], sizeof(times)};
	bool timed = d->nr == SYS_utimensat;

	if (timed && (d->args[1] || !d->args[2] || process_vm_readv((pid_t)req->pid, &local, 1, &remote, 1, 0) != (ssize_t)sizeof(times)))
		return false;
	int fd = fetch((pid_t)req->pid, (int)d->args[0]);
	if (fd < 0)
		return false;
	int ret = timed ? futimens(fd, times) : d->nr == SYS_fchmod ? fchmod(fd, (mode_t)d->args[1]) : fchown(fd, (uid_t)d->args[1], (gid_t)d->args[2]);
	if (ret < 0)
		resp->error = -errno;
	close(fd);
	return true;
}

static long file_call(const struct seccomp_data *d, int base, const char *path)
{
	switch (d->nr) {
	case SYS_mkdirat:
		return mkdirat(base, path, (mode_t)d->args[2]);
	case SYS_unlinkat:
		return unlinkat(base, path, (int)d->args[2]);
#ifdef SYS_mkdir
	case SYS_mkdir:
		return mkdirat(base, path, (mode_t)d->args[1]);
	case SYS_rmdir:
		return unlinkat(base, path, AT_REMOVEDIR);
	case SYS_unlink:
		return unlinkat(base, path, 0);
#endif
	default:
		errno = ENOSYS;
		return -1;
	}
}

static bool do_rename(const struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	const struct seccomp_data *d = &req->data;
	char from[4096], to[4096];
	bool at = d->nr != SYS_rename;
	int own1, own2;

	if (!read_string((pid_t)req->pid, d->args[at ? 1 : 0], from, sizeof(from)) ||
	    !read_string((pid_t)req->pid, d->args[at ? 3 : 1], to, sizeof(to)))
		return false;
	int base1 = base_of((pid_t)req->pid, at ? (int)d->args[0] : AT_FDCWD, from, &own1);
	int base2 = base_of((pid_t)req->pid, at ? (int)d->args[2] : AT_FDCWD, to, &own2);
	if (syscall(SYS_renameat2, base1, from, base2, to, d->nr == SYS_renameat2 ? d->args[4] : 0) < 0)
		resp->error = -errno;
	close_own(own1);
	close_own(own2);
	return true;
}

static bool do_file(const struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	const struct seccomp_data *d = &req->data;
	char path[4096];
	int own;

	if (d->nr == SYS_rename || d->nr == SYS_renameat || d->nr == SYS_renameat2)
		return do_rename(req, resp);
	bool at = d->nr == SYS_mkdirat || d->nr == SYS_unlinkat;
	if (!read_string((pid_t)req->pid, d->args[at], path, sizeof(path)))
		return false;
	int base = base_of((pid_t)req->pid, at ? (int)d->args[0] : AT_FDCWD, path, &own);
	if (file_call(d, base, path) < 0)
		resp->error = -errno;
	close_own(own);
	return true;
}

static bool do_stat(const struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	const struct seccomp_data *d = &req->data;
	char path[4096];
	struct stat st;
	struct iovec local = {&st, sizeof(st)}, remote = {(void *)d->args[2], sizeof(st)};
	int own;

	if (!read_string((pid_t)req->pid, d->args[1], path, sizeof(path)) || !path[0])
		return false;
	int base = base_of((pid_t)req->pid, (int)d->args[0], path, &own);
	if (fstatat(base, path, &st, (int)d->args[3]) < 0)
		resp->error = -errno;
	else if (process_vm_writev((pid_t)req->pid, &local, 1, &remote, 1, 0) != (ssize_t)sizeof(st))
		resp->error = -EFAULT;
	close_own(own);
	return true;
}

static bool perform(const struct bare *b, const struct seccomp_notif *req, struct seccomp_notif_resp *resp)
{
	switch (req->data.nr) {
	case SYS_execve:
		return false;
	case SYS_connect:
		return do_connect(req, resp);
	case SYS_newfstatat:
		return do_stat(req, resp);
	case SYS_fchmod:
	case SYS_fchown:
	case SYS_utimensat:
		return do_metadata(req, resp);
	case SYS_openat:
#ifdef SYS_open
	case SYS_open:
	case SYS_creat:
#endif
		return do_open(b, req, resp);
	default:
		return do_file(req, resp);
	}
}

/* Answers an exec, with a stop where the new program begins, or where the call failed. */
static void stop_exec(const struct bare *b, const struct seccomp_notif *req)
{
	struct seccomp_notif_resp resp = {.id = req->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	pid_t pid = (pid_t)req->pid;
	bool held = ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) == 0;
	int status;

	if (held)
		ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	ioctl(b->listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	if (!held)
		return;
	pid = waitpid(-1, &status, __WALL | __WNOTHREAD); /* a thread that execs comes back under its leader's number */
	if (pid > 0 && WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, pid, 0, status >> 16 ? 0 : WSTOPSIG(status));
}

static void *serve(void *context)
{
	const struct bare *b = context;
	struct seccomp_notif req;
	struct seccomp_notif_resp resp;

	for (;;) {
		memset(&req, 0, sizeof(req));
		if (ioctl(b->listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			return NULL;
		}
		if (b->stops && req.data.nr == SYS_execve) {
			stop_exec(b, &req);
			continue;
		}
		resp = (struct seccomp_notif_resp){.id = req.id};
		if (!b->inject || !perform(b, &req, &resp))
			resp = (struct seccomp_notif_resp){.id = req.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		ioctl(b->listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
}

/* The child installs the filter; the descriptor is fetched by its number, told through shared memory of a pipe. */
static pid_t start(char **argv, const struct traps *traps, int *listener)
{
	int pipes[2][2];
	int number;
	char go = 0;

	if (pipe2(pipes[0], O_CLOEXEC) < 0 || pipe2(pipes[1], O_CLOEXEC) < 0)
		die("pipe");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		number = install(traps);
		if (number < 0)
			die("seccomp");
		if (write(pipes[0][1], &number, sizeof(number)) != sizeof(number) || read(pipes[1][0], &go, 1) != 1)
			_exit(125);
		close(number);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (read(pipes[0][0], &number, sizeof(number)) != sizeof(number))
		exit(125);
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	*listener = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	if (*listener < 0)
		die("pidfd_getfd");
	uint64_t sync = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
	ioctl(*listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, sync);
	if (write(pipes[1][1], "g", 1) != 1)
		die("write");
	close(pidfd);
	return pid;
}

/* A wait for the child itself would take its stops from the thread that holds it. */
static void await_end(pid_t pid)
{
	struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};

	while (poll(&ended, 1, -1) < 0)
		if (errno != EINTR)
			die("poll");
	close_own(ended.fd);
}

int main(int argc, char **argv)
{
	struct bare b = {.inject = argc > 1 && strcmp(argv[1], "inject") == 0};
	struct traps traps = {0};
	int status, opt, threads = 1;
	pthread_t t;

	if (argc < 3)
		return fprintf(stderr, "usage: bare continue|inject [-c] [-f] [-m] [-s] [-x] [-t] [-n THREADS] CMD...\n"), 125;
	optind = 2;
	while ((opt = getopt(argc, argv, "+cfmsxtn:")) != -1) {
		switch (opt) {
		case 'c':
			traps.connects = true;
			break;
		case 'f':
			traps.files = true;
			break;
		case 'm':
			traps.metadata = true;
			break;
		case 's':
			traps.stats = true;
			break;
		case 'x':
			traps.execs = true;
			break;
		case 't':
			traps.execs = b.stops = true;
			break;
		case 'n':
			threads = atoi(optarg);
			break;
		default:
			return 125;
		}
	}
	umask(0); /* the caller's umask is not known here; creation is for measuring only */
	pid_t pid = start(argv + optind, &traps, &b.listener);
	umask(022);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t, NULL, serve, &b))
			die("pthread_create");
	await_end(pid);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
