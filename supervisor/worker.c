/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader and followers: a worker that may have to wait hands reception on and
 * comes back as a spare. MUST: p->receivers counts exactly the workers that receive or walk without waiting.
 */
#include "supervisor/worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "supervisor/creds.h"
#include "supervisor/crowd.h"
#include "supervisor/cover.h"
#include "supervisor/harden.h"
#include "supervisor/own_fs.h"
#include "supervisor/pool.h"
#include "supervisor/refill.h"
#include "supervisor/rest.h"
#include "supervisor/session.h"
#include "supervisor/soon.h"
#include "supervisor/table.h"
#include "supervisor/voice.h"
#include "supervisor/walk.h"
#include "supervisor/watch.h"
#include "supervisor/watchdog.h"

#define UNRECEIVED_MAX 100
#define ASIDE_MAX 4
#define SPARES_READY 4 /* who comes behind so many gives its memory back at once */

static void take_place_locked(struct worker *w)
{
	struct pool *p = w->session->pool;

	p->receivers++;
	w->receiving = true;
	for (unsigned i = 0; i < p->arrangement.cores; i++) {
		if (p->places & (uint64_t)1 << i)
			continue;
		p->places |= (uint64_t)1 << i;
		w->core = (int)i;
		return;
	}
}

static void leave_place_locked(struct worker *w)
{
	struct pool *p = w->session->pool;

	if (!w->receiving)
		return;
	w->receiving = false;
	atomic_store_explicit(&w->beside, false, memory_order_relaxed);
	w->stays = -1;
	p->receivers--;
	if (w->core >= 0)
		p->places &= ~((uint64_t)1 << w->core);
	w->core = -1;
}

void worker_blocking_locked(struct worker *w)
{
	struct pool *p = w->session->pool;

	w->blocking = true;
	w->waits_since = ++p->waits_begun;
	atomic_store(&w->interrupted, false);
	leave_place_locked(w);
	p->blocked++;
	refill_locked(p);
	watch_wake_locked(p);
}

void worker_blocking(struct worker *w)
{
	struct pool *p = w->session->pool;

	if (w->blocking)
		return;
	pthread_mutex_lock(&p->lock);
	worker_blocking_locked(w);
	pthread_mutex_unlock(&p->lock);
}

void worker_at_fifo(struct worker *w, const struct stat *fifo, int access)
{
	struct pool *p = w->session->pool;

	atomic_store_explicit(&w->session->fifos, true, memory_order_relaxed);
	pthread_mutex_lock(&p->lock);
	w->fifo_dev = fifo->st_dev;
	w->fifo_ino = fifo->st_ino;
	w->fifo_access = access;
	if (!w->blocking)
		worker_blocking_locked(w);
	if (!w->at_fifo)
		p->at_fifos++;
	w->at_fifo = true;
	pthread_mutex_unlock(&p->lock);
}

void worker_aside(struct worker *w)
{
	struct pool *p = w->session->pool;

	pthread_mutex_lock(&p->lock);
	if (p->aside < ASIDE_MAX) {
		p->aside++;
		w->aside = true;
		leave_place_locked(w);
		refill_locked(p);
	}
	pthread_mutex_unlock(&p->lock);
}

void worker_aside_done(struct worker *w)
{
	struct pool *p = w->session->pool;

	if (!w->aside)
		return;
	pthread_mutex_lock(&p->lock);
	w->aside = false;
	p->aside--;
	pthread_mutex_unlock(&p->lock);
}

void worker_hand_on_locked(struct worker *w)
{
	leave_place_locked(w);
	refill_locked(w->session->pool);
}

bool worker_interrupted(const struct worker *w)
{
	return atomic_load(&w->interrupted);
}

static void unblock(struct worker *w)
{
	struct pool *p = w->session->pool;

	if (!w->blocking)
		return;
	pthread_mutex_lock(&p->lock);
	w->blocking = false;
	p->blocked--;
	if (w->at_fifo)
		p->at_fifos--;
	w->at_fifo = false;
	pthread_mutex_unlock(&p->lock);
}

/* What somebody else has removed, see pool_removed(). */
static void leave_removed(struct worker *w)
{
	if (atomic_exchange(&w->unplaced, false))
		place_go_home(&w->place, w->session);
}

static struct parked *take_answered_locked(struct pool *p)
{
	struct parked *k = p->answered;

	if (!k)
		return NULL;
	p->answered = k->next;
	if (!p->answered)
		p->answered_last = NULL;
	atomic_store(&p->unserved, p->answered && atomic_load(&p->unserved));
	return k;
}

/* Until there may be something to do; false where that has taken a while. RESTED: then as long as it takes. */
static bool wait_as_spare_locked(struct pool *p, bool rested)
{
	p->spares++;
	int rc = rested ? pthread_cond_wait(&p->spare, &p->lock) : soon_wait(&p->spare, &p->lock, REST_AFTER_S * UINT64_C(1000000000));
	p->spares--;
	return rc == 0;
}

