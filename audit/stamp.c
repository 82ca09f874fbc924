/* SPDX-License-Identifier: Apache-2.0 */
/* Times of records. */
#include "audit/stamp.h"

#include <time.h>

#include "audit/put.h"
#include "rules/clock.h"
#include "rules/date.h"

#define NS_PER_S UINT64_C(1000000000)

static unsigned days_in(unsigned y, unsigned m)
{
	return m == 12 ? 31 : (unsigned)(date_days((struct date){ y, m + 1, 1 }) - date_days((struct date){ y, m, 1 }));
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
	unsigned tod = (unsigned)(s % 86400);
	struct date date = date_of(s / 86400);
	memcpy(out, "0000-00-00T00:00:00.000000Z", STAMP_LEN);
	put_two(out, date.year / 100 % 100);
	put_two(out + 2, date.year % 100);
	put_two(out + 5, date.month);
	put_two(out + 8, date.day);
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
	*ns = (date_days((struct date){ y, m, d }) * 86400 + hh * 3600 + mm * 60 + ss) * NS_PER_S + us * UINT64_C(1000);
	return true;
}

uint64_t stamp_now(void)
{
	return clock_ns(CLOCK_REALTIME);
}
