/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread has one tracer. Where that is a debugger of the tree's own, usher holds the debugger: a new image stops for it, before the first instruction,
 * and nobody but the held debugger could let it go on. There the image is compared with the plan through /proc, as it would be in a stop of usher's.
 *
 * MUST: the call is let go on only when its success is certain to stop the caller: attached without PTRACE_SEIZE it stops by SIGTRAP
 * (which nobody can block meanwhile) or by PTRACE_EVENT_EXEC; else by a stop that the held debugger was made to ask for. The debugger is let go
 * when the image was found to be the plan's, has SIGKILL on its way, or the exec has failed.
 */
#include "supervisor/exec_traced.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/exec_plan.h"
#include "supervisor/exec_trace.h"
#include "supervisor/memory.h"
#include "supervisor/passing.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/rows_exec.h"
#include "supervisor/session.h"
#include "supervisor/thread_state.h"
#include "supervisor/walk.h"

#define BUSY_NS 200000
#define RUNS_MOST 10000 /* looks, a millisecond apart, at a caller that neither stops nor makes a call */

#define OUTSIDE "its tracer is no process of the sandbox"
#define NESTED "its debugger is traced itself"
#define THREADS "the traced process has several threads"
#define SIGTRAP_BLOCKED "the traced process blocks SIGTRAP, by which its debugger would stop it"
#define REWRITTEN "a rule leads it to another program, and usher cannot do that to a traced process"
#define FILTERED "its debugger has seccomp filters of its own"
#define IN_VFORK "its debugger waits in vfork, and has used PTRACE_SEIZE"
#define NOT_HERE "its debugger has used PTRACE_SEIZE, and usher can make calls for others on x86-64 alone"
#define NOT_HELD "its debugger could not be held"

static int refuse(struct job *j, const char *why)
{
	record_text(&j->worker->evidence, "unverified", why);
	atomic_store(&j->session->unverified, why);
	return job_error(j, -EPERM);
}

/* Who waits for the caller, the held tracer perhaps, must not wait for this worker. */
static int refuse_now(struct job *j, const char *why)
{
	(void)refuse(j, why);
	(void)walk_record(j, -EPERM);
	(void)reply_send(j, 0, -EPERM, false);
	j->reply.kind = REPLY_GONE;
	return 0;
}

static int gone(struct job *j)
{
	if (!j->recorded)
		(void)walk_record(j, -ESRCH);
	j->reply.kind = REPLY_GONE;
	return 0;
}

/* The caller itself traces, and is wanted in a stop: it makes its call again when it is let go. */
static int restart(struct job *j)
{
	(void)walk_record(j, -EINTR);
	return reply_again(j);
}

/* Usher itself traces the caller, or its tracer, for a moment. */
static int busy(struct job *j, pid_t tid)
{
	const struct timespec t = { .tv_nsec = BUSY_NS };

	if (tracers_await(&j->session->tracers, tid))
		return restart(j);
	if (!job_alive(j))
		return gone(j);
	nanosleep(&t, NULL);
	return -EAGAIN;
}

/* The path's register: not 0 in the caller of an exec (that is EFAULT), 0 in every new image. */
static uint64_t path_of(const struct thread_call *c)
{
	return c->nr == __NR_execveat ? c->arg[1] : c->arg[0];
}

enum outcome { NEW_IMAGE, FAILED, ENDED, LOST };

static bool has_ended(int pidfd)
{
	struct pollfd fd = { pidfd, POLLIN, 0 };

	return poll(&fd, 1, 0) != 0;
}

/* One look at the answered caller. False: it is still in its exec. */
static bool look(struct job *j, const struct going *g, int pidfd, struct thread_call *call, enum outcome *out)
{
	pid_t tid = (pid_t)j->notif.pid;
	int proc = j->session->self_proc;
	struct thread_state st;

	*out = ENDED;
	if (has_ended(pidfd))
		return true;
	*out = FAILED;
	if (thread_state(proc, tid, &st))
		return false;
	int err = thread_call(proc, tid, call);
	if (!err && st.state == THREAD_TRACED && (call->nr == __NR_execve || call->nr == __NR_execveat)) {
		*out = path_of(call) ? FAILED : NEW_IMAGE;
		return true;
	}
	/* A success would have stopped it: it can be in no other call, nor begin another exec. */
	return atomic_load(&g->back) || (!err && call->nr != j->notif.data.nr);
}

static enum outcome await_outcome(struct job *j, const struct going *g, int pidfd, struct thread_call *call)
{
	struct timespec pause = { .tv_nsec = TRACER_NAP_NS };
	enum outcome out;
	unsigned runs = 0;

	while (!look(j, g, pidfd, call, &out)) {
		tracer_nap(&pause);
		runs = thread_call(j->session->self_proc, (pid_t)j->notif.pid, call) == -EAGAIN ? runs + 1 : 0;
		if (runs == RUNS_MOST)
			return LOST;
	}
	return out;
}

