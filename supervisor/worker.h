/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: threads that receive notifications and walk each to its reply.
 *
 * MUST: whenever a worker may wait for anybody but the kernel's own work, another one receives.
 */
#ifndef USHER_SUPERVISOR_WORKER_H
#define USHER_SUPERVISOR_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "audit/record.h"
#include "supervisor/arrange.h"
#include "supervisor/exec_facts.h"
#include "supervisor/job.h"
#include "supervisor/laps.h"
#include "supervisor/place.h"

#define WORKER_SERVING 1 /* the call's number stands above these bits */
#define WORKER_ADOPTED 2 /* its part was given to another worker */

#define UNBOUND_YET (-2)

struct pool;

struct worker {
	struct session *session;
	unsigned index;
	int umask_set;            /* umask this thread has now, -1 unknown */
	bool dropped;             /* credentials differ from usher's own */
	unsigned busy;            /* calls served one after another that were taken in by others: see crowd.c */
	bool aside;               /* counted in the pool's aside */
	bool receiving;           /* counted in the pool's receivers */
	unsigned unreceived;      /* tries to receive that failed for no good reason, in a row */
	int core;                 /* its place among the receivers: index of a core, -1 when none */
	bool alone;               /* its priority is that of an only receiver */
	int bound;                /* the core its thread is bound to, -1: all, UNBOUND_YET: as whoever made it */
	atomic_bool beside;       /* free to move, it was woken by its call: on the caller's core. The watchdog takes it back */
	int stays;                /* the core it stays on as the only receiver, -1: it is free to move */
	struct stay stay;
	struct pairing pairing;
	uint64_t ran_ns;          /* how long the caller had run when it called; where none is ahead */
	uint64_t given_ns;        /* how long it took to take its descriptor, 0: there was none */
	struct way way;           /* while it receives on a core of its own */
	_Atomic uint64_t serving; /* the call it serves, with WORKER_SERVING; 0: none. See watchdog.h */
	pid_t serving_tid;        /* its caller and number: written before it is served, stay until it is not */
	int serving_nr;
	uint64_t seen, seen_ms;   /* what the watchdog saw of that, and when first */
	bool told;                /* that it is stuck */
	bool blocking;            /* reception was handed on for the current job */
	uint64_t waits_since;     /* ... which was so many'th */
	bool at_fifo;             /* ... which opens a FIFO, this one: while it waits it counts as a reader or a writer */
	int fifo_access;          /* ... how: O_RDONLY, O_WRONLY or O_RDWR */
	atomic_bool ticks;        /* ... and is interrupted at every look of the watch */
	dev_t fifo_dev;
	ino_t fifo_ino;
	size_t parking;           /* bytes of the question that it is about to let wait, of this process; 0: none. Under the lock */
	pid_t parking_for;
	atomic_bool walking;      /* has a call: see pool_settle() */
	_Atomic uint64_t trapped; /* the call whose caller a debugger has told to stop, as in serving. See trapped.c */
	atomic_bool interrupted;  /* the caller of the blocked job is gone or has a signal to handle */
	atomic_bool gone;         /* has ended by itself: there are no callers any more */
	bool reads;               /* what it waits for in patience is a file's content */
	_Atomic uint64_t patient; /* since when it waits for what is nearly always short, 0: it does not. See patience.h */
	pthread_t thread;
	struct worker *next;      /* in the pool's lists */
	struct place place;       /* the working directory it stands in */
	atomic_bool unplaced;     /* which somebody has removed: it leaves before it waits */
	/* the working directory whose name was last seen to lead to it: see fs_cwd_name() */
	uint32_t cwd_tid;
	size_t cwd_len;
	uint64_t cwd_seen;        /* CLOCK_MONOTONIC_COARSE, nanoseconds */
	char cwd[256];
	/* the descriptors of the caller that was asked about last: see open_room() */
	uint32_t room_tid;
	int room_fd;              /* O_PATH of its /proc/TID/fd, -1 when it is not held */
	/* what the caller that was asked about last waits in: see interrupted.c */
	uint32_t syscall_tid;
	int syscall_fd;           /* of its /proc/TID/syscall, -1 when it is not held */
	struct facts_kept facts;  /* of programs that were run before */
	struct laps *laps;        /* NULL: nobody asked */
	char path[4096 + 1];      /* scratch for one name */
	struct record evidence;   /* the current job's record, in buffer record */
	struct record_memo memo;
	char record[RECORD_MAX];
	struct job job;
};

/* Makes a worker and puts it into the pool, whose lock is held. Returns 0 or a negative errno. */
int worker_spawn_locked(struct pool *p);

/*
 * Says that the current job is about to do something that may wait (open a FIFO,
 * connect, wait for an exec): another worker takes over reception. Idempotent within a job; undone by the worker loop.
 */
void worker_blocking(struct worker *w);

/* The same said for W, which waits in patience, by the main thread with the pool's lock held. */
void worker_blocking_locked(struct worker *w);

/*
 * worker_blocking() before FIFO is opened for ACCESS, whether or not that waits: see watch_fifo(). What is opened for a caller that was alive after
 * this call is no surprise to the other end.
 */
void worker_at_fifo(struct worker *w, const struct stat *fifo, int access);

/*
 * Holds the worker on the core it runs on, which is its caller's, until it receives again. To be called before a wait that the caller ends: where
 * another core is idle the kernel would wake the worker there.
 */
void worker_stay(struct worker *w);

/*
 * Around the hand-over of a descriptor, whose end the caller wakes the worker for. Where W is known to be on its caller's core it stays there.
 * worker_gives() returns what worker_gave() takes.
 */
uint64_t worker_gives(struct worker *w);
void worker_gave(struct worker *w, uint64_t since);

/* Before a caller of P's is answered: who is woken so often runs before this thread goes on. Any thread. */
void worker_answers(struct pool *p);

/* Of the worker loop: before and after each call that W received, whether two should receive this caller's; and, by thread TID of it, where W stays. */
void worker_called(struct worker *w);
void worker_answered(struct worker *w);
void worker_stay_on(struct worker *w, pid_t tid);

/*
 * Says that the current job takes a while, without waiting for anything (what a question shows is gathered): another worker
 * takes over reception, unless many do this already. worker_aside_done() when it is over.
 */
void worker_aside(struct worker *w);
void worker_aside_done(struct worker *w);

/* Gives W's part among the receivers to another worker, and no more: nobody interrupts W. With the pool's lock held. */
void worker_hand_on_locked(struct worker *w);

/*
 * While blocking, the job is watched: when its caller dies or has a signal to handle, the thread is
 * interrupted (the system call returns EINTR). Returns true when that happened: answer with -ERESTARTSYS (512).
 */
bool worker_interrupted(const struct worker *w);

#endif
