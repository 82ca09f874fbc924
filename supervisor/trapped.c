/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of ptrace that a thread of the tree makes for another one. PTRACE_INTERRUPT is to stop it, as a signal would, but nothing in /proc shows
 * that it is to stop: one that waits for usher would wait on, and its debugger with it (strace -p).
 *
 * MUST: a call is marked only while the debugger stands behind a PTRACE_INTERRUPT that succeeded. Nobody else can let the thread go on, so that
 * a call that it is in then is the one that it stops in.
 */
#include <stdatomic.h>
#include <sys/ptrace.h>

#include "supervisor/exec_trace.h"
#include "supervisor/pool.h"
#include "supervisor/reply.h"
#include "supervisor/rows_exec.h"
#include "supervisor/session.h"
#include "supervisor/thread_state.h"
#include "supervisor/tracer.h"

/* A call may have been received that no worker serves yet: so often is looked for it, or until the thread has stopped. */
#define TRAP_LOOKS 8

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
		if ((pid_t)k->job->notif.pid != tid)
			continue;
		k->job->trapped = true;
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

int ptrace_perform(struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid, whom = (pid_t)j->arg[1];
	exec_regs regs;
	int sig = 0;

	/* Who traces the debugger itself has it stop where it likes. */
	if (j->arg[0] != PTRACE_INTERRUPT || trace_seize(tid) < 0)
		return job_continue(j);
	(void)reply_send(j, 0, 0, true);
	j->reply.kind = REPLY_GONE;
	if (trace_wait_for(tid, &sig) == TRACE_ENDED)
		return PERFORM_DONE;
	if (trace_regs(tid, &regs) == 0 && REGS_RESULT(&regs) == 0)
		mark_soon(j->session, whom);
	trace_release(tid, sig);
	return PERFORM_DONE;
}
