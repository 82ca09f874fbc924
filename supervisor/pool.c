/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rules/pages.h"
#include "supervisor/creds.h"
#include "supervisor/session.h"
#include "supervisor/soon.h"
#include "supervisor/stall.h"
#include "supervisor/together.h"
#include "supervisor/watch.h"
#include "supervisor/worker.h"

/*
 * A call of usher's own on a disk that is slow or frozen goes on after its caller was killed, and usher cannot end before it either: what is given up is
 * one that can be left at the end alone (a file server that does not answer).
 */
#define SETTLE_MS 20000
#define SETTLE_SAY_MS 2000
#define LEAVE_NS 30000 /* with the timer's slack a tenth of a millisecond */
#define LEAVE_LOOKS 50

static void on_interrupt(int sig)
{
	(void)sig; /* its arrival is the message: the waiting system call returns EINTR */
}

static void install_interrupt(void)
{
	struct sigaction sa = { .sa_handler = on_interrupt };
	sigset_t set;

	sigaction(POOL_SIGNAL, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, POOL_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void parked_free(struct parked *k)
{
	free(k->letting);
	free(k->answer);
	free(k);
}

int pool_start(struct session *s)
{
	struct pool *p = pages_new(sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->session = s;
	arrange_init(&p->arrangement, s->together.held ? &s->together.now : NULL);
	pthread_mutex_init(&p->lock, NULL);
	soon_init(&p->spare);
	pthread_mutex_init(&p->hashes.lock, NULL);
	pthread_mutex_init(&p->contents.lock, NULL);
	stacks_init(&p->stacks, s->voice);
	squeezer_init(&p->squeezer);
	pthread_mutex_init(&s->interruptions.lock, NULL);
	pthread_mutex_init(&s->held, NULL);
	pthread_mutex_init(&s->alerts.lock, NULL);
	tracers_init(&s->tracers);
	install_interrupt();
	s->pool = p;
	int rc = creds_note_home(s);
	if (rc == 0)
		rc = watch_open(p);
	pthread_mutex_lock(&p->lock);
	if (rc == 0)
		rc = worker_spawn_locked(p);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

void pool_open(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->want = 1;
	pthread_cond_broadcast(&p->spare);
	pthread_mutex_unlock(&p->lock);
}

static void interrupt_all_locked(struct pool *p)
{
	for (struct worker *w = p->workers; w; w = w->next) {
		if (atomic_load(&w->gone))
			continue;
		atomic_store(&w->interrupted, true);
		pthread_kill(w->thread, POOL_SIGNAL);
	}
}

void pool_stop(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_broadcast(&p->spare);
	interrupt_all_locked(p);
	stall_stop_locked(p);
	pthread_mutex_unlock(&p->lock);
}

static bool anybody_walks(struct pool *p)
{
	bool any = false;

	pthread_mutex_lock(&p->lock);
	for (struct worker *w = p->workers; w; w = w->next) {
		if (!w->walking)
			continue;
		any = true;
		atomic_store(&w->interrupted, true);
		pthread_kill(w->thread, POOL_SIGNAL);
	}
	pthread_mutex_unlock(&p->lock);
	return any;
}

bool pool_settle(struct pool *p)
{
	if (!p)
		return true;
	for (int ms = 0; ms < SETTLE_MS; ms++) {
		if (!anybody_walks(p))
			return true;
		if (ms == SETTLE_SAY_MS)
			voice_say(p->session->voice, "usher: an operation for a process that has ended is not over (a slow disk or file server); its result is waited for up to %d seconds, for the journal\n",
			          SETTLE_MS / 1000);
		(void)poll(NULL, 0, 1);
	}
	return false;
}

/* Who waits for a call or for a part is woken; who serves one leaves behind it. */
static void tell_removed_locked(struct pool *p, struct worker *w)
{
	atomic_store(&w->unplaced, true);
	if (!w->receiving && !w->walking)
		pthread_cond_broadcast(&p->spare);
	else if (w->receiving && !atomic_load(&w->serving))
		pthread_kill(w->thread, POOL_SIGNAL);
}

/* Without the lock: each removal asks, and as a rule nobody else stands there. Workers are added at the head, and stay. */
static bool others_are_in(struct pool *p, const struct worker *self, uint64_t ino)
{
	for (const struct worker *w = __atomic_load_n(&p->workers, __ATOMIC_ACQUIRE); w; w = w->next) {
		if (w != self && place_is_in(&w->place, ino))
			return true;
	}
	return false;
}

/* Those that were told are on their way: a moment, so that the directory is gone behind the answer. One that serves somebody may take longer. */
static void await_leaving(struct pool *p, const struct worker *self, uint64_t ino)
{
	for (int looks = 0; looks < LEAVE_LOOKS && others_are_in(p, self, ino); looks++)
		(void)nanosleep(&(struct timespec){ .tv_nsec = LEAVE_NS }, NULL);
}

void pool_removed(struct worker *self, uint64_t ino)
{
	struct pool *p = self->session->pool;
	bool told = false;

	if (place_is_in(&self->place, ino))
		place_go_home(&self->place, self->session);
	if (!others_are_in(p, self, ino))
		return;
	pthread_mutex_lock(&p->lock);
	for (struct worker *w = p->workers; w; w = w->next) {
		if (w == self || w->blocking || !place_is_in(&w->place, ino))
			continue;
		tell_removed_locked(p, w);
		told = true;
	}
	pthread_mutex_unlock(&p->lock);
	if (told)
		await_leaving(p, self, ino);
}

void pool_profile(struct pool *p, FILE *to)
{
	struct laps sum = { 0 };

	if (!p || !p->session->profile)
		return;
	pthread_mutex_lock(&p->lock);
	for (const struct worker *w = p->workers; w; w = w->next) {
		if (w->laps)
			laps_add(&sum, w->laps);
	}
	unsigned nudges = p->nudges;
	pthread_mutex_unlock(&p->lock);
	laps_print(&sum, to);
	fprintf(to, "usher: profile: %-8s %8u times, as nobody served what was taken in\n", "nudged", nudges);
}
