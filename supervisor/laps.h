/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the time of a call goes. A worker keeps laps only when the session was asked to (usher run --profile): otherwise a
 * lap costs a test of one pointer.
 */
#ifndef USHER_SUPERVISOR_LAPS_H
#define USHER_SUPERVISOR_LAPS_H

#include <stdint.h>
#include <stdio.h>

enum lap {
	LAP_CALLER,  /* which process it is */
	LAP_READ,    /* arguments copied */
	LAP_RESOLVE,
	LAP_DECIDE,
	LAP_RECORD,  /* formatted, intent, final record */
	LAP_PERFORM,
	LAP_REPLY,   /* descriptor handed over, answer sent */
	LAP_REST,    /* made ready for the next call */
	LAP_COUNT,
};

struct laps {
	uint64_t since; /* nanoseconds: end of the lap before */
	uint64_t spent[LAP_COUNT];
	uint64_t waited;           /* laps of 30 us or more: others had the core, or the call itself waited */
	uint64_t waited_ns;
	uint64_t calls;
};

/* Starts a call: what went before, waiting for it, is nobody's. */
void laps_begin(struct laps *l);

/* Goes on with a call that was counted when it began, maybe by another worker: what went before is nobody's either. */
void laps_go_on(struct laps *l);

void laps_take(struct laps *l, enum lap lap);

void laps_add(struct laps *sum, const struct laps *l);

/* One line for each lap and one for all, per call. */
void laps_print(const struct laps *l, FILE *to);

/* Books the time since the last lap under LAP. L may be NULL. */
static inline void lap(struct laps *l, enum lap lap)
{
	if (__builtin_expect(l != NULL, 0))
		laps_take(l, lap);
}

#endif
