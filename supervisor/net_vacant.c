/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that should be a unix socket is asked about by a connect of a datagram socket: the kernel finds whose it is, and refuses where that is of another kind
 * (EPROTOTYPE), before anybody hears of it; a datagram socket hears of no connect. Abstract names are known by kind, and cannot be asked about so.
 *
 * A connect that does not wait is told later that nobody listens, and programs take it otherwise when they are told at once. So it is made to port 0, on
 * which nobody can listen: the kernel itself says the rest.
 */
#include "supervisor/rows_net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/listeners.h"
#include "supervisor/memory.h"
#include "supervisor/net_ids.h"
#include "supervisor/net_leaves.h"
#include "supervisor/net_socket.h"

#define REFUSED_MS 100 /* loopback has refused within the call, but on a machine that is short of time */

_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port), "one place for the port");

bool net_unix_vacant(struct job *j, const struct target *t)
{
	struct sockaddr_storage to;
	struct net_ids ids;

	int s CLEANUP_FD = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int len = s < 0 ? s : net_destination(j, t, j->data[0], &to);
	if (len <= 0 || net_ids_enter(j, &ids) < 0)
		return false;
	bool refused = connect(s, (const struct sockaddr *)&to, (socklen_t)len) < 0 && errno == ECONNREFUSED;
	net_ids_leave(&ids);
	return refused;
}

/* Whether the kernel has refused what SOCK began. Waits for that a little. */
static bool is_refused(int sock)
{
	struct pollfd fd = { sock, POLLOUT, 0 };
	uint8_t state;
	socklen_t len = sizeof(state);

	return poll(&fd, 1, REFUSED_MS) == 1 && getsockopt(sock, IPPROTO_TCP, TCP_INFO, &state, &len) == 0 && state == TCP_CLOSE;
}

/* ERROR, or what is said in its place. Where packets are led elsewhere (netfilter) nothing stays begun. */
static int begin_refused(struct job *j, const struct target *t, int error)
{
	static const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct sockaddr_storage to;

	int len = net_destination(j, t, j->data[0], &to);
	if (len < (int)sizeof(struct sockaddr_in) || net_leaves(j, t) < 0)
		return error;
	((struct sockaddr_in *)&to)->sin_port = 0;
	listeners_hurry(j->sock);
	int rc = connect(j->sock, (const struct sockaddr *)&to, (socklen_t)len) < 0 ? -errno : 0;
	if (rc == -EALREADY || rc == -EISCONN || rc == -ECONNABORTED)
		return rc;
	if (rc == -EINPROGRESS && is_refused(j->sock))
		return rc;
	if (rc == 0 || rc == -EINPROGRESS)
		(void)connect(j->sock, &none, sizeof(none));
	return error;
}

int net_connect_refused(struct job *j, int error)
{
	const struct target *t = &j->target[0];

	if (error != -ECONNREFUSED || j->n_targets != 1 || !t->vacant || t->inet.proto != PROTO_TCP || j->sock < 0 || net_blocks(j->sock) || !job_alive(j))
		return error;
	error = begin_refused(j, t, error);
	close(j->sock);
	j->sock = -1;
	return error;
}
