/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/umask.h"

#include <errno.h>
#include <signal.h>

/* A note: 32 bits of the count of moves, 22 of the thread's number, 9 of the mask, one that is always set. */
#define MASK_SHIFT 1
#define TID_SHIFT 10
#define TID_BITS 22
#define MOVES_SHIFT 32

static umask_note note(uint64_t moves, pid_t tid, int mask)
{
	return moves << MOVES_SHIFT | ((uint64_t)tid & ((1u << TID_BITS) - 1)) << TID_SHIFT | (uint64_t)mask << MASK_SHIFT | 1;
}

/* Threads that ended without another call leave their place here. */
static bool ended(pid_t tid)
{
	return kill(tid, 0) < 0 && errno == ESRCH;
}

static bool settle(struct umasks *u, unsigned i, pid_t tid)
{
	if (!atomic_compare_exchange_strong(&u->pending[i], &tid, 0))
		return false;
	atomic_fetch_sub(&u->pendings, 1);
	return true;
}

void umask_settle(struct umasks *u, pid_t tid)
{
	for (unsigned i = 0; i < UMASKS_PENDING; i++)
		settle(u, i, tid);
}

static bool enter(struct umasks *u, pid_t tid)
{
	for (unsigned i = 0; i < UMASKS_PENDING; i++) {
		pid_t old = 0;
		if (atomic_compare_exchange_strong(&u->pending[i], &old, tid))
			return true;
		if (ended(old) && atomic_compare_exchange_strong(&u->pending[i], &old, tid)) {
			atomic_fetch_sub(&u->pendings, 1);
			return true;
		}
	}
	return false;
}

void umask_moves(struct umasks *u, pid_t tid)
{
	/* Counted first: a place without a count would let somebody remember. Without a place the count stays, and nothing is remembered any more. */
	atomic_fetch_add(&u->pendings, 1);
	(void)enter(u, tid);
	atomic_fetch_add(&u->moves, 1);
}

bool umask_known(struct umasks *u, umask_note n, pid_t tid, int *mask)
{
	*mask = (int)(n >> MASK_SHIFT & 0777);
	return n && n == note(atomic_load(&u->moves), tid, *mask);
}

uint64_t umask_before(struct umasks *u)
{
	return atomic_load(&u->moves);
}

static bool all_settled(struct umasks *u)
{
	if (!atomic_load(&u->pendings))
		return true;
	for (unsigned i = 0; i < UMASKS_PENDING; i++) {
		pid_t tid = atomic_load(&u->pending[i]);
		if (tid && ended(tid))
			settle(u, i, tid);
	}
	return false; /* next time */
}

umask_note umask_remember(struct umasks *u, uint64_t before, pid_t tid, int mask)
{
	if (!all_settled(u) || atomic_load(&u->moves) != before)
		return 0;
	return note(before, tid, mask);
}
