/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/refill.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "supervisor/watch.h"
#include "supervisor/worker.h"

bool refill_wants_locked(const struct pool *p)
{
	return p->receivers < p->want || (p->receivers < 2 && atomic_load(&p->taken_in));
}

void refill_locked(struct pool *p)
{
	p->unfilled = false;
	if (p->stopping || !refill_wants_locked(p))
		return;
	if (p->spares)
		pthread_cond_signal(&p->spare);
	else
		p->unfilled = worker_spawn_locked(p) < 0;
	if (p->unfilled)
		watch_wake_locked(p);
}

/* The one that has waited longest since its turn, of those at FIFOs if there are any: such a wait can be begun anew by everybody. */
static struct worker *next_to_give_up(const struct pool *p)
{
	struct worker *next = NULL;

	for (struct worker *w = p->workers; w; w = w->next) {
		if (!w->blocking || w->job.replied)
			continue;
		if (!next || w->at_fifo > next->at_fifo || (w->at_fifo == next->at_fifo && w->waits_since < next->waits_since))
			next = w;
	}
	return next;
}

void refill_again_locked(struct pool *p)
{
	if (!p->stopping && atomic_load(&p->unserved))
		pool_work_locked(p);
	if (!p->unfilled)
		return;
	refill_locked(p);
	struct worker *w = p->unfilled && !p->receivers ? next_to_give_up(p) : NULL;
	if (!w)
		return;
	atomic_store(&w->interrupted, true);
	pthread_kill(w->thread, POOL_SIGNAL);
}

/* One that waits for a call takes what was answered: again and again, as the signal may come before the wait. */
static void call_back_locked(struct pool *p)
{
	for (struct worker *w = p->workers; w; w = w->next) {
		if (!w->receiving || atomic_load(&w->serving))
			continue;
		pthread_kill(w->thread, POOL_SIGNAL);
		return;
	}
}

void pool_work_locked(struct pool *p)
{
	bool none = !p->spares && worker_spawn_locked(p) < 0;

	atomic_store(&p->unserved, none);
	if (p->spares)
		pthread_cond_signal(&p->spare);
	if (!none)
		return;
	call_back_locked(p);
	watch_wake_locked(p);
}

bool refill_lacks_locked(const struct pool *p)
{
	return atomic_load(&p->unserved) || (p->unfilled && !p->receivers);
}
