/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/listeners.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/heirs.h"
#include "supervisor/loopback.h"
#include "supervisor/procs_internal.h"
#include "supervisor/sock_cookie.h"
#include "supervisor/sockaddr.h"

#define MOST 512 /* beyond these the oldest is forgotten */
#define AWAITED_MOST 1024
#define SOUGHT_MOST 16 /* on one port, of several addresses */

struct listening {
	uint64_t cookie;
	ino_t ino;
	pid_t pid;
	int fd;
	uint16_t port;
};

/* A connection that is still to be made, and what it comes to; both held. */
struct awaited {
	int client;
	int own;
	bool begun; /* the connect has returned */
};

struct listeners {
	pthread_mutex_t lock;
	size_t n; /* ever added */
	struct listening item[MOST];
	size_t n_awaited;
	struct awaited awaited[AWAITED_MOST];
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

/* Locked. Of what could share its port nobody knows any more with whom it does. */
static void forget(struct listeners *l, uint64_t cookie)
{
	for (size_t i = 0; i < l->n && i < MOST; i++)
		if (l->item[i].cookie == cookie)
			l->item[i].cookie = 0;
}

/* Locked. */
static bool is_known(const struct listeners *l, uint64_t cookie)
{
	for (size_t i = 0; cookie && i < l->n && i < MOST; i++)
		if (l->item[i].cookie == cookie)
			return true;
	return false;
}

/* Locked. Whether SOCK is its port's only one as it begins to listen, or was when another process made it listen. */
static bool is_alone(const struct listeners *l, int sock)
{
	if (flag_of(sock, SOL_SOCKET, SO_REUSEPORT) != 0)
		return false;
	return flag_of(sock, SOL_SOCKET, SO_ACCEPTCONN) == 0 || is_known(l, sock_cookie(sock, SO_COOKIE));
}

/* Locked. */
static bool has(const struct listeners *l, const struct listening *one)
{
	for (size_t i = 0; i < l->n && i < MOST; i++) {
		const struct listening *it = &l->item[i];
		if (it->cookie == one->cookie && it->pid == one->pid && it->fd == one->fd && it->port == one->port)
			return true;
	}
	return false;
}

/* Locked. Who has made it listen before is not forgotten for it: whichever of them lives has it still. */
static void add(struct listeners *l, pid_t pid, int fd, int sock)
{
	struct sockaddr_in6 at;
	struct stat st;

	if (flag_of(sock, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP || !address_of(sock, &at) || fstat(sock, &st) < 0)
		return;
	struct listening one = { sock_cookie(sock, SO_COOKIE), st.st_ino, pid, fd, ntohs(at.sin6_port) };
	if (!has(l, &one))
		l->item[l->n++ % MOST] = one;
}

int listeners_listen(struct listeners *l, pid_t pid, int fd, int sock, int backlog)
{
	if (!l)
		return listen(sock, backlog) < 0 ? -errno : 0;
	pthread_mutex_lock(&l->lock);
	bool alone = is_alone(l, sock);
	int rc = listen(sock, backlog) < 0 ? -errno : 0;
	if (rc == 0 && alone)
		add(l, pid, fd, sock);
	pthread_mutex_unlock(&l->lock);
	return rc;
}

int listeners_share(struct listeners *l, int sock, int on)
{
	if (!l)
		return -EPERM;
	pthread_mutex_lock(&l->lock);
	bool late = on && flag_of(sock, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP && flag_of(sock, SOL_SOCKET, SO_ACCEPTCONN) == 1;
	if (on && !late)
		forget(l, sock_cookie(sock, SO_COOKIE)); /* one that was shut down may listen again */
	int rc = late ? -EPERM : setsockopt(sock, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ? -errno : 0;
	pthread_mutex_unlock(&l->lock);
	return rc;
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

	return sock_cookie(sock, SO_COOKIE) == one->cookie && flag_of(sock, SOL_SOCKET, SO_ACCEPTCONN) == 1 &&
	       (loopback_confined(sock) || flag_of(sock, SOL_SOCKET, SO_BINDTOIFINDEX) == 0) && address_of(sock, &at) && ntohs(at.sin6_port) == to->port && takes(sock, &at, to) &&
	       sock_cookie(sock, SO_NETNS_COOKIE) == sock_cookie(client, SO_NETNS_COOKIE);
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

struct seeking {
	struct listeners *l;
	const struct inet_endpoint *to;
	int client;
};

static bool is_sought(const void *arg, int sock)
{
	const struct seeking *s = arg;
	struct listening one;
	size_t back = 0;

	while (next_on(s->l, s->to->port, &back, &one)) {
		if (is_reached(sock, &one, s->to, s->client))
			return true;
	}
	return false;
}

/* Where it was told meanwhile to share its port it is the tree's no more. */
static void inherit(struct listeners *l, const struct heir *heir, int sock)
{
	pthread_mutex_lock(&l->lock);
	if (is_known(l, sock_cookie(sock, SO_COOKIE)))
		add(l, heir->pid, heir->fd, sock);
	pthread_mutex_unlock(&l->lock);
}

int listeners_seek(struct listeners *l, struct procs *ps, const struct inet_endpoint *to, int client)
{
	struct seeking seeking = { l, to, client };
	ino_t ino[SOUGHT_MOST];
	struct listening one;
	struct heir heir;
	size_t n = 0, back = 0;

	if (!l || to->proto != PROTO_TCP || !inet_is_loopback(to))
		return -1;
	while (n < SOUGHT_MOST && next_on(l, to->port, &back, &one)) {
		if (!n || ino[n - 1] != one.ino)
			ino[n++] = one.ino;
	}
	if (!heirs_find(ps, &(struct sought){ ino, n, is_sought, &seeking }, &heir))
		return -1;
	int sock CLEANUP_FD = table_getfd(ps, heir.pid, heir.fd);
	if (sock < 0 || !is_sought(&seeking, sock))
		return -1;
	inherit(l, &heir, sock);
	return listeners_hold(l, ps, to, client);
}

void listeners_hurry(int client)
{
	static const int off;

	(void)setsockopt(client, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &off, sizeof(off));
}

/* Whether what SOCK connects to is still to be found: its first packet has got no answer, or has not left. */
static bool is_connecting(int sock)
{
	uint8_t state;
	socklen_t len = sizeof(state);

	return getsockopt(sock, IPPROTO_TCP, TCP_INFO, &state, &len) < 0 || state == TCP_SYN_SENT;
}

int listeners_await(struct listeners *l, int client, int own)
{
	struct awaited one = { fcntl(client, F_DUPFD_CLOEXEC, 3), fcntl(own, F_DUPFD_CLOEXEC, 3), false };

	pthread_mutex_lock(&l->lock);
	bool held = one.client >= 0 && one.own >= 0 && l->n_awaited < AWAITED_MOST;
	if (held)
		l->awaited[l->n_awaited++] = one;
	pthread_mutex_unlock(&l->lock);
	if (held)
		return one.client;
	cleanup_fd(&one.client);
	cleanup_fd(&one.own);
	return -EAGAIN;
}

/*
 * 1: the connection is still to be made, 0: it is made or was refused. To what listens no more (it may be shut down though it is held, and its port be
 * somebody else's) it is ended: -ECONNREFUSED.
 */
static int look_at(const struct awaited *a)
{
	static const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	if (!is_connecting(a->client))
		return 0;
	if (flag_of(a->own, SOL_SOCKET, SO_ACCEPTCONN) == 1)
		return 1;
	(void)connect(a->client, &nobody, sizeof(nobody));
	return -ECONNREFUSED;
}

int listeners_made(struct listeners *l, int awaited, bool begun)
{
	size_t i = 0;

	pthread_mutex_lock(&l->lock);
	while (l->awaited[i].client != awaited)
		i++;
	struct awaited *a = &l->awaited[i];
	int rc = begun ? look_at(a) : 0;
	a->begun = true;
	if (rc <= 0) {
		close(a->client);
		close(a->own);
		*a = l->awaited[--l->n_awaited];
	}
	pthread_mutex_unlock(&l->lock);
	return rc;
}

bool listeners_look(struct listeners *l)
{
	size_t left = 0;

	if (!l)
		return false;
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->n_awaited; i++) {
		struct awaited one = l->awaited[i];
		if (look_at(&one) == 1 || !one.begun) {
			l->awaited[left++] = one;
			continue;
		}
		close(one.client);
		close(one.own);
	}
	l->n_awaited = left;
	pthread_mutex_unlock(&l->lock);
	return left > 0;
}
