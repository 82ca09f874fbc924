/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question while it waits, for minutes and beside thousands: what the engine goes by, and the rest squeezed until
 * somebody looks at it. Shared by the engine and the channels.
 */
#ifndef USHER_POLICY_FILED_H
#define USHER_POLICY_FILED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "policy/asked.h"
#include "policy/question.h"
#include "rules/squeeze.h"

struct filed {
	atomic_uint refs;
	_Atomic uint32_t count;  /* callers that wait for the same answer */
	uint64_t id;
	struct question_sum sum;
	uint64_t asked_ns;       /* CLOCK_BOOTTIME */
	uint32_t timeout_s;      /* the first caller's */
	enum verdict_kind unanswered; /* as the verdict says */
	int64_t asked_at;        /* seconds since the epoch, for people */
	const char *session;     /* lives as long as the questions */
}; /* and what was asked, squeezed */

/* Copies Q, of that SUM, squeezed by Z, which takes 0.1 ms: under no lock. *out holds one reference. Returns 0 or -ENOMEM. Any thread. */
int filed_new(const struct question *q, const struct question_sum *sum, struct squeezer *z, struct filed **out);
struct filed *filed_hold(struct filed *f);
/* Safe on NULL. */
void filed_put(struct filed *f);

/* When F's first caller is answered without a person, as asked_ns. */
static inline uint64_t filed_deadline_ns(const struct filed *f)
{
	return f->asked_ns + f->timeout_s * UINT64_C(1000000000);
}

/* The question as it was asked: asked_free() it. NULL without memory. Any thread. */
struct asked *filed_open(struct filed *f);

/* Whether F is the question of that SUM. None is opened for it: of those that wait, thousands may have the key of a new one. */
static inline bool filed_same(const struct filed *f, const struct question_sum *sum)
{
	return memcmp(f->sum.mark, sum->mark, QUESTION_MARK) == 0;
}

#endif
