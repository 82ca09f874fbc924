/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a worker's part is taken from it only under the pool's lock, and only for the very call that was seen before: notifications
 * have numbers that do not come again. WORKER_ADOPTED is set in the number then, and the worker, once it goes on, waits for the lock.
 */
#include "supervisor/watchdog.h"

#include <inttypes.h>
#include <sys/eventfd.h>
#include <time.h>

#include "audit/journal.h"
#include "rules/clock.h"
#include "supervisor/session.h"
#include "supervisor/table.h"
#include "supervisor/voice.h"

#define QUIET_LOOKS 40 /* two seconds: calls that come now and then shall not rouse it each time */

static uint64_t now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC_COARSE);
}

void watchdog_rouse(struct pool *p)
{
	if (atomic_exchange(&p->dozing, false))
		(void)eventfd_write(p->watch, 1);
}

void watchdog_end_adopted(struct worker *w, struct pool *p)
{
	(void)w;
	pthread_mutex_lock(&p->lock);
	pthread_mutex_unlock(&p->lock);
}

/* The main thread may have been first. */
void watchdog_hand_on(struct worker *w, struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	if (!(atomic_fetch_or(&w->serving, WORKER_ADOPTED) & WORKER_ADOPTED))
		worker_hand_on_locked(w);
	pthread_mutex_unlock(&p->lock);
}

static void report(struct pool *p, unsigned worker, int tid, const char *call, uint64_t ms)
{
	char buf[512];
	struct record r;
	uint64_t seq;

	record_begin(&r, buf, sizeof(buf), "note");
	record_text(&r, "event", "stuck");
	record_int(&r, "worker", worker);
	record_int(&r, "tid", tid);
	record_text(&r, "call", call);
	record_int(&r, "waited_ms", (int64_t)ms);
	int rc = journal_append(p->session->journal, &r, &seq);
	if (rc < 0)
		session_journal_failed(p->session, rc);
	voice_say(p->session->voice, "usher: %s of process %d has not come to an end for %" PRIu64 " s; others are served meanwhile\n", call, tid, ms / 1000);
}

/* Gives W's part to another, where it has served one call for long. One that says it waits has handed it on already, and may wait for as long as it has to. */
static void hand_on_locked(struct worker *w, uint64_t id, uint64_t now)
{
	if (id & WORKER_ADOPTED || now - w->seen_ms < HAND_ON_MS)
		return;
	if (atomic_compare_exchange_strong(&w->serving, &id, id | WORKER_ADOPTED))
		worker_hand_on_locked(w);
}

enum sight { NOTHING, BUSY, OVERDUE, STUCK };

static enum sight look_locked(struct worker *w, uint64_t now)
{
	uint64_t id = atomic_load(&w->serving), call = id & ~(uint64_t)WORKER_ADOPTED;

	if (!id)
		return NOTHING;
	if (w->seen != call) {
		w->seen = call;
		w->seen_ms = now;
		w->told = false;
		return BUSY;
	}
	if (w->told || w->blocking || w->aside)
		return NOTHING;
	hand_on_locked(w, id, now);
	if (now - w->seen_ms < HAND_ON_MS || !(atomic_load(&w->serving) & WORKER_ADOPTED))
		return BUSY;
	if (now - w->seen_ms < WATCHDOG_MS)
		return OVERDUE;
	w->told = true;
	return STUCK;
}

static bool look_at_all(struct pool *p, uint64_t now)
{
	bool busy = false, wary = false;

	pthread_mutex_lock(&p->lock);
	unsigned calls = atomic_load(&p->arrangement.calls);
	busy = calls != p->calls_seen;
	p->calls_seen = calls;
	for (struct worker *w = p->workers; w; w = w->next) {
		enum sight sight = look_locked(w, now);

		busy = busy || sight != NOTHING;
		wary = wary || sight == OVERDUE;
		if (sight != STUCK)
			continue;
		const struct sysrow *row = table_row(w->serving_nr);
		pid_t tid = w->serving_tid;
		uint64_t ms = now - w->seen_ms;
		unsigned index = w->index;
		pthread_mutex_unlock(&p->lock);
		report(p, index, tid, row ? row->name : "call", ms);
		pthread_mutex_lock(&p->lock);
	}
	atomic_store_explicit(&p->wary, wary, memory_order_relaxed);
	pthread_mutex_unlock(&p->lock);
	return busy;
}

bool watchdog_look(struct pool *p)
{
	if (look_at_all(p, now_ms())) {
		p->quiet = 0;
		atomic_store(&p->dozing, false);
		return true;
	}
	/* Two looks more when there was nothing for a while: what a worker began while this one goes to sleep is seen by the second. */
	return ++p->quiet < QUIET_LOOKS || !atomic_exchange(&p->dozing, true);
}