static void rest_unlocked(struct worker *w)
{
	pthread_mutex_unlock(&w->session->pool->lock);
	worker_rest(w);
	pthread_mutex_lock(&w->session->pool->lock);
}

/*
 * What this worker does next: an answered call, or receiving (NULL with
 * w->receiving), or ending (NULL without). Waits as a spare until there is one.
 */
static struct parked *next_part(struct worker *w)
{
	struct pool *p = w->session->pool;
	struct parked *k = NULL;
	bool idle = false, rested = false;

	if (w->receiving && !p->stopping && p->receivers <= p->want && !atomic_load_explicit(&p->unserved, memory_order_relaxed))
		return NULL; /* a look without the lock: what changes meanwhile is seen at the next call */
	pthread_mutex_lock(&p->lock);
	if ((p->receivers > p->want && !p->taken_in) || atomic_load(&p->unserved))
		leave_place_locked(w);
	while (!p->stopping && !w->receiving) {
		k = take_answered_locked(p);
		w->walking = k != NULL;
		if (!k && refill_wants_locked(p))
			take_place_locked(w);
		if (k || w->receiving) {
			refill_locked(p); /* one spare may have been woken for two parts */
			break;
		}
		leave_removed(w);
		if ((idle || p->spares >= SPARES_READY) && !rested) { /* and there is nothing to do now */
			rest_unlocked(w);
			rested = true;
			continue;
		}
		idle = !wait_as_spare_locked(p, rested);
	}
	if (p->stopping) {
		k = NULL;
		w->receiving = false;
		atomic_store_explicit(&w->walking, false, memory_order_release);
	}
	pthread_mutex_unlock(&p->lock);
	return k;
}

static bool anything_parked(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	bool any = p->parked || p->answered;
	pthread_mutex_unlock(&p->lock);
	return any;
}

/* With the last caller gone RECV fails at once, again and again: there is nothing left to receive, nor will there be. */
static void await_caller(struct worker *w)
{
	struct pollfd fd = { w->session->listener, POLLIN, 0 };

	if (poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLHUP))
		return;
	if (anything_parked(w->session->pool))
		(void)poll(NULL, 0, -1); /* until pool_stop() interrupts */
	else
		atomic_store(&w->gone, true);
}

/* A listener that gives nothing any more would leave every caller waiting. */
static void give_up_receiving(struct worker *w, int error)
{
	if (++w->unreceived < UNRECEIVED_MAX)
		return;
	session_kill(w->session);
	voice_say(w->session->voice, "usher: receive a call: %s; the tree is ended\n", strerror(error));
	(void)poll(NULL, 0, -1); /* until pool_stop() interrupts */
}

/* In a flood those who serve what another takes in stay on their cores, where there is one for each. */
static bool in_pipeline(const struct worker *w)
{
	const struct pool *p = w->session->pool;

	return w->busy >= CROWD_BUSY && p->want > p->arrangement.cores;
}

static void go_ahead(const struct worker *w)
{
	struct arrangement *a = &w->session->pool->arrangement;

	if (!arrange_ahead(w->alone) && !atomic_load_explicit(&a->behind, memory_order_relaxed))
		atomic_store_explicit(&a->behind, true, memory_order_relaxed);
}

/* Where several receive each stays on a core of its own; a single one runs where the caller wakes it, or stays there. */
static void settle(struct worker *w)
{
	struct pool *p = w->session->pool;
	int core = arrange_pins(&p->arrangement, p->want) || in_pipeline(w) ? w->core : w->stays;

	if (w->alone != (p->want <= 1)) {
		w->alone = p->want <= 1;
		go_ahead(w);
	}
	if (core == w->bound)
		return;
	arrange_bind(&p->arrangement, core);
	w->bound = core;
}

/* After each call: whether more or fewer should receive. */
static void rearrange(struct worker *w, pid_t tid)
{
	struct pool *p = w->session->pool;
	unsigned now = p->want;
	unsigned want = arrange_note(&p->arrangement, tid, now);

	if (want == now)
		return;
	pthread_mutex_lock(&p->lock);
	p->want = want;
	pthread_cond_broadcast(&p->spare);
	for (unsigned have = p->receivers + p->spares; have < want && !p->stopping; have++) {
		if (worker_spawn_locked(p) < 0)
			break;
	}
	pthread_mutex_unlock(&p->lock);
}

/* False with *CROWD: a crowd has come in between. */
static bool wait_for_call(struct worker *w, struct seccomp_notif *n, bool *crowd)
{
	struct pool *p = w->session->pool;

	w->busy = 0;
	if (atomic_load_explicit(&w->unplaced, memory_order_relaxed))
		leave_removed(w);
	memset(n, 0, sizeof(*n));
	atomic_fetch_add(&p->outside, 1);
	*crowd = atomic_load(&p->taken_in) != 0;
	atomic_store_explicit(&w->beside, w->bound < 0 && !*crowd && !crowd_has_come(p), memory_order_relaxed);
	bool received = !*crowd && ioctl(w->session->listener, SECCOMP_IOCTL_NOTIF_RECV, n) == 0;
	atomic_fetch_sub(&p->outside, 1);
	return received;
}

