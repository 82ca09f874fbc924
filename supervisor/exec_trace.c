/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupt is sent while the thread still waits for its answer: the wait is killable only, so the thread stays in
 * it, runs the call once it is answered, and then stops: at PTRACE_EVENT_EXEC inside the call when it succeeds,
 * else before it returns to user space. Either way there is one stop, and nobody polls.
 *
 * MUST: whatever was seized is released, killed or seen to end before its function returns.
 */
#include "supervisor/exec_trace.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/memory.h"

int trace_interrupt(pid_t tid)
{
	return ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0 ? -errno : 0;
}

int trace_seize_alone(pid_t tid)
{
	return ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0 ? -errno : 0;
}

int trace_seize(pid_t tid)
{
	int rc, sig;

	while ((rc = trace_seize_alone(tid)) == -EINTR) {
	}
	if (rc < 0)
		return rc;
	rc = trace_interrupt(tid);
	if (rc == -ESRCH)
		(void)trace_wait_for(tid, &sig); /* it ended in between: its zombie is ours to collect */
	else if (rc < 0)
		trace_kill(tid);
	return rc < 0 ? -ESRCH : 0;
}

static enum trace_event event_of(int status, int *sig)
{
	if (!WIFSTOPPED(status))
		return TRACE_ENDED;
	if (status >> 16 == PTRACE_EVENT_EXEC)
		return TRACE_EXEC;
	if (status >> 16 == 0)
		*sig = WSTOPSIG(status);
	return TRACE_BACK;
}

/* WHICH as for waitpid(). 0: nothing has happened, or a signal interrupted. */
static int wait_once(pid_t which, int flags, pid_t *tid, int *sig)
{
	int status;
	pid_t got = waitpid(which, &status, __WALL | __WNOTHREAD | flags);

	*sig = 0;
	if (got == 0 || (got < 0 && errno == EINTR))
		return 0;
	if (got < 0)
		return TRACE_ENDED;
	*tid = got;
	return event_of(status, sig);
}

/* Not by number: a thread that execs comes back under its leader's. */
#define ANY_NUMBER (-1)

enum trace_event trace_wait(pid_t *tid, int *sig)
{
	int event;

	do
		event = wait_once(ANY_NUMBER, 0, tid, sig);
	while (!event);
	return (enum trace_event)event;
}

enum trace_event trace_wait_for(pid_t tid, int *sig)
{
	int event;

	do
		event = wait_once(tid, 0, &tid, sig);
	while (!event);
	return (enum trace_event)event;
}

int trace_poll(pid_t *tid, int *sig)
{
	return wait_once(ANY_NUMBER, WNOHANG, tid, sig);
}

void trace_release(pid_t tid, int sig)
{
	/*
	 * A stopped thread that is killed leaves its stop, and its zombie is the tracer's to collect: nobody
	 * else, not its parent and not a thread of its own that execs, gets on before.
	 */
	while (ptrace(PTRACE_DETACH, tid, 0, (long)sig) < 0) {
		if (errno != ESRCH) {
			trace_kill(tid); /* stopped for ever otherwise */
			return;
		}
		if (trace_wait_for(tid, &sig) == TRACE_ENDED)
			return;
	}
}

void trace_abandon(pid_t tid)
{
	int sig;

	if (trace_wait(&tid, &sig) != TRACE_ENDED)
		trace_release(tid, sig);
}

void trace_kill(pid_t pid)
{
	int sig;

	/* The number is safe: the process is our tracee and cannot be collected before we do. */
	kill(pid, SIGKILL);
	while (trace_wait_for(pid, &sig) != TRACE_ENDED)
		ptrace(PTRACE_CONT, pid, 0, (long)sig);
}

int trace_point(pid_t tid, uint64_t *ip, uint64_t *sp)
{
	struct __ptrace_syscall_info info;
	const size_t least = offsetof(struct __ptrace_syscall_info, stack_pointer) + sizeof(info.stack_pointer);
	long n = ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info);

	if (n < 0)
		return -errno;
	if ((size_t)n < least)
		return -EIO;
	*ip = info.instruction_pointer;
	*sp = info.stack_pointer;
	return 0;
}

int trace_regs(pid_t tid, exec_regs *out)
{
	struct iovec io = { out, sizeof(*out) };

	return ptrace(PTRACE_GETREGSET, tid, (long)NT_PRSTATUS, &io) < 0 ? -errno : 0;
}

int trace_set_regs(pid_t tid, const exec_regs *regs)
{
	exec_regs copy = *regs;
	struct iovec io = { &copy, sizeof(copy) };

	return ptrace(PTRACE_SETREGSET, tid, (long)NT_PRSTATUS, &io) < 0 ? -errno : 0;
}

int trace_write(pid_t tid, uint64_t addr, const void *bytes, size_t len)
{
	exec_regs held;
	CLEANUP_FD int fd = memory_open(tid);

	if (fd < 0)
		return fd;
	/* It could be told because TID is held now, so it was when its memory was opened. */
	return trace_regs(tid, &held) < 0 ? -ESRCH : memory_put(fd, addr, bytes, len);
}

int trace_continue(pid_t tid, int sig)
{
	return ptrace(PTRACE_CONT, tid, 0, (long)sig) < 0 ? -errno : 0;
}

#define SYSCALL_STOP (SIGTRAP | 0x80)

int trace_to_call(pid_t *tid, int *sig)
{
	if (ptrace(PTRACE_SYSCALL, *tid, 0, 0) < 0)
		return -ESRCH;
	enum trace_event event = trace_wait(tid, sig);
	if (event == TRACE_ENDED)
		return -ESRCH;
	if (event != TRACE_BACK || *sig != SYSCALL_STOP)
		return -EINTR;
	*sig = 0;
	return 0;
}

int trace_call(pid_t *tid, long nr, const uint64_t arg[6], exec_regs *before, int64_t *result, int *sig)
{
	exec_regs regs;

	int err = trace_regs(*tid, before);
	if (err)
		return err;
	regs = *before;
	regs_call(&regs, nr, arg);
	err = trace_set_regs(*tid, &regs);
	for (int stop = 0; !err && stop < 2; stop++)
		err = trace_to_call(tid, sig);
	if (err == -ESRCH)
		return err;
	if (!err)
		err = trace_regs(*tid, &regs);
	if (err)
		(void)trace_set_regs(*tid, before);
	else
		*result = REGS_RESULT(&regs);
	return err;
}

int trace_map(pid_t *tid, size_t len, uint64_t *addr, int *sig)
{
	const uint64_t arg[6] = { 0, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0 };
	exec_regs before;
	int64_t result;

	if (!REGS_CAN_CALL)
		return -E2BIG;
	int err = trace_call(tid, SYS_mmap, arg, &before, &result, sig);
	if (err)
		return err;
	if (result < 0 && result > -4096) {
		(void)trace_set_regs(*tid, &before);
		return (int)result;
	}
	*addr = (uint64_t)result;
	return 0;
}
