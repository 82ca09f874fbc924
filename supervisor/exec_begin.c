/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/exec_begin.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "supervisor/exec_plan.h"
#include "supervisor/exec_trace.h"
#include "supervisor/pool.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

/* Where the caller stopped: the worker was woken there, and has stayed. */
static int core_of(const struct worker *w)
{
	const struct arrangement *a = &w->session->pool->arrangement;

	return a->cores > 1 && w->bound >= 0 ? a->core[w->bound] : -1;
}

/* *BEFORE is what leads back. */
static bool narrow(const struct job *j, pid_t pid, cpu_set_t *before)
{
	int core = core_of(j->worker);
	cpu_set_t only;

	if (core < 0 || sched_getaffinity(pid, sizeof(*before), before) < 0 || !CPU_ISSET(core, before) || CPU_COUNT(before) < 2)
		return false;
	CPU_ZERO(&only);
	CPU_SET(core, &only);
	return sched_setaffinity(pid, sizeof(only), &only) == 0;
}

/* With the lock of held.c. */
static void release_narrowed(const struct job *j, pid_t pid)
{
	struct session *s = j->session;
	cpu_set_t before;

	if (!narrow(j, pid, &before)) {
		trace_release(pid, 0);
		return;
	}
	atomic_store(&s->begins, pid);
	trace_release(pid, 0);
	/* Who has ended meanwhile has no cores to get back; its number is nobody else's so soon. */
	together_restore(&s->together, pid, &before);
	atomic_store(&s->begins, 0);
}

void begin_release(const struct job *j, pid_t pid)
{
	struct session *s = j->session;

	/* One at a time, and nobody waits for it: who comes second is released as ever. */
	if (!plan_of(j)->opens_first || pthread_mutex_trylock(&s->held) != 0) {
		trace_release(pid, 0);
		return;
	}
	release_narrowed(j, pid);
	pthread_mutex_unlock(&s->held);
}

void begin_await(struct session *s, pid_t tid)
{
	if (atomic_load_explicit(&s->begins, memory_order_acquire) != tid)
		return;
	pthread_mutex_lock(&s->held);
	pthread_mutex_unlock(&s->held);
}
