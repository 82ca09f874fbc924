/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of ptrace that a thread of the tree makes for another one. PTRACE_INTERRUPT is to stop it, as a signal would, but nothing in /proc shows
 * that it is to stop: one that waits for usher would wait on, and its debugger with it (strace -p). PTRACE_LISTEN tells that a whole process is
 * stopping: where others of its threads wait for usher, and so cannot join in, nobody else is told of the stop. The debugger interrupts
 * them then, which the kernel makes one stop of with the one that they are on their way to.
 *
 * MUST: a call is marked only while the debugger stands behind a PTRACE_INTERRUPT that succeeded. Nobody else can let the thread go on, so that
 * a call that it is in then is the one that it stops in.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "supervisor/exec_trace.h"
#include "supervisor/pool.h"
#include "supervisor/reply.h"
#include "supervisor/rows_exec.h"
#include "supervisor/session.h"
#include "supervisor/thread_state.h"
#include "supervisor/tracer.h"

/* A call may have been received that no worker serves yet: so often is looked for it, or until the thread has stopped. */
#define TRAP_LOOKS 8
/* Threads that may be found waiting at one PTRACE_LISTEN: each other thread that stops brings another one. */
#define WAITERS 256

int ptrace_resolve(struct job *j)
{
	if (j->arg[0] == PTRACE_SEIZE)
		tracers_note_seize(&j->session->tracers, (pid_t)j->notif.pid);
	return 0;
}

/* Marks the call that TID is in, if it is. */
static bool mark(struct pool *p, pid_t tid)
{
	bool found = false;

	pthread_mutex_lock(&p->lock);
	for (struct worker *w = p->workers; w; w = w->next) {
		uint64_t serving = atomic_load(&w->serving);
		if (!(serving & WORKER_SERVING) || w->serving_tid != tid)
			continue;
		atomic_store(&w->trapped, serving & ~(uint64_t)WORKER_ADOPTED);
		found = true;
	}
	for (struct parked *k = p->parked; k; k = k->next) {
		if ((pid_t)parked_job(k)->notif.pid != tid)
			continue;
		parked_job(k)->trapped = true;
		found = true;
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

static bool stands(const struct session *s, pid_t tid)
{
	struct thread_state st;

	return thread_state(s->self_proc, tid, &st) || st.state == THREAD_TRACED;
}

static void mark_soon(struct session *s, pid_t tid)
{
	struct timespec pause = { .tv_nsec = TRACER_NAP_NS };

	for (int looks = 0; looks < TRAP_LOOKS && !mark(s->pool, tid) && !stands(s, tid); looks++)
		tracer_nap(&pause);
}

/* Who waits for usher: at most WAITERS of them, into TIDS. */
static unsigned waiters(struct pool *p, pid_t tids[WAITERS])
{
	unsigned n = 0;

	pthread_mutex_lock(&p->lock);
	for (struct worker *w = p->workers; w && n < WAITERS; w = w->next) {
		if (w->blocking && (atomic_load(&w->serving) & WORKER_SERVING))
			tids[n++] = w->serving_tid;
	}
	for (struct parked *k = p->parked; k && n < WAITERS; k = k->next)
		tids[n++] = (pid_t)parked_job(k)->notif.pid;
	pthread_mutex_unlock(&p->lock);
	return n;
}

/* Has the debugger *TID, which stands behind a call, interrupt WHOM. 0, -EINTR (*sig: its own signal came first) or another negative errno. */
static int have_interrupted(pid_t *tid, pid_t whom, int *sig)
{
	const uint64_t arg[6] = { PTRACE_INTERRUPT, (uint64_t)whom, INTERRUPT_HELD };
	exec_regs before;
	int64_t result;

	int err = trace_call(tid, SYS_ptrace, arg, &before, &result, sig);
	if (err)
		return err;
	(void)trace_set_regs(*tid, &before);
	return (int)result;
}

/* The debugger *TID has let thread WHOM stand in its process's stop. */
static void stop_others(struct session *s, pid_t *tid, pid_t whom, int *sig)
{
	pid_t tids[WAITERS];
	struct thread_state st, its;

	if (!REGS_CAN_CALL || *sig || thread_state(s->self_proc, whom, &st))
		return;
	unsigned n = waiters(s->pool, tids);
	for (unsigned i = 0; i < n && !*sig; i++) {
		if (tids[i] == whom || thread_state(s->self_proc, tids[i], &its) || its.tgid != st.tgid || its.tracer != *tid)
			continue;
		int err = have_interrupted(tid, tids[i], sig);
		if (err == -EINTR)
			return;
		if (err == 0)
			mark_soon(s, tids[i]);
	}
}

int ptrace_perform(struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid, whom = (pid_t)j->arg[1];
	exec_regs regs;
	int sig = 0;

	/* Who traces the debugger itself has it stop where it likes. */
	if (j->arg[0] == PTRACE_SEIZE || trace_seize(tid) < 0)
		return job_continue(j);
	(void)reply_send(j, 0, 0, true);
	j->reply.kind = REPLY_GONE;
	if (trace_wait_for(tid, &sig) == TRACE_ENDED)
		return PERFORM_DONE;
	bool done = trace_regs(tid, &regs) == 0 && REGS_RESULT(&regs) == 0;
	if (done && j->arg[0] == PTRACE_INTERRUPT)
		mark_soon(j->session, whom);
	else if (done)
		stop_others(j->session, &tid, whom, &sig);
	trace_release(tid, sig);
	return PERFORM_DONE;
}
