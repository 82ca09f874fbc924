/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/listeners.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/procs_internal.h"
#include "supervisor/sockaddr.h"

#define MOST 512 /* beyond these the oldest is forgotten */

struct listening {
	uint64_t cookie;
	pid_t pid;
	int fd;
	uint16_t port;
};

struct listeners {
	pthread_mutex_t lock;
	size_t n; /* ever added */
	struct listening item[MOST];
};

int listeners_new(struct listeners **out)
{
	struct listeners *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	*out = l;
	return 0;
}

static uint64_t cookie_of(int sock, int which)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(sock, SOL_SOCKET, which, &cookie, &len) == 0 ? cookie : 0;
}

static int flag_of(int sock, int level, int name)
{
	int on = -1;
	socklen_t len = sizeof(on);

	return getsockopt(sock, level, name, &on, &len) == 0 ? on : -1;
}

static bool address_of(int sock, struct sockaddr_in6 *out)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss);

	if (getsockname(sock, (struct sockaddr *)&ss, &len) < 0)
		return false;
	if (ss.ss_family == AF_INET6) {
		memcpy(out, &ss, sizeof(*out));
		return true;
	}
	const struct sockaddr_in *in = (const struct sockaddr_in *)&ss;
	*out = (struct sockaddr_in6){ .sin6_family = AF_INET, .sin6_port = in->sin_port };
	if (in->sin_addr.s_addr)
		memset(&out->sin6_addr.s6_addr[10], 0xff, 2);
	memcpy(&out->sin6_addr.s6_addr[12], &in->sin_addr, 4);
	return ss.ss_family == AF_INET;
}

void listeners_add(struct listeners *l, pid_t pid, int fd, int sock)
{
	struct sockaddr_in6 at;

	if (!l || flag_of(sock, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP || !address_of(sock, &at))
		return;
	struct listening one = { .cookie = cookie_of(sock, SO_COOKIE), .pid = pid, .fd = fd, .port = ntohs(at.sin6_port) };
	pthread_mutex_lock(&l->lock);
	l->item[l->n++ % MOST] = one;
	pthread_mutex_unlock(&l->lock);
}

/* Whether a connection to TO comes to an address that AT is: that one, or any of its family. */
static bool takes(int sock, const struct sockaddr_in6 *at, const struct inet_endpoint *to)
{
	if (memcmp(&at->sin6_addr, to->addr, sizeof(to->addr)) == 0)
		return true;
	if (!IN6_IS_ADDR_UNSPECIFIED(&at->sin6_addr))
		return false;
	if (at->sin6_family == AF_INET)
		return inet_is_v4(to);
	return !inet_is_v4(to) || flag_of(sock, IPPROTO_IPV6, IPV6_V6ONLY) == 0;
}

static bool is_reached(int sock, const struct listening *one, const struct inet_endpoint *to, int client)
{
	struct sockaddr_in6 at;

	return cookie_of(sock, SO_COOKIE) == one->cookie && flag_of(sock, SOL_SOCKET, SO_ACCEPTCONN) == 1 &&
	       flag_of(sock, SOL_SOCKET, SO_REUSEPORT) == 0 && address_of(sock, &at) && ntohs(at.sin6_port) == to->port && takes(sock, &at, to) &&
	       cookie_of(sock, SO_NETNS_COOKIE) == cookie_of(client, SO_NETNS_COOKIE);
}

/* The newest first: the others may have ended. False past the last. */
static bool next_on(struct listeners *l, uint16_t port, size_t *back, struct listening *out)
{
	bool found = false;

	pthread_mutex_lock(&l->lock);
	const size_t kept = l->n < MOST ? l->n : MOST;
	while (!found && *back < kept) {
		*out = l->item[(l->n - ++*back) % MOST];
		found = out->port == port && out->cookie;
	}
	pthread_mutex_unlock(&l->lock);
	return found;
}

int listeners_hold(struct listeners *l, struct procs *ps, const struct inet_endpoint *to, int client)
{
	struct listening one;
	size_t back = 0;

	/* Any other address may be another machine's, whatever listens here on its port. */
	if (!l || to->proto != PROTO_TCP || !inet_is_loopback(to))
		return -1;
	while (next_on(l, to->port, &back, &one)) {
		int sock CLEANUP_FD = table_getfd(ps, one.pid, one.fd);
		if (sock >= 0 && is_reached(sock, &one, to, client))
			return steal_fd(&sock);
	}
	return -1;
}
