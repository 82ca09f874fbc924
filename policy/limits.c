/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generic cell rate algorithm: a bucket is one number, the time at which it
 * is full again. A token costs PERIOD/LIMIT of time; it is there when the bucket would be full within PERIOD after.
 */
#include "policy/limits.h"

#include <time.h>

#include "rules/clock.h"

#define NS 1000000000ull

uint64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

static uint64_t token_cost(uint32_t limit, uint32_t period_s)
{
	uint64_t cost = period_s * NS / limit;
	return cost ? cost : 1;
}

/* Where full_at moves when one token is taken, or 0 when there is none. */
static uint64_t after_take(uint64_t full_at, uint32_t limit, uint32_t period_s, uint64_t now)
{
	uint64_t base = full_at > now ? full_at : now;
	uint64_t next = base + token_cost(limit, period_s);
	return next - now > period_s * NS ? 0 : next;
}

bool bucket_has(struct bucket *b, uint32_t limit, uint32_t period_s, uint64_t now)
{
	return limit && period_s && after_take(atomic_load(&b->full_at), limit, period_s, now);
}

bool bucket_take(struct bucket *b, uint32_t limit, uint32_t period_s, uint64_t now, uint32_t *used)
{
	*used = limit;
	if (!limit || !period_s)
		return false;
	uint64_t cost = token_cost(limit, period_s);
	uint64_t seen = atomic_load(&b->full_at), next;
	do {
		next = after_take(seen, limit, period_s, now);
		if (!next)
			return false;
	} while (!atomic_compare_exchange_weak(&b->full_at, &seen, next));
	uint64_t out = (next - now + cost - 1) / cost;
	*used = out < limit ? (uint32_t)out : limit;
	return true;
}

void bucket_give(struct bucket *b, uint32_t limit, uint32_t period_s)
{
	atomic_fetch_sub(&b->full_at, token_cost(limit, period_s));
}
