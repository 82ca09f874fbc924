/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/exec_trace.h"
#include "supervisor/memory.h"
#include "supervisor/passing.h"
#include "supervisor/reply.h"
#include "supervisor/walk.h"
#include "supervisor/worker.h"

#define STOPS_MOST 64
#define BELOW_STACK 512 /* Go's stacks are small */

/* Delivered when the caller goes on. The same signal twice is once, as in the kernel. */
static void hold(struct inside *in, int sig)
{
	for (unsigned i = 0; i < in->n_held; i++) {
		if (in->held[i] == sig)
			return;
	}
	if (sig && in->n_held < INSIDE_SIGNALS)
		in->held[in->n_held++] = sig;
}

int inside_begin(struct job *j, struct inside *in, int fd, bool cloexec, int *number)
{
	int sig;

	*in = (struct inside){ .tid = (pid_t)j->notif.pid };
	worker_blocking(j->worker);
	int rc = seize_caller(j, trace_seize);
	if (rc == -EAGAIN) {
		(void)reply_again(j);
		rc = -ESRCH;
	}
	if (rc < 0 && rc != -ESRCH)
		return -EPERM;
	if (rc < 0 && fd >= 0)
		close(fd);
	if (rc < 0)
		return rc;
	if (fd >= 0) {
		j->reply.fd = fd;
		j->reply.fd_flags = cloexec ? O_CLOEXEC : 0;
		*number = reply_addfd(j);
	}
	if (reply_send(j, 0, TRACE_RESTART, false) < 0) {
		trace_abandon(in->tid);
		return -ESRCH;
	}
	if (trace_wait(&in->tid, &sig) != TRACE_BACK)
		return -ESRCH;
	hold(in, sig);
	if (trace_regs(in->tid, &in->before) == 0)
		return 0;
	trace_abandon(in->tid);
	return -ESRCH;
}

/*
 * Whether the thread, which stopped, still has to make call NR as it was put into its registers, or is on its way into it (IN_CALL). Else it runs code
 * of its own: another thread has written over the instruction, or had the kernel hand the call to a handler (PR_SET_SYSCALL_USER_DISPATCH).
 */
static bool on_its_way(const struct inside *in, const exec_regs *put, long nr, bool in_call)
{
	exec_regs now;

	if (trace_regs(in->tid, &now) < 0)
		return true; /* the next request says so */
	return in_call ? regs_number(&now) == nr && REGS_IP(&now) == REGS_IP(&in->before) : REGS_IP(&now) == REGS_IP(put);
}

/* Nothing of what it does meanwhile counts: a call of its own that it is on its way into (IN_CALL) is none. */
static int astray(struct inside *in, bool in_call, int64_t *result)
{
	static const uint64_t none[6];
	exec_regs regs = in->before;
	int sig;

	*result = -EAGAIN;
	if (!in_call)
		return 0;
	regs_exchange(&regs, -1, none);
	if (trace_set_regs(in->tid, &regs) < 0)
		return -ESRCH;
	return trace_to_call(&in->tid, &sig) == -ESRCH ? -ESRCH : 0;
}

static int call(struct inside *in, long nr, const uint64_t arg[6], int64_t *result)
{
	exec_regs put = in->before, regs;
	int sig, done = 0;

	regs_call(&put, nr, arg);
	if (trace_set_regs(in->tid, &put) < 0)
		return -ESRCH;
	for (int i = 0; i < STOPS_MOST && done < 2; i++) {
		int rc = trace_to_call(&in->tid, &sig);
		if (rc == -ESRCH)
			return rc;
		if (!done && !on_its_way(in, &put, nr, rc == 0))
			return astray(in, rc == 0, result);
		if (rc == 0)
			done++;
		else
			hold(in, sig);
	}
	if (trace_regs(in->tid, &regs) < 0)
		return -ESRCH;
	*result = done < 2 ? -EAGAIN : REGS_RESULT(&regs);
	return 0;
}

/* One that was killed in its stop is usher's to collect before it is its parent's. */
int inside_call(struct inside *in, long nr, const uint64_t arg[6], int64_t *result)
{
	int rc = call(in, nr, arg, result);

	if (rc == -ESRCH)
		trace_abandon(in->tid);
	return rc;
}

int inside_put(struct inside *in, const void *bytes, size_t len, uint64_t *addr)
{
	if (len > BELOW_STACK)
		return -E2BIG;
	*addr = (REGS_SP(&in->before) - REGS_RED_ZONE - len) & ~(uint64_t)15;
	return trace_write(in->tid, *addr, bytes, len);
}

