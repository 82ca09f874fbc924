/* SPDX-License-Identifier: Apache-2.0 */
/* Days and dates of the Gregorian calendar. Own arithmetic instead of gmtime_r(3), which takes a lock in the C library. Pure. */
#ifndef USHER_RULES_DATE_H
#define USHER_RULES_DATE_H

#include <stdint.h>

struct date {
	unsigned year, month, day; /* 1 is January, and the first */
};

/* The date DAYS after 1970-01-01. */
struct date date_of(uint64_t days);

/* The days from 1970-01-01 to DATE, which must be no earlier. */
uint64_t date_days(struct date date);

#endif
