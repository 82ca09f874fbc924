/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/loopback.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/compat.h"
#include "supervisor/sock_cookie.h"

#define MOST 512

/* A socket at an address: bound anew, elsewhere, it is another. */
struct opened {
	uint64_t cookie;
	struct sockaddr_in6 at; /* or of IPv4, and zeros */
};

struct loopback {
	pthread_mutex_t lock;
	size_t n; /* ever added */
	struct opened item[MOST];
};

int loopback_new(struct loopback **out)
{
	struct loopback *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	*out = l;
	return 0;
}

static bool opened_of(int sock, struct opened *out)
{
	socklen_t len = sizeof(out->at);

	memset(out, 0, sizeof(*out));
	out->cookie = sock_cookie(sock, SO_COOKIE);
	return out->cookie && getsockname(sock, (struct sockaddr *)&out->at, &len) == 0;
}

/* Whether a socket that was bound to TO, and that nobody else binds meanwhile, is still where that led. */
static bool is_at(const struct sockaddr_in6 *now, const struct sockaddr_storage *to)
{
	struct sockaddr_in6 want;

	memcpy(&want, to, sizeof(want));
	if (want.sin6_family != now->sin6_family || (want.sin6_port && want.sin6_port != now->sin6_port))
		return false;
	if (want.sin6_family == AF_INET6)
		return memcmp(&want.sin6_addr, &now->sin6_addr, sizeof(want.sin6_addr)) == 0;
	return memcmp(&((const struct sockaddr_in *)&want)->sin_addr, &((const struct sockaddr_in *)now)->sin_addr, sizeof(struct in_addr)) == 0;
}

int loopback_bind(struct loopback *l, int sock, const struct sockaddr_storage *to, socklen_t len, bool open)
{
	struct opened one;

	/* AF_UNSPEC is taken for AF_INET */
	if (!l || (to->ss_family != AF_INET && to->ss_family != AF_INET6 && to->ss_family != AF_UNSPEC))
		return bind(sock, (const struct sockaddr *)to, len) < 0 ? -errno : 0;
	pthread_mutex_lock(&l->lock);
	int rc = bind(sock, (const struct sockaddr *)to, len) < 0 ? -errno : 0;
	if (rc == 0 && open && opened_of(sock, &one) && is_at(&one.at, to))
		l->item[l->n++ % MOST] = one;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

void loopback_begin(struct loopback *l)
{
	if (l)
		pthread_mutex_lock(&l->lock);
}

void loopback_end(struct loopback *l)
{
	if (l)
		pthread_mutex_unlock(&l->lock);
}

bool loopback_is_open(struct loopback *l, int sock)
{
	struct opened one;
	bool found = false;

	if (!l || !opened_of(sock, &one))
		return false;
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < MOST && !found; i++)
		found = l->item[i].cookie == one.cookie && memcmp(&l->item[i].at, &one.at, sizeof(one.at)) == 0;
	pthread_mutex_unlock(&l->lock);
	return found;
}

bool loopback_confined(int sock)
{
	unsigned interface = 0;
	socklen_t len = sizeof(interface);

	return getsockopt(sock, SOL_SOCKET, SO_BINDTOIFINDEX, &interface, &len) == 0 && interface == LOOPBACK_INTERFACE;
}

int loopback_confine(int sock)
{
	static const unsigned interface = LOOPBACK_INTERFACE;

	if (loopback_confined(sock))
		return 0;
	return setsockopt(sock, SOL_SOCKET, SO_BINDTOIFINDEX, &interface, sizeof(interface)) < 0 ? -EACCES : 0;
}
