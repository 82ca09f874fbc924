/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/date.h"

/* Years are counted from March, so that a leap day is a year's last; an era has 400 of them, 146097 days. 719468 days lie before 1970. */
struct date date_of(uint64_t days)
{
	uint64_t z = days + 719468;
	uint64_t era = z / 146097, doe = z % 146097;
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint64_t mp = (5 * doy + 2) / 153;
	unsigned month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);

	return (struct date){ .year = (unsigned)(yoe + era * 400 + (month <= 2)), .month = month, .day = (unsigned)(doy - (153 * mp + 2) / 5 + 1) };
}

uint64_t date_days(struct date date)
{
	uint64_t years = date.year - (date.month <= 2);
	uint64_t era = years / 400, yoe = years % 400;
	uint64_t doy = (153 * (date.month > 2 ? date.month - 3u : date.month + 9u) + 2) / 5 + date.day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}
