/* SPDX-License-Identifier: Apache-2.0 */
/* How long a race is tried: so many times, or RACE_SECONDS long. */
#ifndef USHER_TESTS_RACE_H
#define USHER_TESTS_RACE_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static inline double race_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* SECONDS, or as long as the environment says. */
static inline double race_seconds(double seconds)
{
	const char *text = getenv("RACE_SECONDS");

	return text ? atof(text) : seconds;
}

/* Whether try DONE (from 0) is to be made. The time begins with try 0. One race at a time. */
static inline bool race_on(long done, long tries)
{
	static double end;

	if (!getenv("RACE_SECONDS"))
		return done < tries;
	if (done == 0)
		end = race_clock() + race_seconds(0);
	return race_clock() < end;
}

#endif
