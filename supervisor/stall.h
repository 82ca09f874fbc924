/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers that wait for a person, held outside the kernel's list of notifications.
 *
 * The kernel walks that list, oldest first, for every call that is received, checked and answered: a thousand that wait
 * would make each other call several times as long. Beyond STALL_KEEP of them the callers are held in a ptrace stop instead,
 * on their way to restart the call. What was copied, resolved and held stays with the parked job; when the answer is there the
 * thread is let go, its call comes anew, and the parked job goes on under the new notification.
 *
 * MUST: a parked call is answered once, wherever it is held; a call that comes back is taken for the parked one only when
 * thread, process, instruction and registers are the same, and then nothing is read from the caller again; whatever is traced is let
 * go or seen to end.
 */
#ifndef USHER_SUPERVISOR_STALL_H
#define USHER_SUPERVISOR_STALL_H

#include <stdbool.h>
#include <sys/types.h>

struct parked;
struct pool;
struct worker;

#define STALL_KEEP 16 /* that stay in the kernel's list: what most sessions ever have */

enum stall_state {
	STALL_NONE = 0, /* in the kernel's list */
	STALL_MOVING,   /* on its way out of it: only the thread that moves it may answer */
	STALL_HELD,     /* stopped, or gone since (parked.gone) */
};

/* With the pool's lock held. K has been asked: moves it out of the kernel's list where there are too many. */
void stall_consider_locked(struct pool *p, struct parked *k);

/*
 * With the lock held. K, taken out of the parked calls, has its answer: true when it is here that it goes on; false: it
 * is in the kernel's list, and a worker can reply.
 */
bool stall_answered_locked(struct pool *p, struct parked *k);

/* With the lock held. K, held and taken out of the parked calls, waits no longer: its thread goes on as after an interrupted call. */
void stall_let_go_locked(struct pool *p, struct parked *k);

/* With the lock held, by the watch: who was answered, let go and has ended before its call came back is recorded and forgotten. */
void stall_look_locked(struct pool *p);

/* The parked call that comes back with w->job's notification, taken out; NULL: none, it is a call of its own. */
struct parked *stall_returned(struct worker *w);

/*
 * With session->held locked: whether TID is held here. Its number means it until that lock is given up, also should it be answered or killed meanwhile. Any
 * thread.
 */
bool stall_holds(struct pool *p, pid_t tid);

/* With the lock held, once the tree is gone. */
void stall_stop_locked(struct pool *p);

#endif
