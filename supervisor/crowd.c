/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/crowd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "rules/pages.h"
#include "supervisor/crowd_order.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"
#include "supervisor/watch.h"

#define ALL_BELOW 100    /* so many taken in: all that has come is looked for each time */
#define ALL_EVERY 4      /* each look costs the kernel a walk past all that wait: between these a single one has to do */
#define IDLE_LOOKS 10    /* of the watch, before it nudges */
#define BUSY_TOP (2 * CROWD_BUSY)

struct crowd {
	pthread_mutex_t taking; /* never waited for */
	pthread_mutex_t lock;
	struct order order;
	struct way way;
	atomic_bool as_one;  /* programs compute beside: each worker receives, takes in and serves */
	unsigned waiting;    /* workers that wait in the kernel, or are about to */
	atomic_uint served;
	unsigned seen, idle; /* how many served calls the last look knew of; looks since then without another. The pool's lock */
};

static struct crowd *crowd_new(void)
{
	struct crowd *c = pages_new(sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->taking, NULL);
	order_init(&c->order);
	return c;
}

/* Made when the first crowd comes; stays. NULL: no memory, and the kernel's order holds. */
static struct crowd *crowd_of(struct pool *p)
{
	struct crowd *c = atomic_load(&p->crowd), *none = NULL;

	if (c || !(c = crowd_new()))
		return c;
	if (atomic_compare_exchange_strong(&p->crowd, &none, c))
		return c;
	pages_free(c, sizeof(*c));
	return none;
}

bool crowd_has_come(const struct pool *p)
{
	struct pollfd fd = { p->session->listener, POLLIN, 0 };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLIN);
}

/* What is received must have a place: another worker can take its own call in meanwhile. */
static bool promise(struct crowd *c)
{
	pthread_mutex_lock(&c->lock);
	bool some = order_promise(&c->order);
	pthread_mutex_unlock(&c->lock);
	return some;
}

static bool receive(struct pool *p, struct seccomp_notif *out)
{
	memset(out, 0, sizeof(*out));
	return ioctl(p->session->listener, SECCOMP_IOCTL_NOTIF_RECV, out) == 0;
}

static void mind(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	watch_wake_locked(p);
	pthread_mutex_unlock(&p->lock);
}

/* Returns whether it is the first that waits: mind() it then. */
static bool add_locked(struct pool *p, struct crowd *c, const struct seccomp_notif *n, pid_t process, uint8_t rank)
{
	order_add(&c->order, n, process, rank, arrange_here(&p->arrangement));
	return atomic_fetch_add(&p->taken_in, 1) == 0;
}

/*
 * All that has come by now. One worker at a time: another could take the call that was seen here. Who waits in the kernel already can do so all
 * the same; then this one waits there, too, the others serve what is taken in, and should there be no other the nudge ends the wait.
 */
static void take_in(struct pool *p, struct crowd *c)
{
	struct seccomp_notif n;
	bool all = atomic_load(&p->taken_in) < ALL_BELOW || atomic_load(&c->served) % ALL_EVERY == 0;

	if (pthread_mutex_trylock(&c->taking))
		return;
	for (bool more = true; more && crowd_has_come(p) && promise(c); more = more && all) {
		more = receive(p, &n);
		pid_t process = more ? procs_process(p->session->procs, (pid_t)n.pid) : 0;
		pthread_mutex_lock(&c->lock);
		order_keep(&c->order);
		bool first = more && add_locked(p, c, &n, process, order_rank(&c->order, process, arrange_now_us()));
		pthread_mutex_unlock(&c->lock);
		if (first)
			mind(p);
	}
	pthread_mutex_unlock(&c->taking);
}

/* Who begins is answered before its worker comes to say so, and may have called again by then: it is noted here, too. */
static void begin_locked(struct pool *p, struct crowd *c, pid_t process, pid_t tid)
{
	order_answered(&c->order, process, tid, arrange_here(&p->arrangement), arrange_now_us());
}

static bool next_locked(struct pool *p, struct crowd *c, struct seccomp_notif *out)
{
	pid_t process;

	if (!order_next(&c->order, arrange_here(&p->arrangement), out, &process))
		return false;
	begin_locked(p, c, process, (pid_t)out->pid);
	atomic_fetch_sub(&p->taken_in, 1);
	atomic_fetch_add(&c->served, 1);
	return true;
}

/* Who is the only one to receive takes in between two calls. */
static bool alone(struct pool *p, struct crowd *c, struct seccomp_notif *out)
{
	atomic_fetch_add(&p->outside, 1);
	take_in(p, c);
	pthread_mutex_lock(&c->lock);
	bool some = next_locked(p, c, out);
	pthread_mutex_unlock(&c->lock);
	some = some || receive(p, out);
	atomic_fetch_sub(&p->outside, 1);
	return some;
}

/*
 * Whether somebody waits for the next call. Those outside went to wait before there was a crowd, and look at what is taken in when they
 * come back; who goes to wait there looks once more after it has been counted, as the one that takes in does after it has taken in.
 */
static bool attended(const struct pool *p, const struct crowd *c)
{
	return c->waiting || atomic_load(&p->outside);
}

