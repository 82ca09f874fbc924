/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/outside_peer.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "policy/desk_peer.h"
#include "rules/cleanup.h"
#include "rules/clock.h"

/* COOKIE is the asked socket's own (SO_COOKIE): an answer that comes late is not taken for another's. */
struct finding {
	uint64_t cookie;
	int rc;
	pid_t pid;
	uid_t uid;
};

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int cookie_of(int fd, uint64_t *out)
{
	socklen_t len = sizeof(*out);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, out, &len) < 0 ? -errno : 0;
}

static int hand_over(int sock, int fd)
{
	union control control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	char byte = 0;
	struct iovec one = { &byte, 1 };
	struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int taken_over(int sock)
{
	union control control;
	char byte;
	struct iovec one = { &byte, 1 };
	struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	int fd;

	if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0)
		return -errno;
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int outside_peer_ask(int sock, int fd, pid_t *pid, uid_t *uid)
{
	const uint64_t until = clock_ms(CLOCK_MONOTONIC) + OUTSIDE_PEER_MS;
	struct pollfd answer = { sock, POLLIN, 0 };
	struct finding f;
	uint64_t cookie;

	if (cookie_of(fd, &cookie) < 0 || hand_over(sock, fd) < 0)
		return -EACCES;
	for (uint64_t now; (now = clock_ms(CLOCK_MONOTONIC)) < until;) {
		if (poll(&answer, 1, (int)(until - now)) < 0 && errno != EINTR)
			return -EACCES;
		if (recv(sock, &f, sizeof(f), MSG_DONTWAIT) != (ssize_t)sizeof(f)) {
			if (answer.revents & (POLLHUP | POLLERR))
				return -EACCES;
			continue;
		}
		if (f.cookie != cookie)
			continue;
		*pid = f.pid;
		*uid = f.uid;
		return f.rc < 0 ? -EACCES : 0;
	}
	return -EACCES;
}

void outside_peer_answer(int sock)
{
	int fd CLEANUP_FD = taken_over(sock);
	struct finding f = { .rc = -EACCES };

	if (fd < 0 || cookie_of(fd, &f.cookie) < 0)
		return;
	f.rc = desk_peer_check(fd, &f.pid, &f.uid);
	(void)send(sock, &f, sizeof(f), MSG_NOSIGNAL | MSG_DONTWAIT);
}
