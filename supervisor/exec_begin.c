/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/exec_begin.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/exec_plan.h"
#include "supervisor/exec_trace.h"
#include "supervisor/memory.h"
#include "supervisor/pool.h"
#include "supervisor/rows_guard.h"
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

/* Every process may know it of every other: there is no object that rules speak of. */
int affinity_resolve(struct job *j)
{
	return 0;
}

#define MASK_BYTES 1024 /* of 8,192 processors: Linux has no more */

static long others_mask(struct job *j, unsigned long mask[])
{
	struct session *s = j->session;
	uint32_t len = (uint32_t)j->arg[1];

	/* What is left of a length that is no whole number of words is the kernel's to refuse. */
	if (len > MASK_BYTES)
		len = MASK_BYTES | (len & (sizeof(long) - 1));
	if (pthread_mutex_trylock(&s->held) != 0) {
		worker_blocking(j->worker);
		pthread_mutex_lock(&s->held);
	}
	long n = syscall(SYS_sched_getaffinity, (pid_t)j->arg[0], (size_t)len, mask);
	int error = errno;
	pthread_mutex_unlock(&s->held);
	return n < 0 ? -error : n;
}

int affinity_perform(struct job *j)
{
	unsigned long mask[MASK_BYTES / sizeof(long) + 1];
	long n = others_mask(j, mask);

	if (n >= 0) {
		int rc = memory_give(j, j->arg[2], mask, (size_t)n);
		n = rc < 0 ? rc : n;
	}
	return n < 0 ? job_error(j, (int)n) : job_result(j, n);
}