/* With more receivers than cores the one without a core waits in the kernel, and the others serve what it takes in. With fewer that is anyone's part. */
static bool floats(const struct worker *w)
{
	const struct pool *p = w->session->pool;

	return w->core < 0 || atomic_load(&p->receivers) <= p->arrangement.cores;
}

/*
 * Whether the call that was just received is served by who received it: a rare caller's is, and any while somebody else waits for the next.
 * Else it is taken in, and *FIRST tells whether to mind() it.
 */
static bool keeps_locked(struct pool *p, struct crowd *c, const struct seccomp_notif *n, bool *first)
{
	pid_t process = procs_process(p->session->procs, (pid_t)n->pid);
	uint8_t rank = order_rank(&c->order, process, arrange_now_us());

	if (order_is_rare(&c->order, rank) || attended(p, c) || !order_has_room(&c->order) || atomic_load(&p->receivers) < 2 || atomic_load(&c->as_one)) {
		begin_locked(p, c, process, (pid_t)n->pid);
		return true;
	}
	*first = add_locked(p, c, n, process, rank);
	return false;
}

/* Waits in the kernel. False: OUT holds no call, which *OVER tells to be final. */
static bool wait_for_call(struct pool *p, struct crowd *c, struct seccomp_notif *out, bool *over)
{
	bool first = false, received = receive(p, out), mine;
	int error = errno;

	pthread_mutex_lock(&c->lock);
	c->waiting--;
	/* Interrupted while something is taken in: nobody else serves it. */
	mine = received ? keeps_locked(p, c, out, &first) : error == EINTR && next_locked(p, c, out);
	pthread_mutex_unlock(&c->lock);
	if (first)
		mind(p);
	errno = error;
	*over = !received;
	return mine;
}

/* What is taken in, by who is not the one to wait, or the only one; else counts as waiting for more. */
static bool serves(struct worker *w, struct crowd *c, struct seccomp_notif *out)
{
	struct pool *p = w->session->pool;

	pthread_mutex_lock(&c->lock);
	bool mine = (attended(p, c) || !floats(w) || atomic_load(&p->receivers) < 2) && next_locked(p, c, out);
	c->waiting += !mine;
	pthread_mutex_unlock(&c->lock);
	return mine;
}

/* The receiver serves a call itself: whoever comes meanwhile must not wait for that. */
static bool unattended(const struct pool *p, struct crowd *c)
{
	pthread_mutex_lock(&c->lock);
	bool so = !attended(p, c);
	pthread_mutex_unlock(&c->lock);
	return so;
}

/* Before a worker of a core serves the next call. */
static void give_way(struct crowd *c)
{
	uint32_t begin = arrange_now_us();

	(void)sched_yield();
	uint32_t now = arrange_now_us();
	pthread_mutex_lock(&c->lock);
	arrange_gave_way(&c->way, now - begin, now);
	atomic_store(&c->as_one, c->way.left);
	pthread_mutex_unlock(&c->lock);
}

static bool as_one(struct crowd *c)
{
	if (!atomic_load(&c->as_one))
		return false;
	pthread_mutex_lock(&c->lock);
	bool so = !arrange_gives_way(&c->way, arrange_now_us());
	atomic_store(&c->as_one, so);
	pthread_mutex_unlock(&c->lock);
	return so;
}

bool crowd_receive(struct worker *w, struct seccomp_notif *out)
{
	struct pool *p = w->session->pool;
	struct crowd *c = crowd_of(p);
	bool over = false;

	if (!c)
		return receive(p, out);
	if (atomic_load(&p->receivers) < 2 || as_one(c)) {
		w->busy = 0;
		return alone(p, c, out);
	}
	if (atomic_load(&p->taken_in) && !floats(w)) {
		give_way(c);
		if (unattended(p, c))
			take_in(p, c);
	}
	for (;;) {
		if (serves(w, c, out)) {
			w->busy += w->busy < BUSY_TOP;
			return true;
		}
		w->busy /= 2;
		if (wait_for_call(p, c, out, &over))
			return true;
		if (over)
			return false;
	}
}

void crowd_served(struct pool *p, pid_t tid)
{
	struct crowd *c = atomic_load(&p->crowd);
	pid_t process = c ? procs_process(p->session->procs, tid) : 0;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	order_answered(&c->order, process, tid, arrange_here(&p->arrangement), arrange_now_us());
	pthread_mutex_unlock(&c->lock);
}

bool crowd_nudge_locked(struct pool *p)
{
	struct crowd *c = atomic_load(&p->crowd);

	if (!c || !atomic_load(&p->taken_in))
		return false;
	unsigned served = atomic_load(&c->served);
	if (c->seen != served) {
		c->seen = served;
		c->idle = 0;
		return true;
	}
	if (++c->idle < IDLE_LOOKS)
		return true;
	c->idle = 0;
	p->nudges++;
	for (struct worker *w = p->workers; w; w = w->next) {
		if (w->receiving && !atomic_load(&w->serving))
			pthread_kill(w->thread, POOL_SIGNAL);
	}
	return true;
}
