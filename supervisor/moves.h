/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When what was read once of a thread (its umask, its working directory) is still right.
 *
 * The kernel changes it after the answer to the notification, at a moment nobody tells: so from the notification of such a
 * call until the same thread is seen in another one nothing that is read is remembered.
 *
 * MUST: what was remembered before any move in the tree is not used after it; threads may share what moves or not.
 */
#ifndef USHER_SUPERVISOR_MOVES_H
#define USHER_SUPERVISOR_MOVES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MOVES_PENDING 64

struct moves_room {
	_Atomic uint64_t pending[MOVES_PENDING]; /* moves that may not be done yet; 0: free */
	struct moves_room *_Atomic more;         /* where so many did not do; stays */
};

struct moves {
	_Atomic uint64_t count;  /* moves so far */
	struct moves_room room;
	atomic_uint pendings;
	_Atomic uint64_t looked; /* after whom of them was looked last: CLOCK_MONOTONIC_COARSE, milliseconds */
};

/* TID's call that moves is about to be let go on. */
void moves_begin(struct moves *m, pid_t tid);

void moves_settle(struct moves *m, pid_t tid);

/* A thread's number is another's from now on, which moves nothing itself: an exec by a thread that was not the first. */
void moves_number_changes(struct moves *m);

/* TID makes another call: its move, if there was one, is done. */
static inline void moves_settled(struct moves *m, pid_t tid)
{
	if (atomic_load_explicit(&m->pendings, memory_order_acquire))
		moves_settle(m, tid);
}

/* A value of nine bits with what it takes to know later whether it still holds. Zero holds nothing. */
typedef uint64_t move_note;

/* Whether NOTE is of thread TID and still right: *value is set then. */
bool moves_known(struct moves *m, move_note note, pid_t tid, int *value);

/* Before reading: what moves_remember() wants. While somebody may be moving it is nothing that could be remembered by. */
uint64_t moves_before(struct moves *m);

/* Whether nothing has moved since, or may be about to: BEFORE as moves_before() gave it. */
bool moves_none_since(struct moves *m, uint64_t before);

/* VALUE was read after BEFORE was taken: the note to keep, 0 when it may be out of date. */
move_note moves_remember(struct moves *m, uint64_t before, pid_t tid, int value);

#endif
