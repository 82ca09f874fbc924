/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a umask that was read once is still right.
 *
 * The kernel changes a umask after the answer to the notification, at a moment nobody tells: so from the notification of a
 * umask call until the next call of the same thread nothing that is read is remembered.
 *
 * MUST: what was remembered before any umask call of the tree is not used after it; threads may share a umask or not.
 */
#ifndef USHER_SUPERVISOR_UMASK_H
#define USHER_SUPERVISOR_UMASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UMASKS_PENDING 8

struct umasks {
	_Atomic uint64_t moves;                /* umask calls so far */
	_Atomic pid_t pending[UMASKS_PENDING]; /* threads whose umask call may not be done yet; 0: free */
	atomic_uint pendings;
};

/* TID's umask call is about to be let go on. */
void umask_moves(struct umasks *u, pid_t tid);

void umask_settle(struct umasks *u, pid_t tid);

/* TID makes another call: its umask call, if there was one, is done. */
static inline void umask_settled(struct umasks *u, pid_t tid)
{
	if (atomic_load_explicit(&u->pendings, memory_order_acquire))
		umask_settle(u, tid);
}

/* A umask with what it takes to know later whether it still holds. Zero holds nothing. */
typedef uint64_t umask_note;

/* *mask is set when NOTE is of thread TID and still right. */
bool umask_known(struct umasks *u, umask_note note, pid_t tid, int *mask);

/* Before reading: what umask_remember() wants. */
uint64_t umask_before(struct umasks *u);

/* MASK was read after BEFORE was taken: the note to keep, 0 when it may be out of date. */
umask_note umask_remember(struct umasks *u, uint64_t before, pid_t tid, int mask);

#endif
