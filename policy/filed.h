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

#include "policy/asked.h"
#include "policy/question.h"
#include "rules/squeeze.h"

struct filed {
	atomic_uint refs;
	_Atomic uint32_t count;  /* callers that wait for the same answer */
	uint64_t id;
	uint64_t key;            /* hash of what makes two questions identical */
	uint64_t asked_ns;       /* CLOCK_BOOTTIME */
	uint64_t deadline_ns;    /* the first caller's */
	int64_t asked_at;        /* seconds since the epoch, for people */
	const char *session;     /* lives as long as the questions */
	enum verdict_kind unanswered; /* as the verdict says */
	struct squeezed *content;
};

/* Copies Q, squeezed by Z; *out holds one reference. Returns 0 or -ENOMEM. */
int filed_new(const struct question *q, struct squeezer *z, struct filed **out);
struct filed *filed_hold(struct filed *f);
/* Safe on NULL. */
void filed_put(struct filed *f);

/* The question as it was asked: asked_free() it. NULL without memory. Any thread. */
struct asked *filed_open(struct filed *f);

/* Whether Q is the same question; false, too, where there is no memory to look. */
bool filed_same(struct filed *f, const struct question *q);

#endif
