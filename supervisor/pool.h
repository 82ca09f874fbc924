/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a session: who receives, who may wait, what is parked.
 *
 * The lock is taken when a worker changes its part (starts to wait, comes back, parks
 * a call), never for a call that is decided and answered at once.
 */
#ifndef USHER_SUPERVISOR_POOL_H
#define USHER_SUPERVISOR_POOL_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/question.h"
#include "rules/squeeze.h"
#include "supervisor/arrange.h"
#include "supervisor/facts_hash.h"
#include "supervisor/stack_stop.h"
#include "supervisor/stall.h"
#include "supervisor/worker.h"

/* Interrupts a worker that waits in a system call. One that nobody sends to a program; not a real-time one, which is queued and counted. */
#define POOL_SIGNAL SIGSTKFLT

struct crowd;

/* A call that waits for an answer, or has it and waits for a worker. Its job is packed behind it. */
struct parked {
	struct parked *prev;
	struct parked *next;
	uint64_t token;
	uint64_t noted;         /* the record of what was asked */
	enum stall_state stall; /* where its caller is held */
	bool asked;             /* the job's question is valid */
	bool gone;              /* its caller is no longer where it is held */
	bool answered;          /* the answer came while the caller was being moved */
	struct parked *next_moving;
	struct letting *letting; /* where it is held: what lets it go, made beforehand */
	struct answer *answer;   /* once answered */
	const void *image;      /* proc_generation() when it was parked */
};

static inline struct job *parked_job(const struct parked *k)
{
	return (struct job *)(uintptr_t)(k + 1);
}

/* K with what it has but what its job holds: job_unpack() or job_discard() that before. */
void parked_free(struct parked *k);

struct pool {
	struct session *session;
	pthread_mutex_t lock;
	pthread_cond_t spare;     /* something for a spare worker to do */
	atomic_uint receivers;       /* workers receiving or walking without waiting */
	atomic_uint want;            /* how many there should be; written under the lock, read without */
	uint64_t places;          /* cores whose place among the receivers is taken, by index */
	struct arrangement arrangement;
	unsigned spares;          /* workers waiting on spare */
	unsigned threads;         /* all workers */
	unsigned blocked;         /* workers that may be waiting */
	uint64_t waits_begun;     /* by all of them, so far */
	bool unfilled;            /* fewer receive than should: there was no thread for more */
	atomic_bool unserved;     /* nor for what was answered; written under the lock, read without */
	atomic_uint at_fifos;     /* of them, in the open of a FIFO; written under the lock, read without */
	struct worker *workers;   /* all of them */
	struct worker *next_blocked; /* that the watch looks at, if it waits; NULL: the first */
	struct parked *parked;    /* waiting for an answer */
	unsigned listed;          /* of them in the kernel's list of notifications */
	struct stalls *stalls;    /* who holds the others; NULL: there are none yet */
	struct parked *returning; /* answered, their callers let go: the call comes back */
	atomic_uint returns;      /* how many; read without the lock */
	struct parked *look;      /* the next of them that the watch looks at; NULL: the first */
	struct parked *answered;  /* have one, in order */
	struct parked *answered_last;
	_Atomic(struct crowd *) crowd; /* NULL until there was one; see crowd.h */
	atomic_uint taken_in;     /* calls that were received and wait for their turn */
	unsigned nudges;          /* how often nobody served them until the watch woke all */
	atomic_uint outside;      /* workers that wait in the kernel without counting in the crowd, or are about to */
	uint64_t next_token;
	unsigned aside;           /* workers that gather what a question shows */
	atomic_bool gathered;     /* some have, since the heap was last trimmed */
	struct hash_cache hashes; /* has a lock of its own */
	struct hash_cache contents; /* of images, for rules: only of files that cannot have changed unseen */
	struct stacks stacks;     /* so have they */
	struct squeezer squeezer; /* so has it: for calls that wait for a person */
	int watch;                /* eventfd: something for the watch to look after */
	bool watching;            /* it does */
	atomic_bool minding;      /* the main thread looks at those in patience, see patience.h */
	atomic_uint waits;        /* in patience, so far */
	unsigned waits_seen;      /* by the main thread */
	unsigned quiet_looks;     /* of it, without a new one */
	atomic_uint distrusted;   /* waits that will not be trusted to be short */
	atomic_bool dozing;       /* the watchdog sleeps until the next call */
	atomic_bool wary;         /* a call got stuck a moment ago, as the next may */
	unsigned calls_seen;      /* how many calls it knew of */
	unsigned quiet;           /* its looks since something happened */
	atomic_bool stopping;
};

/* Starts the first worker, and sets s->pool before it runs. It does not receive yet, and asks for no listener. Returns 0 or a negative errno. */
int pool_start(struct session *s);

/* From here on calls are received: the session's listener is known. */
void pool_open(struct pool *p);

/* Stops receiving. The tree must be gone: what still waits in the kernel is interrupted. */
void pool_stop(struct pool *p);

/*
 * After pool_stop(): waits until no worker is at work on a call any more, so that the journal can be closed. Returns false when one still
 * is after twenty seconds; after two it is said what is waited for.
 */
bool pool_settle(struct pool *p);

/* Prints where the time of calls went, when the session asked for it. After pool_stop(). */
void pool_profile(struct pool *p, FILE *to);

/* Makes sure that a worker takes what was put into p->answered. Called with the lock held. */
void pool_work_locked(struct pool *p);

/* A call has removed directory INO, the one that W serves: nobody stands there any more, or the directory would not be gone. */
void pool_removed(struct worker *w, uint64_t ino);

/* Whether thread TID has a signal that it would handle, or is to stand with its process, were it not waiting for us; or is gone. */
bool pool_signal_waits(pid_t tid);

/* Whether thread TID, which waits for us, is on its way to a signal for certain: no other thread can be the one that handles it. */
bool pool_signal_certain(pid_t tid);

/* Whether the caller of J, which waits for us, stops for its debugger as soon as it does not. */
bool pool_stop_certain(const struct job *j);

/* Whether thread TID has ended. */
bool pool_thread_ended(pid_t tid);

#endif
