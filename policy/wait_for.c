/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/wait_for.h"

#include <errno.h>
#include <stddef.h>
#include <sys/select.h>

#define ROUND_MS 10

/* Under a limit of nothing at all poll() takes not even one; select() asks for no limit. */
static int look_at(struct pollfd *p)
{
	struct timeval none = { 0, 0 };
	fd_set in, out;
	int ready = poll(p, 1, 0);

	if (ready >= 0 || errno != EINVAL || p->fd >= FD_SETSIZE)
		return ready;
	p->revents = 0;
	if (p->fd < 0)
		return 0;
	FD_ZERO(&in);
	FD_ZERO(&out);
	if (p->events & POLLIN)
		FD_SET(p->fd, &in);
	if (p->events & POLLOUT)
		FD_SET(p->fd, &out);
	ready = select(p->fd + 1, &in, &out, NULL, &none);
	if (ready > 0)
		p->revents = (short)((FD_ISSET(p->fd, &in) ? POLLIN : 0) | (FD_ISSET(p->fd, &out) ? POLLOUT : 0));
	return ready > 0 ? 1 : ready;
}

/* How many are ready, or -1 where one cannot be looked at. */
static int look_at_each(struct pollfd *p, unsigned n)
{
	int ready = 0;

	for (unsigned i = 0; i < n; i++) {
		int one = look_at(&p[i]);
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
