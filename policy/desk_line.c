/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/desk_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int desk_line_open(struct desk_line *l, int fd, size_t most)
{
	*l = (struct desk_line){ .fd = fd, .in = malloc(4096), .room = 4096, .most = most };
	if (l->in)
		return 0;
	close(fd);
	l->fd = -1;
	return -ENOMEM;
}

void desk_line_close(struct desk_line *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->in);
	free(l->out);
	*l = (struct desk_line){ .fd = -1 };
}

bool desk_line_read(struct desk_line *l)
{
	if (l->got == l->room) {
		char *more = l->room < l->most ? realloc(l->in, l->room * 2) : NULL;
		if (!more)
			return false;
		l->in = more;
		l->room *= 2;
	}
	ssize_t n = recv(l->fd, l->in + l->got, l->room - l->got, MSG_DONTWAIT);
	if (n > 0)
		l->got += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

const char *desk_line_get(const struct desk_line *l, size_t *len)
{
	const char *end = memchr(l->in, '\n', l->got);
	if (!end)
		return NULL;
	*len = (size_t)(end - l->in);
	return l->in;
}

void desk_line_next(struct desk_line *l, size_t len)
{
	l->got -= len + 1;
	memmove(l->in, l->in + len + 1, l->got);
}

bool desk_line_flush(struct desk_line *l)
{
	while (l->from < l->to) {
		ssize_t n = send(l->fd, l->out + l->from, l->to - l->from, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		l->from += (size_t)n;
	}
	l->from = l->to = 0;
	return true;
}

bool desk_line_put(struct desk_line *l, const char *bytes, size_t len)
{
	size_t used = l->to - l->from;
	if (used > DESK_BACKLOG || len > DESK_REPLY)
		return false;
	if (l->to + len > l->cap) {
		if (used)
			memmove(l->out, l->out + l->from, used);
		l->from = 0;
		l->to = used;
	}
	if (l->to + len > l->cap) {
		size_t cap = (l->to + len) * 2;
		char *more = realloc(l->out, cap);
		if (!more)
			return false;
		l->out = more;
		l->cap = cap;
	}
	memcpy(l->out + l->to, bytes, len);
	l->to += len;
	return desk_line_flush(l);
}
