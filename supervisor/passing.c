/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/passing.h"

#include <errno.h>
#include <time.h>

#include "supervisor/job.h"
#include "supervisor/session.h"
#include "supervisor/thread_state.h"
#include "supervisor/worker.h"

#define UNSEEN_MOST 100
#define PAUSE_NS 200000

void passing_nap(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

bool tracing_passes(const struct session *s, pid_t tid, unsigned *unseen)
{
	struct thread_state st, by, again;

	if (thread_state(s->self_proc, tid, &st) < 0 || st.state == THREAD_ZOMBIE)
		return false;
	if (!st.tracer)
		return ++*unseen < UNSEEN_MOST;
	if (thread_state(s->self_proc, st.tracer, &by) < 0 || by.tgid == s->usher)
		return true;
	/* Where a tracer lets go the kernel shows the parent in its place for an instant (__ptrace_unlink()). */
	passing_nap();
	return thread_state(s->self_proc, tid, &again) == 0 && again.tracer != st.tracer && ++*unseen < UNSEEN_MOST;
}

int seize_caller(struct job *j, int (*seize)(pid_t tid))
{
	pid_t tid = (pid_t)j->notif.pid;
	unsigned unseen = 0;
	int rc = seize(tid);

	for (int tries = 0; rc == -EPERM && tries < PASSING_TRIES; tries++) {
		if (tracers_await(&j->session->tracers, tid))
			return -EAGAIN;
		if (!tracing_passes(j->session, tid, &unseen))
			return rc;
		if (j->worker)
			worker_blocking(j->worker);
		passing_nap();
		rc = seize(tid);
	}
	return rc == -EPERM ? -EBUSY : rc;
}
