/* SPDX-License-Identifier: Apache-2.0 */
/* Token buckets for limit=N/PERIOD, one for each rule that has one. Lock-free. */
#ifndef USHER_POLICY_LIMITS_H
#define USHER_POLICY_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The instant (ns, CLOCK_BOOTTIME) at which the bucket is full again; 0: full. */
struct bucket {
	_Atomic uint64_t full_at;
};

/*
 * Takes one token of a bucket that holds LIMIT and fills up in PERIOD_S seconds; NOW in ns. *used gets the
 * tokens that are out, this one included (saturating at LIMIT). Returns false, taking nothing, when it is empty.
 */
bool bucket_take(struct bucket *b, uint32_t limit, uint32_t period_s, uint64_t now, uint32_t *used);

/* Puts back one token that was taken. */
void bucket_give(struct bucket *b, uint32_t limit, uint32_t period_s);

/* Whether bucket_take() would succeed now. */
bool bucket_has(struct bucket *b, uint32_t limit, uint32_t period_s, uint64_t now);

uint64_t clock_now_ns(void);

#endif
