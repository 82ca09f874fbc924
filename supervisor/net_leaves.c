/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/net_leaves.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/loopback.h"
#include "supervisor/session.h"
#include "supervisor/sockaddr.h"

static bool is_outward(unsigned interface)
{
	return interface != 0 && interface != LOOPBACK_INTERFACE;
}

static bool is_bound_outward(int sock)
{
	int interface = 0;
	socklen_t len = sizeof(interface);

	return getsockopt(sock, SOL_SOCKET, SO_BINDTOIFINDEX, &interface, &len) == 0 && is_outward((unsigned)interface);
}

static bool is_loopback(const struct target *t)
{
	return t && t->kind == OBJECT_INET && inet_is_loopback(&t->inet);
}

int net_leaves(const struct job *j, const struct target *t)
{
	return !j->session->anywhere && is_loopback(t) && is_bound_outward(j->sock) ? -EPERM : 0;
}

/* To whom a packet without an address goes. */
static int leaves_to_peer(const struct job *j, struct sockaddr_storage *to, int *len)
{
	struct socket_kind kind = { .type = SOCK_DGRAM };
	socklen_t n = sizeof(*to), size = sizeof(kind.domain);
	struct address peer;

	memset(to, 0, sizeof(*to));
	if (getsockopt(j->sock, SOL_SOCKET, SO_DOMAIN, &kind.domain, &size) < 0 || getpeername(j->sock, (struct sockaddr *)to, &n) < 0)
		return -EDESTADDRREQ;
	sockaddr_decode(to, n, &kind, ADDRESS_SEND, &peer);
	if (peer.kind == ADDRESS_INET && inet_is_loopback(&peer.inet))
		return -EPERM;
	*len = (int)n;
	return 0;
}

int net_leaves_by(const struct job *j, const struct target *t, unsigned interface, struct sockaddr_storage *to, int *len)
{
	if (j->session->anywhere || !is_outward(interface))
		return 0;
	/* On IPv6 an address of no family is none. */
	if (t || (*len && to->ss_family != AF_UNSPEC))
		return is_loopback(t) ? -EPERM : 0;
	return leaves_to_peer(j, to, len);
}
