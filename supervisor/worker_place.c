/* SPDX-License-Identifier: Apache-2.0 */
/* On which core a worker stays while it serves calls of one caller, and whether two receive them. See arrange.h. */
#include "supervisor/pool.h"
#include "supervisor/session.h"
#include "supervisor/table.h"
#include "supervisor/worker.h"

void worker_stay(struct worker *w)
{
	const struct arrangement *a = &w->session->pool->arrangement;
	int here = arrange_here(a);

	if (here < 0 || here == w->bound)
		return;
	if (w->bound == -1 && !arrange_free(a))
		return; /* by taskset(1): once bound, it would be let go to all */
	arrange_bind(a, here);
	w->bound = here;
}

/* By the clock, which who is ahead does without. */
static bool measures(const struct arrangement *a)
{
	return a->cores > 1 && atomic_load_explicit(&a->behind, memory_order_relaxed);
}

uint64_t worker_gives(struct worker *w)
{
	if (atomic_load_explicit(&w->beside, memory_order_relaxed))
		worker_stay(w);
	return measures(&w->session->pool->arrangement) ? arrange_now_ns() : 0;
}

void worker_gave(struct worker *w, uint64_t since)
{
	if (since)
		w->given_ns = arrange_now_ns() - since;
}

void worker_called(struct worker *w)
{
	const struct arrangement *a = &w->session->pool->arrangement;

	w->given_ns = 0;
	if (measures(a))
		w->ran_ns = arrange_now_ns() - atomic_load_explicit(&a->answered_ns, memory_order_relaxed);
}

void worker_answers(struct pool *p)
{
	if (measures(&p->arrangement))
		atomic_store_explicit(&p->arrangement.answered_ns, arrange_now_ns(), memory_order_relaxed);
}

void worker_answered(struct worker *w)
{
	struct arrangement *a = &w->session->pool->arrangement;

	bool now = atomic_load_explicit(&a->pair, memory_order_relaxed);
	if (measures(a) && w->given_ns && w->stay.calls && arrange_pairs(&w->pairing, w->ran_ns, w->given_ns, now) != now)
		atomic_store_explicit(&a->pair, !now, memory_order_relaxed);
}

/* A connect gives no descriptor, and wakes whoever accepts: the kernel finds places for the three best when none is held. */
static bool wakes_another(const struct job *j)
{
	return j->row && (j->row->ops & OP_CONNECT);
}

void worker_stay_on(struct worker *w, pid_t tid)
{
	struct pool *p = w->session->pool;
	bool pair = atomic_load_explicit(&p->arrangement.pair, memory_order_relaxed);

	if ((p->want > 1 && !pair) || !arrange_stays(&w->stay, wakes_another(&w->job) ? 0 : tid))
		w->stays = -1;
	else if (w->stays < 0)
		w->stays = arrange_here(&p->arrangement);
}
