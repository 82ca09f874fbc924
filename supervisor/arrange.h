/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many workers receive, and where. One, free to move, serves callers that come one after another: with
 * SYNC_WAKE_UP it runs on each caller's core. While no more callers than there are cores interleave, one worker for each
 * core receives, pinned there, so that calls stay on the core they were made on. When more callers interleave one more than cores receives,
 * because they have parts of their own then (crowd.h); with four cores and more only few do, since every worker that waits is woken by every
 * call and takes time from the callers. docs/PERFORMANCE.md has the figures.
 */
#ifndef USHER_SUPERVISOR_ARRANGE_H
#define USHER_SUPERVISOR_ARRANGE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRANGE_CORES 64
#define ARRANGE_WINDOW 32 /* calls looked at together */

/* Shared by all workers; no lock: a call that is missed or counted twice does no harm. */
struct arrangement {
	unsigned cores;                       /* usable cores, at most ARRANGE_CORES */
	uint16_t core[ARRANGE_CORES];         /* their numbers */
	atomic_uint calls;
	atomic_uint callers;                  /* different ones in the window before, 1 where they came in turn */
	_Atomic pid_t recent[ARRANGE_WINDOW]; /* callers of the latest calls */
	atomic_bool behind;                   /* workers may not go ahead of callers: see arrange_ahead() */
	atomic_bool pair;                     /* a single caller's calls are received by two: see arrange_pairs() */
	_Atomic uint64_t answered_ns;         /* when its latest call was */
};

/* Learns which cores workers may use: MAY, or where that is NULL what the calling thread may. */
void arrange_init(struct arrangement *a, const cpu_set_t *may);

/* Notes a call of thread TID. Returns how many workers should receive from now on; NOW do at present. */
unsigned arrange_note(struct arrangement *a, pid_t tid, unsigned now);

/* Whether WANT receivers are those of callers that interleave, each pinned to its core. */
bool arrange_pins(const struct arrangement *a, unsigned want);

/*
 * Whether the single receiver stays on its core. It is free when it receives, so that a call wakes it on the caller's core; but the caller
 * wakes it a second time, when it has taken its descriptor (ADDFD), and that wake-up is not synchronous: the kernel
 * looks for an idle core, and each open costs two wake-ups across cores. So while one thread makes call after call, the
 * receiver is held where it is, and let go now and then, to follow a caller that was moved.
 */
struct stay {
	pid_t tid; /* who made the latest call */
	unsigned calls;
};

/* Notes a call of thread TID (0: one for which nothing is held); returns whether the receiver stays. Threads: the receiver. */
bool arrange_stays(struct stay *s, pid_t tid);

/*
 * Raises the calling thread's priority a little, where this process may. A caller that does little but call has used less of the core than
 * its worker, so that the kernel (EEVDF, since 6.12) takes it off the core's queue when it waits, and wakes it on another
 * one, where it finds that idle; a waiting thread that has used more stays queued, and is woken where it is. ALONE: it is the only one that
 * receives, and goes further ahead: a caller that is let go to exec shall not get the core before its worker has gone to wait, as execve(2) moves to
 * an idle core where it finds another thread on its own core's queue. Beside several callers that would only keep them from running.
 * Returns false where this process may not.
 */
bool arrange_ahead(bool alone);

/*
 * Whether two receive the calls of a single caller, where none may go ahead. A call wakes both, on the caller's core, and the one that does not get it
 * has used less of that core than the caller, which so stays queued there while it waits, and is woken in place by its descriptor
 * (arrange_ahead() tells why). That costs each call the other's wake-up: it is for callers that do next to nothing between their calls, and whom the
 * kernel moves to an idle core at each descriptor.
 */
struct pairing {
	unsigned calls;
	unsigned moved; /* of these took far longer to take a descriptor than the caller had run */
	unsigned ran;   /* ... the caller had run far longer */
};

/* A caller had run for RAN_NS when it called, and took its descriptor within GIVEN_NS. NOW: two receive at present. Threads: the receiver P belongs to. */
bool arrange_pairs(struct pairing *p, uint64_t ran_ns, uint64_t given_ns, bool now);

/* CLOCK_MONOTONIC. Any thread. */
uint64_t arrange_now_ns(void);

/* The same, in microseconds; it wraps after an hour. Any thread. */
uint32_t arrange_now_us(void);

/*
 * Whether a worker that serves one call after another gives way before the next: to the receiver, and to a caller that was answered, which have
 * used less of the core but are not run before it waits. Where programs compute on the core it would be their turn, too, for whole time slices: it is left
 * then for a while.
 */
struct way {
	unsigned slow;   /* it took long, of late */
	bool left;
	uint32_t from_us; /* when it was left */
};

bool arrange_gives_way(struct way *w, uint32_t now_us);

/* It gave way for TOOK_US, until NOW_US. */
void arrange_gave_way(struct way *w, uint32_t took_us, uint32_t now_us);

/* The index of the core this thread runs on, -1 when it is none of the arrangement's or the only one. */
int arrange_here(const struct arrangement *a);

/* Whether the calling thread may run on all of the arrangement's cores: else somebody has confined it. */
bool arrange_free(const struct arrangement *a);

/* Binds the calling thread to core number INDEX of the arrangement, or to all of them when INDEX is negative. */
void arrange_bind(const struct arrangement *a, int index);

#endif