/* What the caller receives a descriptor with: in its memory, so that others can spoil it. They get nothing else by that. */
struct letter {
	struct msghdr head;
	struct iovec part;
	char byte[8];
	union {
		struct cmsghdr first;
		char bytes[CMSG_SPACE(sizeof(int))];
	} rights;
};

static void write_letter(struct letter *l, uint64_t at)
{
	static const int none = -1;

	memset(l, 0, sizeof(*l));
	l->part = (struct iovec){ (void *)(uintptr_t)(at + offsetof(struct letter, byte)), 1 };
	l->head.msg_iov = (void *)(uintptr_t)(at + offsetof(struct letter, part));
	l->head.msg_iovlen = 1;
	l->head.msg_control = (void *)(uintptr_t)(at + offsetof(struct letter, rights));
	l->head.msg_controllen = sizeof(l->rights);
	memcpy(l->rights.bytes + CMSG_LEN(0), &none, sizeof(none));
}

/* A socket (yours) in which FD lies, which is closed. A negative errno. */
static int posted(int fd)
{
	int mine CLEANUP_FD = fd, to CLEANUP_FD = -1, from CLEANUP_FD = -1, pair[2];
	struct letter l;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	to = pair[0];
	from = pair[1];
	write_letter(&l, (uint64_t)(uintptr_t)&l);
	l.rights.first = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(mine)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&l.rights.first), &mine, sizeof(mine));
	return sendmsg(from, &l.head, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? steal_fd(&to) : -errno;
}

/* The caller receives what lies in its socket BOX. *RESULT is the number, or a negative errno. */
static int receive(struct inside *in, int box, int64_t *result)
{
	struct letter l = { .byte = "" };
	uint64_t at;
	int number;

	*result = inside_put(in, &l, sizeof(l), &at);
	if (*result == 0) {
		write_letter(&l, at);
		*result = inside_put(in, &l, sizeof(l), &at);
	}
	if (*result < 0)
		return 0;
	const uint64_t arg[6] = { (uint64_t)box, at, MSG_DONTWAIT | MSG_CMSG_CLOEXEC };
	int rc = inside_call(in, SYS_recvmsg, arg, result);
	if (rc < 0 || *result < 0)
		return rc;
	if (memory_read(in->tid, at + offsetof(struct letter, rights) + CMSG_LEN(0), &number, sizeof(number)) < 0)
		number = -1;
	*result = number < 0 ? -EMFILE : number;
	return 0;
}

/* What the caller received as NUMBER takes the place of the socket BOX. */
static int put_in_place(struct inside *in, int64_t number, int box, bool cloexec, int64_t *result)
{
	const uint64_t dup_arg[6] = { (uint64_t)number, (uint64_t)box, cloexec ? O_CLOEXEC : 0 };
	const uint64_t close_arg[6] = { (uint64_t)number };
	int64_t ignored;

	int rc = inside_call(in, SYS_dup3, dup_arg, result);
	return rc < 0 ? rc : inside_call(in, SYS_close, close_arg, &ignored);
}

int inside_begin_path(struct job *j, struct inside *in, int fd, bool cloexec, int *number)
{
	int box = posted(fd), there;
	int64_t result, ignored;

	if (box < 0)
		return -EPERM;
	int rc = inside_begin(j, in, box, true, &there);
	if (rc == -EPERM)
		close(box);
	*number = there;
	if (rc < 0 || there < 0)
		return rc;
	rc = receive(in, there, &result);
	if (rc == 0 && result >= 0)
		rc = put_in_place(in, result, there, cloexec, &result);
	*number = (int)result;
	if (rc < 0 || result >= 0)
		return rc;
	const uint64_t arg[6] = { (uint64_t)there };
	return inside_call(in, SYS_close, arg, &ignored);
}

int inside_end(struct job *j, struct inside *in, int64_t result)
{
	return inside_end_told(j, in, result, result);
}

int inside_end_told(struct job *j, struct inside *in, int64_t result, int64_t told)
{
	if (j->verdict.log != LOG_NONE && walk_record(j, told) < 0)
		result = -EIO;
	REGS_SET_RESULT(&in->before, result);
	(void)trace_set_regs(in->tid, &in->before);
	for (unsigned i = 0; i < in->n_held; i++)
		(void)syscall(SYS_tkill, in->tid, in->held[i]);
	trace_release(in->tid, 0);
	return inside_gone(j);
}

int inside_gone(struct job *j)
{
	j->reply.kind = REPLY_GONE;
	return PERFORM_DONE;
}
