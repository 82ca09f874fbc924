/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a worker's part is taken from it only under the pool's lock, and only for the very call that was seen before: notifications
 * have numbers that do not come again. WORKER_ADOPTED is set in the number then, and the worker, once it goes on, waits for the lock.
 */
#include "supervisor/watchdog.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>

#include "audit/journal.h"
#include "supervisor/session.h"
#include "supervisor/table.h"

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
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
	fprintf(stderr, "usher: a %s of process %d has not come to an end for %" PRIu64 " s; others are served meanwhile\n", call, tid, ms / 1000);
}

/* True: W is stuck in the call it has served for so long, and its part was given to another. */
static bool take_over_locked(struct pool *p, struct worker *w, uint64_t id, uint64_t now)
{
	if (w->seen != id) {
		w->seen = id;
		w->seen_ms = now;
		return false;
	}
	/* One that says it waits has handed on its part already, and may wait for as long as it has to. */
	if (now - w->seen_ms < WATCHDOG_MS || w->blocking || w->aside)
		return false;
	if (!atomic_compare_exchange_strong(&w->serving, &id, id | WORKER_ADOPTED))
		return false;
	worker_hand_on_locked(w);
	return true;
}

bool watchdog_look(struct pool *p)
{
	uint64_t now = now_ms();
	bool busy = false;

	pthread_mutex_lock(&p->lock);
	unsigned calls = atomic_load(&p->arrangement.calls);
	busy = calls != p->calls_seen;
	p->calls_seen = calls;
	for (struct worker *w = p->workers; w; w = w->next) {
		uint64_t id = atomic_load(&w->serving);
		if (!id || id & WORKER_ADOPTED)
			continue;
		busy = true;
		if (!take_over_locked(p, w, id, now))
			continue;
		const struct sysrow *row = w->job.row;
		int tid = (int)w->job.notif.pid;
		uint64_t ms = now - w->seen_ms;
		unsigned index = w->index;
		pthread_mutex_unlock(&p->lock);
		report(p, index, tid, row ? row->name : "call", ms);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	/* Two quiet looks: what a worker began while this one sleeps is seen by the second. */
	if (busy) {
		atomic_store(&p->dozing, false);
		return true;
	}
	return !atomic_exchange(&p->dozing, true);
}
