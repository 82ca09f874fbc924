/* SPDX-License-Identifier: Apache-2.0 */
/* What a clock says, as a number. */
#ifndef USHER_RULES_CLOCK_H
#define USHER_RULES_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_ms(clockid_t clock)
{
	return clock_ns(clock) / 1000000;
}

#endif