static bool next_call(struct worker *w, struct seccomp_notif *n)
{
	bool crowd = crowd_there(w->session->pool);

	atomic_store_explicit(&w->beside, false, memory_order_relaxed);
	bool received = !crowd && wait_for_call(w, n, &crowd);

	return crowd ? crowd_receive(w, n) : received;
}

/*
 * Where each receives on a core of its own the caller that was just answered runs on before the worker waits, and often calls again. Who
 * waits is woken by every call on every core (recv_wait_event() of Linux 6.6 and later is not exclusive), and when it is the first to come it serves a
 * caller that it has to wake across cores.
 */
static void give_way(struct worker *w)
{
	uint32_t begin = arrange_now_us();

	if (!arrange_gives_way(&w->way, begin))
		return;
	(void)sched_yield();
	uint32_t now = arrange_now_us();
	arrange_gave_way(&w->way, now - begin, now);
}

static bool receive(struct worker *w)
{
	const struct pool *p = w->session->pool;
	struct seccomp_notif *n = &w->job.notif;

	settle(w);
	if (arrange_pins(&p->arrangement, p->want))
		give_way(w);
	if (next_call(w, n)) {
		w->unreceived = 0;
		return true;
	}
	if (errno == ENOENT)
		await_caller(w); /* the caller was killed in between, or there are no callers any more */
	else if (errno != EINTR)
		give_up_receiving(w, errno);
	return false;
}

/* A call that comes when the session is over is not answered. In this order: who settles sees the worker walk, or it sees the end. */
static bool ending(struct worker *w)
{
	w->walking = true;
	return w->session->pool->stopping;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->alone = true;
	go_ahead(w);
	/* umask, cwd and root are this thread's own from here on: it takes on the caller's. What it reads is hostile. */
	if (creds_go_home(w->session) < 0 || own_fs_enter() < 0 || cover_enter(w->session->cover) < 0 || harden_worker() < 0) {
		int error = errno;
		session_kill(w->session); /* who counts on it to receive would wait for ever */
		voice_say(w->session->voice, "usher: make a worker: %s; the tree is ended\n", strerror(error));
		return NULL;
	}
	if (w->index) /* made where a worker stood */
		place_go_home(&w->place, w->session);
	for (;;) {
		if (atomic_load(&w->gone)) /* by itself: what the C library does with the stack costs each session's end some 50 us */
			(void)syscall(SYS_exit, 0);
		struct parked *k = next_part(w);
		if (k) {
			if (w->laps)
				laps_go_on(w->laps);
			walk_parked(w, k);
		} else if (!w->receiving) {
			return NULL;
		} else if (receive(w) && !ending(w)) {
			pid_t tid = (pid_t)w->job.notif.pid;
			watchdog_begin(w, w->session->pool, &w->job.notif);
			if (w->laps)
				laps_begin(w->laps);
			worker_called(w);
			walk_new(w);
			worker_answered(w);
			if (crowd_there(w->session->pool))
				crowd_served(w->session->pool, tid);
			watchdog_end(w, w->session->pool);
			rearrange(w, tid);
			worker_stay_on(w, tid);
		} else {
			job_reset(&w->job);
			atomic_store_explicit(&w->walking, false, memory_order_release);
			continue;
		}
		unblock(w);
		job_reset(&w->job);
		atomic_store_explicit(&w->walking, false, memory_order_release);
		lap(w->laps, LAP_REST);
	}
}

/* A worker touches only the part of its job and record that a call needs; the rest of this memory is never made real. */
int worker_spawn_locked(struct pool *p)
{
	struct worker *w = calloc(1, sizeof(*w));
	pthread_attr_t attr;

	if (!w)
		return -ENOMEM;
	w->session = p->session;
	w->index = p->threads;
	w->umask_set = -1;
	w->room_fd = -1;
	place_init(&w->place);
	w->syscall_fd = -1;
	w->core = -1;
	w->bound = UNBOUND_YET;
	w->stays = -1;
	if (p->session->profile)
		w->laps = calloc(1, sizeof(*w->laps));
	job_init(&w->job, p->session, w);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	int rc = own_fs_create(&w->thread, &attr, worker_main, w);
	pthread_attr_destroy(&attr);
	if (rc) {
		free(w->laps);
		free(w);
		return rc;
	}
	w->next = p->workers;
	__atomic_store_n(&p->workers, w, __ATOMIC_RELEASE); /* pool_removed() looks at them without the lock */
	p->threads++;
	return 0;
}
