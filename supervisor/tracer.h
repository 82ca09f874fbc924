/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the tree that trace others. While such a thread is held it makes no call of ptrace, so that what it has stopped, or is about to
 * stop, stays so.
 */
#ifndef USHER_SUPERVISOR_TRACER_H
#define USHER_SUPERVISOR_TRACER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct job;
struct tracer;

struct tracers {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct tracer *held;
	struct stopping *stopping;
	struct going *going;
	atomic_uint n_going;
	_Atomic(unsigned char *) seized; /* a bit for each thread number; NULL: nobody has */
	atomic_bool all_seized;          /* there was no memory for them */
};

void tracers_init(struct tracers *all);

/* TID is about to make a call of PTRACE_SEIZE. Never taken back. */
void tracers_note_seize(struct tracers *all, pid_t tid);
bool tracers_has_seized(struct tracers *all, pid_t tid);

/* The thread that was WAS goes by the number TID since its exec. */
void tracers_renamed(struct tracers *all, pid_t was, pid_t tid);

/* The address of a PTRACE_INTERRUPT that hold_interrupt() makes, which the kernel does not look at: the filter lets it be. */
#define INTERRUPT_HELD 0x68656c64

/* One worker's part in holding a thread. */
struct hold {
	struct tracer *tracer; /* NULL: none */
	bool owner;            /* it traces; others have joined */
};

/*
 * Holds TID, for J's caller. It stands in a stop then or, unless ALONE, waits in a vfork, which it leaves for a stop only. With ALONE nobody
 * joins in. Returns 0; -EBUSY: somebody else traces it; -EAGAIN: usher does, for another reason; -ESRCH: it ends; -EDEADLK: it waits in a
 * vfork; -ECANCELED: the caller is gone. hold_end() whenever out->tracer is not NULL, after the caller was answered: it may be what TID waits for.
 */
int tracer_hold(struct job *j, pid_t tid, bool alone, struct hold *out);
void hold_end(struct hold *h, struct tracers *all);

/*
 * Has the thread, held by its owner alone, ask for a stop of the thread CALLER, which then stops at the end of its exec, or behind it, whatever
 * options it is traced with. Returns 1; 0: it was not attached by PTRACE_SEIZE; -EPERM: the thread has seccomp filters of its own, so that its
 * calls say nothing; or another negative errno. The call that the thread was in is made again.
 */
int hold_interrupt(struct job *j, struct hold *h, pid_t caller);

/* Sleeps for *PAUSE between two looks at a thread, from TRACER_NAP_NS on twice as long each time, at most a millisecond. */
#define TRACER_NAP_NS (10 * 1000)
void tracer_nap(struct timespec *pause);

/* A thread that usher traces for something else than a hold, from its interrupt until it stops or ends. */
struct stopping {
	pid_t tid;
	bool awaited;
	struct stopping *next;
};

/* After the interrupt, and before it is let go: only meanwhile it is sure to stop. The second may come more than once, or alone. */
void stopping_begin(struct tracers *all, struct stopping *s);
void stopping_end(struct tracers *all, struct stopping *s);

/*
 * Whether TID, which waits in a notification, is on its way into a hold, or stopping: it has to be let go before anybody gets on, and stops
 * instead of running, so that it may be told to restart its call.
 */
bool tracers_await(struct tracers *all, pid_t tid);

/* A traced caller on its way through an exec. */
struct going {
	pid_t tid;
	uint64_t id; /* of its notification */
	atomic_bool back;
	struct going *next;
};

void going_begin(struct tracers *all, struct going *g);
void going_end(struct tracers *all, struct going *g);

/* J is an exec: when its caller was thought to be in an earlier one, that one has failed. */
void going_back(struct tracers *all, const struct job *j);

#endif
