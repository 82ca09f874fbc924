/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

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

int inside_call(struct inside *in, long nr, const uint64_t arg[6], int64_t *result)
{
	exec_regs regs = in->before;
	int sig, done = 0;

	regs_call(&regs, nr, arg);
	if (trace_set_regs(in->tid, &regs) < 0)
		return -ESRCH;
	for (int i = 0; i < STOPS_MOST && done < 2; i++) {
		int rc = trace_to_call(&in->tid, &sig);
		if (rc == -ESRCH)
			return rc;
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

int inside_put(struct inside *in, const void *bytes, size_t len, uint64_t *addr)
{
	if (len > BELOW_STACK)
		return -E2BIG;
	*addr = (REGS_SP(&in->before) - REGS_RED_ZONE - len) & ~(uint64_t)15;
	return trace_write(in->tid, *addr, bytes, len);
}

int inside_end(struct job *j, struct inside *in, int64_t result)
{
	if (j->verdict.log != LOG_NONE && walk_record(j, result) < 0)
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
