/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/crowd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "supervisor/procs.h"
#include "supervisor/session.h"
#include "supervisor/watch.h"

#define CLASSES 20       /* by the binary logarithm of the pause in microseconds */
#define STRANGER 6       /* a process that was not answered yet, or long ago */
#define REMEMBERED 4096  /* processes, by number: a power of two */
#define OLDEST_EVERY 4
#define ALL_EVERY 4      /* each look costs the kernel a walk past all that wait: between these a single one has to do */
#define IDLE_LOOKS 10    /* of the watch, before it nudges */
#define NONE UINT16_MAX

struct link {
	uint16_t prev, next;
};

struct taken {
	struct seccomp_notif notif;
	struct link age, order; /* of all by age, of its class by age */
	uint8_t class;
};

struct list {
	uint16_t first, last;
};

struct answered {
	pid_t process;
	uint32_t at_us;
};

struct crowd {
	pthread_mutex_t taking; /* never waited for */
	pthread_mutex_t lock;
	struct taken slot[CROWD_MAX];
	uint16_t spare[CROWD_MAX];
	unsigned spares;
	struct list all, class[CLASSES];
	struct answered answered[REMEMBERED];
	unsigned turn;
	atomic_uint served;
	unsigned seen, idle; /* how many served calls the last look knew of; looks since then without another. The pool's lock */
};

static uint32_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)((uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000);
}

static struct crowd *crowd_new(void)
{
	struct crowd *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->taking, NULL);
	c->all = (struct list){ NONE, NONE };
	for (int i = 0; i < CLASSES; i++)
		c->class[i] = c->all;
	for (uint16_t i = 0; i < CROWD_MAX; i++)
		c->spare[c->spares++] = i;
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
	free(c);
	return none;
}

#define LINK(c, i, which) (&(c)->slot[i].which)
#define APPEND(c, list, i, which)                             \
	do {                                                  \
		*LINK(c, i, which) = (struct link){ (list)->last, NONE }; \
		if ((list)->last != NONE)                     \
			LINK(c, (list)->last, which)->next = (i); \
		else                                          \
			(list)->first = (i);                  \
		(list)->last = (i);                           \
	} while (0)
#define REMOVE(c, list, i, which)                             \
	do {                                                  \
		struct link l_ = *LINK(c, i, which);          \
		if (l_.prev != NONE)                          \
			LINK(c, l_.prev, which)->next = l_.next; \
		else                                          \
			(list)->first = l_.next;              \
		if (l_.next != NONE)                          \
			LINK(c, l_.next, which)->prev = l_.prev; \
		else                                          \
			(list)->last = l_.prev;               \
	} while (0)

static uint8_t class_of(const struct crowd *c, pid_t process, uint32_t now)
{
	const struct answered *a = &c->answered[(unsigned)process % REMEMBERED];
	uint8_t class = 0;

	if (!process || a->process != process)
		return STRANGER;
	for (uint32_t pause = now - a->at_us; pause && class < CLASSES - 1; pause >>= 1)
		class++;
	return class;
}

static void take_in_locked(struct crowd *c, const struct seccomp_notif *n, pid_t process, uint32_t now)
{
	uint16_t i = c->spare[--c->spares];

	c->slot[i].notif = *n;
	c->slot[i].class = class_of(c, process, now);
	APPEND(c, &c->all, i, age);
	APPEND(c, &c->class[c->slot[i].class], i, order);
}

static uint16_t choose_locked(struct crowd *c)
{
	if (c->all.first == NONE || ++c->turn % OLDEST_EVERY == 0)
		return c->all.first;
	for (int k = CLASSES - 1; k >= 0; k--) {
		if (c->class[k].first != NONE)
			return c->class[k].first;
	}
	return NONE;
}

static bool has_come(const struct pool *p)
{
	struct pollfd fd = { p->session->listener, POLLIN, 0 };

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLIN);
}

/* For who takes in: only others make more of it. */
static bool room(struct crowd *c)
{
	pthread_mutex_lock(&c->lock);
	bool some = c->spares > 0;
	pthread_mutex_unlock(&c->lock);
	return some;
}

/*
 * All that has come by now. One worker at a time: another could take the call that was seen here. Who waits in the kernel already can do so all
 * the same; then this one waits there, too, the others serve what is taken in, and should there be no other the nudge ends the wait.
 */
static void take_in(struct pool *p, struct crowd *c)
{
	struct seccomp_notif n;
	bool all = atomic_load(&c->served) % ALL_EVERY == 0;

	if (pthread_mutex_trylock(&c->taking))
		return;
	for (bool more = true; more && room(c) && has_come(p);) {
		memset(&n, 0, sizeof(n));
		if (ioctl(p->session->listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
			break;
		pid_t process = procs_process(p->session->procs, (pid_t)n.pid);
		pthread_mutex_lock(&c->lock);
		take_in_locked(c, &n, process, now_us());
		pthread_mutex_unlock(&c->lock);
		if (atomic_fetch_add(&p->taken_in, 1) == 0) {
			pthread_mutex_lock(&p->lock);
			watch_wake_locked(p);
			pthread_mutex_unlock(&p->lock);
		}
		more = all;
	}
	pthread_mutex_unlock(&c->taking);
}

bool crowd_next(struct pool *p, struct seccomp_notif *out)
{
	struct crowd *c = crowd_of(p);

	if (!c)
		return false;
	take_in(p, c);
	pthread_mutex_lock(&c->lock);
	uint16_t i = choose_locked(c);
	if (i != NONE) {
		REMOVE(c, &c->all, i, age);
		REMOVE(c, &c->class[c->slot[i].class], i, order);
		*out = c->slot[i].notif;
		c->spare[c->spares++] = i;
	}
	pthread_mutex_unlock(&c->lock);
	if (i == NONE)
		return false;
	atomic_fetch_sub(&p->taken_in, 1);
	atomic_fetch_add(&c->served, 1);
	return true;
}

void crowd_served(struct pool *p, pid_t tid)
{
	struct crowd *c = atomic_load(&p->crowd);
	pid_t process = c ? procs_process(p->session->procs, tid) : 0;

	if (!process)
		return;
	uint32_t now = now_us();
	pthread_mutex_lock(&c->lock);
	c->answered[(unsigned)process % REMEMBERED] = (struct answered){ process, now };
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
	for (struct worker *w = p->workers; w; w = w->next) {
		if (w->receiving && !atomic_load(&w->serving))
			pthread_kill(w->thread, POOL_SIGNAL);
	}
	return true;
}
