/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order calls that were received are served. Processes are ranked by how long they paused between their last answer and their next
 * call: 0 are the busy ones, which do little but call, among many as among few. They are served in the order they came, those of the worker's own core a little
 * earlier: an answer takes a caller to the core of who answers, so that a busy process and its worker stay on one. The others
 * come first, whoever paused longest; every sixteenth is the oldest of all.
 *
 * MUST: bounded memory; no lock, no clock: whoever uses it has both. One process counts once, however many threads it calls with.
 */
#ifndef USHER_SUPERVISOR_CROWD_ORDER_H
#define USHER_SUPERVISOR_CROWD_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervisor/arrange.h"
#include "supervisor/kernel.h"

#define ORDER_MAX 2048         /* calls */
#define ORDER_CLASSES 20       /* by the binary logarithm of the pause in microseconds */
#define ORDER_REMEMBERED 4096  /* processes, and threads, by number: a power of two */

struct order_link {
	uint16_t prev, next;
};

struct order_call {
	struct seccomp_notif notif;
	struct order_link age, rank; /* of all by age, of its rank by age */
	pid_t process;
	uint32_t number;
	uint8_t of;                  /* its rank */
	uint8_t core;                /* of the busy: index of where it runs */
};

struct order_list {
	uint16_t first, last;
};

struct order_answered {
	pid_t process;
	uint32_t at_us;
};

struct order_home {
	pid_t tid;
	int core; /* index, -1: unknown */
};

struct order {
	struct order_call call[ORDER_MAX];
	uint16_t spare[ORDER_MAX];            /* places that are free again; from untouched on they were never used */
	unsigned spares, untouched, promised;
	struct order_list all, ranked[ORDER_CLASSES], busy[ARRANGE_CORES];
	struct order_answered answered[ORDER_REMEMBERED];
	struct order_home home[ORDER_REMEMBERED];
	uint32_t usual;                       /* pause, in microseconds: half of them are shorter */
	unsigned noted, of_class[ORDER_CLASSES];
	uint8_t busiest;                      /* who is of this class or a lower one is busy */
	uint32_t number;
	unsigned turn;
};

/* O is zeroed memory, of which only what calls need is ever touched: pages_new(). */
void order_init(struct order *o);

/* PROCESS (0: unknown) calls, at NOW_US: its rank. To be asked once for each call. */
uint8_t order_rank(struct order *o, pid_t process, uint32_t now_us);

/* Whether who is ranked so waits for nobody of the busy: be it served at once by who received its call. */
bool order_is_rare(const struct order *o, uint8_t rank);

static inline bool order_has_room(const struct order *o)
{
	return o->spares + ORDER_MAX - o->untouched > o->promised;
}

/* Keeps a place for one call that is still to come. False: there is none. order_keep() ends that, whether the call has come or not. */
static inline bool order_promise(struct order *o)
{
	bool room = order_has_room(o);

	o->promised += room;
	return room;
}

static inline void order_keep(struct order *o)
{
	o->promised--;
}

/* Takes a call in; there is room, asked for under the same lock, or promised. CORE: where it was received, -1 unknown. */
void order_add(struct order *o, const struct seccomp_notif *n, pid_t process, uint8_t rank, int core);

/* Gives the call that a worker on CORE (-1: any) serves next, and its process. False: there is none. */
bool order_next(struct order *o, int core, struct seccomp_notif *out, pid_t *process);

/* Thread TID of PROCESS (0: unknown) is answered on CORE. */
void order_answered(struct order *o, pid_t process, pid_t tid, int core, uint32_t now_us);

#endif
