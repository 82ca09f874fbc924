/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/moves.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rules/clock.h"
#include "supervisor/proc_text.h"

/* A note: 32 bits of the count of moves, 22 of the thread's number, 9 of the value, one that is always set. */
#define VALUE_SHIFT 1
#define VALUE_MASK 0777
#define TID_SHIFT 10
#define TID_BITS 22
#define TID_MASK ((1u << TID_BITS) - 1)
#define COUNT_SHIFT 32
#define NEVER UINT64_MAX /* no count */

#define LOOK_MS 20

static move_note note_of(uint64_t count, pid_t tid, int value)
{
	return count << COUNT_SHIFT | ((uint64_t)tid & TID_MASK) << TID_SHIFT | (uint64_t)value << VALUE_SHIFT | 1;
}

/* Threads that ended without another call leave their place here. */
static bool ended(pid_t tid)
{
	return kill(tid, 0) < 0 && errno == ESRCH;
}

/* Whether TID waits in some other call, or outside of any: a shell that waits for its children after a cd makes no call usher sees. */
static bool waits_elsewhere(pid_t tid)
{
	char text[32], *end;

	if (!proc_text(tid, "syscall", text, sizeof(text)))
		return false;
	long nr = strtol(text, &end, 10); /* "running": no number */
	return end != text && nr != SYS_umask && nr != SYS_chdir && nr != SYS_fchdir;
}

/* A move that may not be done: whose, and which, so that a later one of the same thread is not taken for it. Never 0. */
static uint64_t pending_of(uint64_t count, pid_t tid)
{
	return count << TID_BITS | ((uint64_t)tid & TID_MASK);
}

static pid_t whose(uint64_t pending)
{
	return (pid_t)(pending & TID_MASK);
}

/* Each place in turn, from the first of the first room on; NULL past the last. */
static _Atomic uint64_t *next_place(struct moves_room **room, unsigned *i)
{
	if (*i == MOVES_PENDING) {
		*room = atomic_load(&(*room)->more);
		*i = 0;
	}
	return *room ? &(*room)->pending[(*i)++] : NULL;
}

static void settle(struct moves *m, _Atomic uint64_t *place, uint64_t pending)
{
	if (atomic_compare_exchange_strong(place, &pending, 0))
		atomic_fetch_sub(&m->pendings, 1);
}

void moves_settle(struct moves *m, pid_t tid)
{
	struct moves_room *room = &m->room;
	_Atomic uint64_t *place;

	for (unsigned i = 0; (place = next_place(&room, &i));) {
		uint64_t pending = atomic_load(place);
		if (pending && whose(pending) == tid)
			settle(m, place, pending);
	}
}

static void settle_all(struct moves *m)
{
	struct moves_room *room = &m->room;
	_Atomic uint64_t *place;

	for (unsigned i = 0; (place = next_place(&room, &i));) {
		uint64_t pending = atomic_load(place);
		if (pending && (ended(whose(pending)) || waits_elsewhere(whose(pending))))
			settle(m, place, pending);
	}
}

static bool enter(struct moves *m, uint64_t pending)
{
	struct moves_room *room = &m->room;
	_Atomic uint64_t *place;

	for (unsigned i = 0; (place = next_place(&room, &i));) {
		uint64_t none = 0;
		if (atomic_compare_exchange_strong(place, &none, pending))
			return true;
	}
	return false;
}

/* For as many again, behind the last. Others may be as quick: then theirs is taken. */
static bool make_room(struct moves *m)
{
	struct moves_room *last = &m->room, *next, *fresh = calloc(1, sizeof(*fresh));

	if (!fresh)
		return false;
	while ((next = atomic_load(&last->more)))
		last = next;
	if (!atomic_compare_exchange_strong(&last->more, &next, fresh))
		free(fresh);
	return true;
}

void moves_begin(struct moves *m, pid_t tid)
{
	moves_settled(m, tid);
	/* Counted first: a place without a count would let somebody remember. Without a place the count stays, and nothing is remembered any more. */
	atomic_fetch_add(&m->pendings, 1);
	uint64_t pending = pending_of(atomic_load(&m->count), tid);
	bool entered = enter(m, pending);
	if (!entered)
		settle_all(m);
	while (!entered && !(entered = enter(m, pending)) && make_room(m))
		;
	atomic_fetch_add(&m->count, 1);
}

void moves_number_changes(struct moves *m)
{
	atomic_fetch_add(&m->count, 1);
}

bool moves_known(struct moves *m, move_note note, pid_t tid, int *value)
{
	*value = (int)(note >> VALUE_SHIFT & VALUE_MASK);
	return note && note == note_of(atomic_load(&m->count), tid, *value);
}

/* A move that was begun may be done, and known to be, between the reading and what is remembered of it: pending now is enough. */
uint64_t moves_before(struct moves *m)
{
	uint64_t count = atomic_load(&m->count);

	return atomic_load(&m->pendings) ? NEVER : count;
}

bool moves_none_since(struct moves *m, uint64_t before)
{
	return before != NEVER && moves_before(m) == before;
}

static uint64_t coarse_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC_COARSE);
}

/* Looking costs microseconds for each that is pending: now and then is enough, and more seldom where they are many. */
static bool all_settled(struct moves *m)
{
	unsigned pendings = atomic_load(&m->pendings);

	if (!pendings)
		return true;
	uint64_t last = atomic_load(&m->looked), now = coarse_ms();
	if (now - last >= LOOK_MS * (1 + pendings / MOVES_PENDING) && atomic_compare_exchange_strong(&m->looked, &last, now))
		settle_all(m);
	return false; /* next time */
}

move_note moves_remember(struct moves *m, uint64_t before, pid_t tid, int value)
{
	if (!all_settled(m) || atomic_load(&m->count) != before)
		return 0;
	return note_of(before, tid, value);
}
