/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/arrange.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "rules/clock.h"

#define STAY_FROM 3   /* calls: a short program makes no more after its exec */
#define STAY_CALLS 64 /* a caller that was moved is followed after so many calls at the latest */
#define AHEAD 4       /* nice levels: two and a half times the weight */
#define AHEAD_ALONE 8 /* six times: beside one that computes between its execs */
#define PARALLEL 8   /* changes of caller in a window: from here on callers interleave */
#define SEQUENTIAL 3 /* up to here they do not */
#define MANY 17      /* different callers: programs that run one by one make two calls and more each */
#define PINNED_MOST 8
#define WAY_SLOW_US 400     /* a few callers' turns take less, a time slice more */
#define WAY_SLOW 30         /* so many quick times make up for a slow one */
#define WAY_TOO_SLOW 60
#define WAY_LEFT_US 250000
#define CROWD_MOST 4  /* receivers for a crowd */
#define PAIR_LOOK 64  /* calls */
#define PAIR_MOVED 2  /* times what the caller had run: within its own core taking a descriptor is the shorter */
#define PAIR_RAN 3    /* times what it took */
#define PAIR_MOVES (PAIR_LOOK / 8) /* of these: a move costs some twenty times what a pair does */

void arrange_init(struct arrangement *a, const cpu_set_t *may)
{
	cpu_set_t set;

	a->cores = 0;
	if (may)
		set = *may;
	else if (sched_getaffinity(0, sizeof(set), &set) < 0)
		CPU_ZERO(&set);
	for (unsigned i = 0; i < CPU_SETSIZE && a->cores < ARRANGE_CORES; i++) {
		if (CPU_ISSET(i, &set))
			a->core[a->cores++] = (uint16_t)i;
	}
	if (!a->cores)
		a->cores = 1;
}

struct window {
	unsigned changes;
	unsigned callers; /* different ones */
	unsigned again;   /* of these came back after another had called */
};

static struct window look(const struct arrangement *a)
{
	pid_t seen[ARRANGE_WINDOW], before = 0;
	bool back[ARRANGE_WINDOW] = { false };
	struct window w = { 0 };

	for (unsigned i = 0; i < ARRANGE_WINDOW; i++) {
		pid_t tid = atomic_load_explicit(&a->recent[i], memory_order_relaxed);
		unsigned k = 0;

		while (k < w.callers && seen[k] != tid)
			k++;
		if (k == w.callers) {
			seen[w.callers++] = tid;
		} else if (tid != before && !back[k]) {
			back[k] = true;
			w.again++;
		}
		w.changes += i && tid != before;
		before = tid;
	}
	return w;
}

/* Programs that a shell, or posix_spawn, runs one by one: only who starts them comes back. So many that make a call each are no such row. */
static bool in_turn(const struct window *w)
{
	return w->changes <= SEQUENTIAL || (w->again < 2 && w->callers < MANY);
}

/* One for each core serves, and one receives for them: see crowd.h. */
static unsigned crowd(const struct arrangement *a)
{
	unsigned n = a->cores / 4;

	if (a->cores < CROWD_MOST)
		return a->cores + 1;
	return n < 1 ? 1 : n > CROWD_MOST ? CROWD_MOST : n;
}

unsigned arrange_note(struct arrangement *a, pid_t tid, unsigned now)
{
	unsigned n = atomic_fetch_add_explicit(&a->calls, 1, memory_order_relaxed);

	atomic_store_explicit(&a->recent[n % ARRANGE_WINDOW], tid, memory_order_relaxed);
	if (n % ARRANGE_WINDOW != ARRANGE_WINDOW - 1)
		return now;
	struct window w = look(a);
	bool one = in_turn(&w);
	unsigned callers = one ? 1 : w.callers;
	if (callers != atomic_load_explicit(&a->callers, memory_order_relaxed))
		atomic_store_explicit(&a->callers, callers, memory_order_relaxed);
	if (a->cores == 1)
		return now;
	bool pair = atomic_load_explicit(&a->pair, memory_order_relaxed);
	if (pair && w.callers > 1)
		atomic_store_explicit(&a->pair, false, memory_order_relaxed);
	if (one)
		return pair && w.callers == 1 ? 2 : 1;
	if (w.changes < PARALLEL)
		return pair ? 1 : now;
	if (w.callers > a->cores)
		return crowd(a);
	return w.callers < PINNED_MOST ? w.callers : PINNED_MOST;
}

bool arrange_pins(const struct arrangement *a, unsigned want)
{
	return want == a->cores && want > 1 && atomic_load_explicit(&a->callers, memory_order_relaxed) > 1;
}

bool arrange_stays(struct stay *s, pid_t tid)
{
	if (s->tid != tid) {
		s->tid = tid;
		s->calls = 0;
		return false;
	}
	return ++s->calls >= STAY_FROM && s->calls % STAY_CALLS != 0;
}

uint64_t arrange_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint32_t arrange_now_us(void)
{
	return (uint32_t)(arrange_now_ns() / 1000);
}

bool arrange_gives_way(struct way *w, uint32_t now_us)
{
	if (w->left && now_us - w->from_us >= WAY_LEFT_US)
		w->left = false;
	return !w->left;
}

void arrange_gave_way(struct way *w, uint32_t took_us, uint32_t now_us)
{
	if (took_us < WAY_SLOW_US) {
		w->slow -= w->slow > 0;
		return;
	}
	w->slow += WAY_SLOW;
	if (w->slow < WAY_TOO_SLOW)
		return;
	w->slow = WAY_TOO_SLOW - WAY_SLOW; /* once more will do */
	w->left = true;
	w->from_us = now_us;
}

bool arrange_ahead(bool alone)
{
	errno = 0;
	/* The first thread's: whoever made this one may be ahead already. */
	int nice = getpriority(PRIO_PROCESS, (id_t)getpid());

	return !errno && setpriority(PRIO_PROCESS, 0, nice - (alone ? AHEAD_ALONE : AHEAD)) == 0;
}

bool arrange_pairs(struct pairing *p, uint64_t ran_ns, uint64_t given_ns, bool now)
{
	p->moved += given_ns > PAIR_MOVED * ran_ns;
	p->ran += ran_ns > PAIR_RAN * given_ns;
	if (++p->calls < PAIR_LOOK)
		return now;
	bool pairs = now ? p->ran <= PAIR_LOOK / 2 : p->moved > PAIR_MOVES;
	*p = (struct pairing){ 0 };
	return pairs;
}

int arrange_here(const struct arrangement *a)
{
	int cpu = sched_getcpu();

	for (unsigned i = 0; i < a->cores && a->cores > 1; i++) {
		if (a->core[i] == cpu)
			return (int)i;
	}
	return -1;
}

bool arrange_free(const struct arrangement *a)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) >= (int)a->cores;
}

void arrange_bind(const struct arrangement *a, int index)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned i = 0; i < a->cores; i++) {
		if (index < 0 || i == (unsigned)index)
			CPU_SET(a->core[i], &set);
	}
	(void)sched_setaffinity(0, sizeof(set), &set);
}
