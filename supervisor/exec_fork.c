/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who forked whom: the caller is held by ptrace for the length of one fork, so that its child stops before its first
 * instruction. An orphan's parents cannot be asked for later.
 *
 * MUST: a child runs only when its record is in the table; nobody stays traced.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "supervisor/exec_trace.h"
#include "supervisor/limits.h"
#include "supervisor/passing.h"
#include "supervisor/patience.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/rows_exec.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

#define FORK_OPTIONS (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL)
#define LOOK_NS (20 * 1000) /* between two looks, */
#define LOOKS 100           /* so many of them before the caller is interrupted: a fork that failed stops nowhere */

/* Of who waits in a notification, for one fork: the child will stop before its first instruction. Returns as trace_seize(). */
static int seize_for_fork(pid_t tid)
{
	while (ptrace(PTRACE_SEIZE, tid, 0, FORK_OPTIONS) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* The next tracee that stopped or ended, *status as wait gives it; 0: none yet (with WNOHANG), -1: none is left. */
static pid_t next_event(int flags, int *status)
{
	pid_t got;

	do
		got = waitpid(-1, status, __WALL | __WNOTHREAD | flags);
	while (got < 0 && errno == EINTR);
	return got;
}

/* One that was killed in its stop cannot be detached: its end is the next event. Any other would stay stopped for ever. */
static void detach(pid_t tid, long sig)
{
	if (ptrace(PTRACE_DETACH, tid, 0, sig) < 0 && errno != ESRCH)
		kill(tid, SIGKILL);
}

/* Without a record it does not run. */
static void child_stopped(struct job *j, pid_t child)
{
	if (procs_born(j->session->procs, j->proc, child) < 0)
		kill(child, SIGKILL); /* its number is safe while it is our tracee */
	detach(child, 0);
}

/*
 * It has failed, or waits in another notification: the kernel breaks a fork off for a signal of the process, and where another thread takes that
 * the caller makes the call again without a stop. Whoever serves it there has to let it go.
 */
static void interrupt_caller(struct job *j, struct stopping *caller)
{
	worker_blocking(j->worker);
	(void)trace_interrupt(caller->tid);
	stopping_begin(&j->session->tracers, caller);
}

/* It stopped or ended. With the signal it was about to get, if that is what stopped it. */
static void caller_seen(struct job *j, struct stopping *caller, int status)
{
	stopping_end(&j->session->tracers, caller);
	if (WIFSTOPPED(status))
		detach(caller->tid, status >> 16 == 0 ? WSTOPSIG(status) : 0);
}

/*
 * The caller was seized so and answered. Puts the child into the table while that one is stopped, and lets both go. Returns when neither
 * is traced any more, at most some milliseconds after the call is over, or after the answer to the next one.
 */
static void follow_fork(struct job *j)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	struct stopping caller = { .tid = (pid_t)j->notif.pid };
	bool seen = false;
	int status, looks = 0;

	for (;;) {
		bool hurry = !seen && looks < LOOKS;
		pid_t got = next_event(hurry ? WNOHANG : 0, &status);
		if (got < 0)
			break;
		if (got == 0 && ++looks == LOOKS)
			interrupt_caller(j, &caller);
		else if (got == 0)
			nanosleep(&look, NULL);
		else if (got == caller.tid)
			caller_seen(j, &caller, status);
		else if (WIFSTOPPED(status))
			child_stopped(j, got);
		seen = seen || got == caller.tid;
	}
	stopping_end(&j->session->tracers, &caller);
}

int fork_resolve(struct job *j)
{
	bool clone = j->notif.data.nr == __NR_clone;

	if (clone && (j->arg[0] & CLONE_FILES))
		atomic_store(&j->session->files_shared, true);
	if (!limits_may_fork(j->session->limits))
		return -EAGAIN;
	if (!j->session->descent)
		return 0;
	/* A child that tracers do not see would be one that usher does not see. */
	if (clone && (j->arg[0] & CLONE_UNTRACED))
		return -EPERM;
	return proc_deep(j->proc) ? -EAGAIN : 0;
}

int fork_perform(struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid;

	if (!j->session->descent)
		return job_continue(j);
	patience_begin(j->worker); /* as for seize_patiently() */
	int err = seize_caller(j, seize_for_fork);
	patience_end(j->worker);
	if (err == -EAGAIN)
		return reply_again(j);
	if (err < 0)
		return job_error(j, err == -EBUSY ? -EAGAIN : -EPERM);
	if (reply_send(j, 0, 0, true) < 0)
		(void)trace_interrupt(tid); /* it is being killed */
	follow_fork(j);
	j->reply.kind = REPLY_GONE;
	return PERFORM_DONE;
}
