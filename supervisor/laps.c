/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/laps.h"

#include <inttypes.h>
#include <time.h>

#include "rules/clock.h"


#define LAP_WAITED 30000 /* nanoseconds */

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void laps_begin(struct laps *l)
{
	l->calls++;
	l->since = now();
}

void laps_go_on(struct laps *l)
{
	l->since = now();
}

void laps_take(struct laps *l, enum lap lap)
{
	uint64_t at = now(), took = at - l->since;

	l->since = at;
	if (took >= LAP_WAITED) {
		l->waited++;
		l->waited_ns += took;
		return;
	}
	l->spent[lap] += took;
}

void laps_add(struct laps *sum, const struct laps *l)
{
	sum->calls += l->calls;
	sum->waited += l->waited;
	sum->waited_ns += l->waited_ns;
	for (int i = 0; i < LAP_COUNT; i++)
		sum->spent[i] += l->spent[i];
}

void laps_print(const struct laps *l, FILE *to)
{
	static const char *const names[] = {
		[LAP_CALLER] = "caller", [LAP_READ] = "read",       [LAP_RESOLVE] = "resolve", [LAP_DECIDE] = "decide",
		[LAP_RECORD] = "record", [LAP_PERFORM] = "perform", [LAP_REPLY] = "reply",     [LAP_REST] = "rest",
	};
	uint64_t calls = l->calls ? l->calls : 1, all = 0;

	for (int i = 0; i < LAP_COUNT; i++) {
		fprintf(to, "usher: profile: %-8s %8" PRIu64 " ns\n", names[i], l->spent[i] / calls);
		all += l->spent[i];
	}
	fprintf(to, "usher: profile: %-8s %8" PRIu64 " ns in each of %" PRIu64 " calls\n", "all", all / calls, l->calls);
	fprintf(to, "usher: profile: %-8s %8" PRIu64 " times, %" PRIu64 " us each, not counted above\n", "waited", l->waited,
		l->waited_ns / 1000 / (l->waited ? l->waited : 1));
}
