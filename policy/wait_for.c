/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/wait_for.h"

#include <errno.h>
#include <stddef.h>

#define ROUND_MS 10

/* How many are ready, or -1 where not even one may be looked at. */
static int look_at_each(struct pollfd *p, unsigned n)
{
	int ready = 0;

	for (unsigned i = 0; i < n; i++) {
		int one = poll(&p[i], 1, 0);
		if (one < 0)
			return -1;
		ready += one;
	}
	return ready;
}

int wait_for(struct pollfd *p, unsigned n, int ms)
{
	int ready = poll(p, n, ms);

	if (ready >= 0 || errno != EINVAL)
		return ready;
	for (int waited = 0;; waited += ms < 0 ? 0 : ROUND_MS) {
		ready = look_at_each(p, n);
		if (ready != 0 || (ms >= 0 && waited >= ms))
			return ready;
		if (poll(NULL, 0, ROUND_MS) < 0)
			return -1;
	}
}