static void end(int pidfd)
{
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

static void conclude(struct job *j, enum outcome out, const struct thread_call *call, int pidfd)
{
	pid_t tid = (pid_t)j->notif.pid;

	switch (out) {
	case NEW_IMAGE:
		if (exec_admit(j, tid, verify_image(j, tid, call->ip, call->sp)) < 0)
			end(pidfd);
		break;
	case LOST:
		end(pidfd);
		record_text(&j->worker->evidence, "raced", "the caller neither stopped nor made another call");
		(void)walk_record(j, -EPERM);
		break;
	case FAILED:
		record_text(&j->worker->evidence, "failed", "in the kernel, with an error that only the caller knows");
		(void)walk_record(j, -EIO);
		break;
	case ENDED:
		(void)walk_record(j, -ESRCH);
		break;
	}
}

/* Its success is certain to stop the caller, and the tracer is held. */
static int let_exec(struct job *j, int pidfd)
{
	struct tracers *all = &j->session->tracers;
	struct going g = { .tid = (pid_t)j->notif.pid, .id = j->notif.id };
	struct thread_call call;

	going_begin(all, &g);
	bool answered = reply_send(j, 0, 0, true) == 0;
	if (answered)
		conclude(j, await_outcome(j, &g, pidfd, &call), &call, pidfd);
	going_end(all, &g);
	return gone(j);
}

static const char *interrupted(struct job *j, struct hold *h, bool *seized)
{
	int rc = hold_interrupt(j, h, (pid_t)j->notif.pid);

	*seized = rc == 1;
	return rc >= 0 ? NULL : rc == -EPERM ? FILTERED : rc == -EOPNOTSUPP ? NOT_HERE : NOT_HELD;
}

/* With the tracer TRACER held. */
static int held(struct job *j, struct hold *h, pid_t tracer, bool alone)
{
	pid_t tid = (pid_t)j->notif.pid;
	struct thread_state st;
	bool seized = false;

	CLEANUP_FD int pidfd = (int)syscall(SYS_pidfd_open, tid, 0);
	if (thread_state(j->session->self_proc, tid, &st) || pidfd < 0 || !job_alive(j))
		return job_alive(j) ? refuse_now(j, NOT_HELD) : gone(j);
	if (st.tracer != tracer || (!alone && tracers_has_seized(&j->session->tracers, tracer)))
		return -EAGAIN;
	if (st.threads != 1)
		return refuse_now(j, THREADS);
	const char *why = alone ? interrupted(j, h, &seized) : NULL;
	if (!why && !seized && (st.blocked & (1u << (SIGTRAP - 1))))
		why = SIGTRAP_BLOCKED;
	return why ? refuse_now(j, why) : let_exec(j, pidfd);
}

static int hold_failed(struct job *j, int err)
{
	switch (err) {
	case -EAGAIN:
	case -ESRCH:
		return busy(j, (pid_t)j->notif.pid);
	case -EBUSY:
		return refuse_now(j, NESTED);
	case -EDEADLK:
		return refuse_now(j, IN_VFORK);
	case -ECANCELED:
		return gone(j);
	default:
		return refuse_now(j, NOT_HELD);
	}
}

static int traced_by(struct job *j, pid_t tracer)
{
	struct tracers *all = &j->session->tracers;
	bool alone = tracers_has_seized(all, tracer);
	struct hold h;

	int err = tracer_hold(j, tracer, alone, &h);
	int rc = err ? hold_failed(j, err) : held(j, &h, tracer, alone);
	hold_end(&h, all);
	return rc;
}

/* Whether TRACER still does: it may have ended. */
static bool traces(const struct job *j, pid_t tracer)
{
	struct thread_state st;

	return thread_state(j->session->self_proc, (pid_t)j->notif.pid, &st) == 0 && st.tracer == tracer;
}

int exec_traced(struct job *j)
{
	int proc = j->session->self_proc;
	pid_t tid = (pid_t)j->notif.pid;
	struct thread_state st, by;

	worker_blocking(j->worker);
	if (thread_state(proc, tid, &st))
		return job_alive(j) ? refuse(j, NOT_HELD) : gone(j);
	if (!st.tracer || thread_state(proc, st.tracer, &by) || by.tgid == j->session->usher)
		return busy(j, tid);
	passing_nap(); /* see tracing_passes() */
	if (!traces(j, st.tracer))
		return busy(j, tid);
	if (!procs_inside(j->session->procs, st.tracer))
		return refuse(j, OUTSIDE);
	if (j->rewritten.off)
		return refuse(j, REWRITTEN);
	if (st.threads != 1)
		return refuse(j, THREADS);
	return traced_by(j, st.tracer);
}
