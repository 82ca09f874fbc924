/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/filter.h"
#include "supervisor/kernel.h"

#define MAGIC 4711
#define PATIENCE_MS 2000

struct hello {
	int error;
	int listener;
	const void *address;
};

/* Sends HELLO with the listener itself; the filter lets messages pass. */
static bool introduce(int out, struct hello *hello)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { hello, sizeof(*hello) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (hello->listener >= 0) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.head), &hello->listener, sizeof(int));
	}
	return sendmsg(out, &m, 0) == (ssize_t)sizeof(*hello);
}

/* Returns the listener, or -1. */
static int acquaint(int in, struct hello *hello)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { hello, sizeof(*hello) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room) };
	int fd = -1;

	hello->error = ECANCELED;
	if (recvmsg(in, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(*hello))
		return -1;
	if (CMSG_FIRSTHDR(&m) && control.head.cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}

/* The child makes one call that nobody but the parent can answer. */
static _Noreturn void child(int out)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	struct hello hello = { .listener = -1, .address = code };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hello.error = -filter_install(&program, &hello.listener);
	if (!introduce(out, &hello) || hello.error)
		_exit(1);
	_exit(syscall(__NR_getppid) == MAGIC ? 0 : 1);
}

static int failed(long rc)
{
	return rc < 0 ? errno : 0;
}

static int read_status(pid_t pid)
{
	char name[64], byte;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	CLEANUP_FD int fd = open(name, O_RDONLY | O_CLOEXEC);
	return failed(fd < 0 ? fd : read(fd, &byte, 1));
}

static int read_memory(pid_t pid, const void *address)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { (void *)(uintptr_t)address, 1 };

	return failed(process_vm_readv(pid, &here, 1, &there, 1, 0));
}

static int put_descriptor(int listener, uint64_t id)
{
	struct seccomp_notif_addfd add = { .id = id, .srcfd = STDERR_FILENO, .newfd_flags = O_CLOEXEC };

	return failed(ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add));
}

static int seize(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return errno;
	/* A running tracee is let go by an interrupt first; the child is killed in the end either way. */
	return failed(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
}

static void converse(pid_t pid, int listener, struct selftest *t)
{
	struct pollfd wait = { .fd = listener, .events = POLLIN };
	struct seccomp_notif notif = { 0 };
	struct seccomp_notif_resp answer = { .val = MAGIC };

	t->sync_wake = failed(ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP));
	t->receive = poll(&wait, 1, PATIENCE_MS) == 1 ? failed(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notif)) : ETIMEDOUT;
	if (t->receive)
		return;
	t->addfd = put_descriptor(listener, notif.id);
	answer.id = notif.id;
	t->answer = failed(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
}

static void examine(pid_t pid, int in, struct selftest *t)
{
	struct hello hello;
	struct pollfd wait = { .fd = in, .events = POLLIN };
	int status;

	if (poll(&wait, 1, PATIENCE_MS) != 1)
		return;
	CLEANUP_FD int listener = acquaint(in, &hello);
	t->filter = hello.error;
	if (hello.error || listener < 0)
		return;
	t->read_proc = read_status(pid);
	t->read_memory = read_memory(pid, hello.address);
	CLEANUP_FD int pidfd = (int)syscall(__NR_pidfd_open, pid, 0);
	CLEANUP_FD int taken = pidfd < 0 ? -1 : (int)syscall(__NR_pidfd_getfd, pidfd, hello.listener, 0);
	t->getfd = taken < 0 ? errno : 0;
	converse(pid, listener, t);
	if (t->answer == 0 && (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0))
		t->answer = EBADMSG;
}

static pid_t start(int pair[2], void (*body)(int))
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0)
		body(pair[1]);
	close(pair[1]);
	return pid;
}

static void finish(pid_t pid, int in)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) == pid)
		;
	close(in);
}

static void sleeper(int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (write(out, "", 1) == 1)
		pause();
	_exit(0);
}

int selftest_run(struct selftest *out)
{
	int pair[2];
	char byte;

	*out = (struct selftest){ ECANCELED, ECANCELED, ECANCELED, ECANCELED, ECANCELED, ECANCELED, ECANCELED, ECANCELED, ECANCELED };
	pid_t pid = start(pair, child);
	if (pid < 0)
		return -errno;
	examine(pid, pair[0], out);
	finish(pid, pair[0]);
	pid = start(pair, sleeper);
	if (pid < 0)
		return -errno;
	if (read(pair[0], &byte, 1) == 1)
		out->seize = seize(pid);
	finish(pid, pair[0]);
	return 0;
}
