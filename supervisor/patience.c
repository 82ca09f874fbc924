/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/patience.h"

#include <sys/eventfd.h>
#include <time.h>

#include "rules/clock.h"
#include "supervisor/exec_trace.h"
#include "supervisor/pool.h"
#include "supervisor/session.h"

#define PATIENCE_MS 12 /* longer than a tick of the coarse clock, which is 10 ms where HZ is 100: a wait is not long because one has passed */
#define OVER UINT64_MAX /* in a worker's patient: its reception was handed on */
#define QUIET_LOOKS 16  /* without a new wait: then the main thread is left alone until the next */
#define DISTRUSTED 64   /* after one that was overdue */

/* Never 0 and never OVER. */
static uint64_t now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC_COARSE) + 1;
}

/* One of those that are not trusted. */
static bool distrusted(struct pool *p)
{
	unsigned left = atomic_load(&p->distrusted);

	while (left && !atomic_compare_exchange_weak(&p->distrusted, &left, left - 1))
		;
	return left;
}

static void hand_on_locked(struct worker *w)
{
	if (w->reads)
		worker_hand_on_locked(w);
	else
		worker_blocking_locked(w);
}

static void begin(struct worker *w, bool reads)
{
	struct pool *p = w->session->pool;

	if (w->blocking || (reads && w->aside))
		return;
	w->reads = reads;
	if (distrusted(p)) {
		pthread_mutex_lock(&p->lock);
		hand_on_locked(w);
		pthread_mutex_unlock(&p->lock);
		return;
	}
	atomic_store(&w->patient, now_ms());
	atomic_fetch_add(&p->waits, 1);
	if (!atomic_load(&p->minding) && !atomic_exchange(&p->minding, true))
		(void)eventfd_write(p->watch, 1);
}

void patience_begin(struct worker *w)
{
	begin(w, false);
}

void patience_begin_reading(struct worker *w)
{
	begin(w, true);
}

void patience_end(struct worker *w)
{
	struct pool *p = w->session->pool;

	if (atomic_exchange(&w->patient, 0) != OVER)
		return;
	pthread_mutex_lock(&p->lock);
	pthread_mutex_unlock(&p->lock);
}

int seize_patiently(struct worker *w, pid_t tid)
{
	patience_begin(w);
	int err = trace_seize(tid);
	patience_end(w);
	return err;
}

/* Whether W waits. */
static bool look_locked(struct worker *w, uint64_t now)
{
	struct pool *p = w->session->pool;
	uint64_t since = atomic_load(&w->patient);

	if (!since || since == OVER)
		return false;
	if (now - since >= PATIENCE_MS && atomic_compare_exchange_strong(&w->patient, &since, OVER)) {
		atomic_store(&p->distrusted, DISTRUSTED);
		hand_on_locked(w);
	}
	return true;
}

bool patience_look(struct pool *p)
{
	uint64_t now = now_ms();
	bool any = false;

	if (!atomic_load(&p->minding))
		return false;
	pthread_mutex_lock(&p->lock);
	for (struct worker *w = p->workers; w; w = w->next)
		any = look_locked(w, now) || any;
	pthread_mutex_unlock(&p->lock);
	unsigned waits = atomic_load(&p->waits);
	p->quiet_looks = any || waits != p->waits_seen ? 0 : p->quiet_looks + 1;
	p->waits_seen = waits;
	if (p->quiet_looks < QUIET_LOOKS)
		return true;
	/* A wait that begins now either sees this, or was counted before. */
	atomic_store(&p->minding, false);
	return atomic_load(&p->waits) != waits && !atomic_exchange(&p->minding, true);
}
