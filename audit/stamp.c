/* SPDX-License-Identifier: Apache-2.0 */
/* Times of records. Own arithmetic instead of gmtime_r(): that takes a lock in the C library. */
#include "audit/stamp.h"

#include <time.h>

#include "audit/put.h"

#define NS_PER_S UINT64_C(1000000000)

/* Days since 1970 to year, month, day in the Gregorian calendar (years counted from March). */
static void civil(uint64_t days, unsigned *y, unsigned *m, unsigned *d)
{
	uint64_t z = days + 719468;
	uint64_t era = z / 146097, doe = z % 146097;
	uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	uint64_t mp = (5 * doy + 2) / 153;
	*d = (unsigned)(doy - (153 * mp + 2) / 5 + 1);
	*m = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
	*y = (unsigned)(yoe + era * 400 + (*m <= 2));
}

static uint64_t days_of(unsigned y, unsigned m, unsigned d)
{
	uint64_t yy = y - (m <= 2);
	uint64_t era = yy / 400, yoe = yy % 400;
	uint64_t doy = (153 * (m > 2 ? m - 3u : m + 9u) + 2) / 5 + d - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static unsigned days_in(unsigned y, unsigned m)
{
	return m == 12 ? 31 : (unsigned)(days_of(y, m + 1, 1) - days_of(y, m, 1));
}

static void put_microseconds(char *out, unsigned us)
{
	put_two(out, us / 10000);
	put_two(out + 2, us / 100 % 100);
	put_two(out + 4, us % 100);
}

void stamp_write(char *out, uint64_t ns)
{
	uint64_t s = ns / NS_PER_S;
	unsigned y, m, d, tod = (unsigned)(s % 86400);
	civil(s / 86400, &y, &m, &d);
	memcpy(out, "0000-00-00T00:00:00.000000Z", STAMP_LEN);
	put_two(out, y / 100 % 100);
	put_two(out + 2, y % 100);
	put_two(out + 5, m);
	put_two(out + 8, d);
	put_two(out + 11, tod / 3600);
	put_two(out + 14, tod / 60 % 60);
	put_two(out + 17, tod % 60);
	put_microseconds(out + 20, (unsigned)(ns % NS_PER_S / 1000));
}

void stamp_write_memo(struct stamp_memo *memo, char *out, uint64_t ns)
{
	uint64_t s = ns / NS_PER_S;
	if (s != memo->second || !memo->text[0]) {
		stamp_write(memo->text, ns);
		memo->second = s;
	}
	memcpy(out, memo->text, STAMP_LEN);
	put_microseconds(out + 20, (unsigned)(ns - s * NS_PER_S) / 1000);
}

static bool number(const char *text, unsigned n, unsigned *out)
{
	unsigned v = 0;
	for (unsigned i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		v = v * 10 + (unsigned)(text[i] - '0');
	}
	*out = v;
	return true;
}

bool stamp_read(const char *t, size_t len, uint64_t *ns)
{
	unsigned y, m, d, hh, mm, ss, us;
	if (len != STAMP_LEN || t[4] != '-' || t[7] != '-' || t[10] != 'T' || t[13] != ':' || t[16] != ':' ||
	    t[19] != '.' || t[26] != 'Z')
		return false;
	if (!number(t, 4, &y) || !number(t + 5, 2, &m) || !number(t + 8, 2, &d) || !number(t + 11, 2, &hh) ||
	    !number(t + 14, 2, &mm) || !number(t + 17, 2, &ss) || !number(t + 20, 6, &us))
		return false;
	if (y < 1970 || m < 1 || m > 12 || d < 1 || d > days_in(y, m) || hh > 23 || mm > 59 || ss > 60)
		return false;
	*ns = (days_of(y, m, d) * 86400 + hh * 3600 + mm * 60 + ss) * NS_PER_S + us * UINT64_C(1000);
	return true;
}

uint64_t stamp_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}
