/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/wait_for.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/select.h>

static bool in_reach(const struct pollfd *p)
{
	return p->fd >= 0 && p->fd < FD_SETSIZE;
}

/* It asks for no limit. What has hung up can be read there. */
static int by_select(struct pollfd *p, unsigned n, int ms)
{
	struct timeval most = { ms / 1000, ms % 1000 * 1000 };
	fd_set in, out;
	int top = -1, ready = 0;

	FD_ZERO(&in);
	FD_ZERO(&out);
	for (unsigned i = 0; i < n; i++) {
		p[i].revents = 0;
		if (!in_reach(&p[i]))
			continue;
		if (p[i].events & POLLIN)
			FD_SET(p[i].fd, &in);
		if (p[i].events & POLLOUT)
			FD_SET(p[i].fd, &out);
		top = p[i].fd > top ? p[i].fd : top;
	}
	if (select(top + 1, &in, &out, NULL, ms < 0 ? NULL : &most) < 0)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (in_reach(&p[i]))
			p[i].revents = (short)((FD_ISSET(p[i].fd, &in) ? POLLIN : 0) | (FD_ISSET(p[i].fd, &out) ? POLLOUT : 0));
		ready += p[i].revents != 0;
	}
	return ready;
}

int wait_for(struct pollfd *p, unsigned n, int ms)
{
	int ready = poll(p, n, ms);

	return ready < 0 && errno == EINVAL ? by_select(p, n, ms) : ready;
}
