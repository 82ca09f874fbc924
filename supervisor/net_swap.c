/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an epoll set holds goes with the old socket. Event loops that register before they connect (Go's) would wait for ever,
 * so a thread with a table of its own, in which the new socket has the caller's number, registers it again: the kernel
 * knows a registration by file and number.
 */
#include "supervisor/net_swap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"

#define MOST_SETS 16

struct option {
	int level, name;
	bool tcp; /* of TCP alone */
};

static const struct option kept[] = {
	{ SOL_SOCKET, SO_KEEPALIVE, false }, { SOL_SOCKET, SO_LINGER, false },   { SOL_SOCKET, SO_OOBINLINE, false },
	{ SOL_SOCKET, SO_RCVTIMEO, false },  { SOL_SOCKET, SO_SNDTIMEO, false }, { SOL_SOCKET, SO_PRIORITY, false },
	{ IPPROTO_TCP, TCP_NODELAY, true },  { IPPROTO_TCP, TCP_KEEPIDLE, true }, { IPPROTO_TCP, TCP_KEEPINTVL, true },
	{ IPPROTO_TCP, TCP_KEEPCNT, true },  { IPPROTO_TCP, TCP_USER_TIMEOUT, true },
};

static void keep_options(int from, int to, bool tcp)
{
	char value[64];

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		socklen_t len = sizeof(value);
		if (kept[i].tcp && !tcp)
			continue;
		if (getsockopt(from, kept[i].level, kept[i].name, value, &len) == 0)
			(void)setsockopt(to, kept[i].level, kept[i].name, value, len);
	}
}

/* The family that TO needs, 0 when the socket's own will do, or a negative errno. */
static int family_for(const struct socket_kind *kind, const struct object *to)
{
	bool inet = kind->domain == AF_INET || kind->domain == AF_INET6;
	int needs = AF_UNIX;

	if (!inet && kind->domain != AF_UNIX)
		return -EAFNOSUPPORT;
	if (to->kind == OBJECT_INET)
		needs = inet_is_v4(&to->inet) ? AF_INET : AF_INET6;
	if (needs == kind->domain || (needs == AF_INET && inet))
		return 0;
	/* as a connect between sockets of two types */
	if (kind->type != SOCK_STREAM)
		return kind->domain == AF_UNIX ? -EPROTOTYPE : -EAFNOSUPPORT;
	return needs;
}

int net_swap_prepare(struct job *j, const struct socket_kind *kind, const struct object *to)
{
	int family = family_for(kind, to);

	if (family <= 0)
		return family;
	int flags = fcntl(j->sock, F_GETFL);
	if (flags < 0)
		return -errno;
	int fresh CLEANUP_FD = socket(family, SOCK_STREAM | SOCK_CLOEXEC | (flags & O_NONBLOCK ? SOCK_NONBLOCK : 0), 0);
	if (fresh < 0)
		return -errno;
	keep_options(j->sock, fresh, family != AF_UNIX && kind->domain != AF_UNIX);
	close(j->sock);
	j->sock = steal_fd(&fresh);
	return 1;
}

/* Opens /proc/TID/PLACE of the caller. */
static int open_of(const struct job *j, const char *place)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)j->notif.pid, place);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static FILE *fdinfo(int dir, const char *number)
{
	int fd = openat(dir, number, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "re");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* The flags of a descriptor as /proc shows them (O_CLOEXEC among them), 0 when unknown. */
static unsigned flags_of(int dir, int fd)
{
	char number[16], line[128];
	unsigned flags = 0;

	snprintf(number, sizeof(number), "%d", fd);
	FILE *f = fdinfo(dir, number);
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "flags: %o", &flags) != 1)
		;
	if (f)
		fclose(f);
	return flags;
}

struct registration {
	int set; /* ours, duplicated */
	struct epoll_event event;
};

struct again {
	int sock, number;
	struct registration r[MOST_SETS];
	unsigned n;
};

/* Whether the epoll set NUMBER of the caller holds FD, and how. */
static bool holds(int infos, const char *number, int fd, struct epoll_event *out)
{
	FILE *f = fdinfo(infos, number);
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		uint64_t data;
		uint32_t events;
		int tfd;
		found = sscanf(line, "tfd: %d events: %" SCNx32 " data: %" SCNx64, &tfd, &events, &data) == 3 && tfd == fd;
		if (found)
			*out = (struct epoll_event){ .events = events, .data.u64 = data };
	}
	if (f)
		fclose(f);
	return found;
}

static bool is_epoll(int fds, const char *number)
{
	char target[64];
	ssize_t n = readlinkat(fds, number, target, sizeof(target));

	return n == (ssize_t)strlen("anon_inode:[eventpoll]") && memcmp(target, "anon_inode:[eventpoll]", (size_t)n) == 0;
}

static void find_registrations(struct job *j, int infos, struct again *a)
{
	int fd = open_of(j, "fd");
	DIR *fds = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!fds && fd >= 0)
		close(fd);
	while (fds && a->n < MOST_SETS && (e = readdir(fds))) {
		struct registration *r = &a->r[a->n];
		if (!is_epoll(dirfd(fds), e->d_name) || !holds(infos, e->d_name, a->number, &r->event))
			continue;
		r->set = caller_fd(j, atoi(e->d_name));
		a->n += r->set >= 0;
	}
	if (fds)
		closedir(fds);
}

static void *register_again(void *arg)
{
	const struct again *a = arg;

	/* Not unshare(2), which containers' filters refuse. Nothing is closed. */
	if (close_range(~0U, ~0U, CLOSE_RANGE_UNSHARE) < 0)
		return NULL;
	/* The sets first, out of the way of the number, which may be the last there can be. */
	int sets[MOST_SETS];
	for (unsigned i = 0; i < a->n; i++)
		sets[i] = a->r[i].set == a->number ? dup(a->r[i].set) : a->r[i].set;
	if (a->sock != a->number && dup2(a->sock, a->number) < 0)
		return NULL;
	for (unsigned i = 0; i < a->n; i++) {
		struct epoll_event event = a->r[i].event;
		if (sets[i] >= 0)
			(void)epoll_ctl(sets[i], EPOLL_CTL_ADD, a->number, &event);
	}
	return NULL;
}

/* Closes our copies of the sets, having registered in them what REPLACED the old socket. */
static void restore_registrations(struct again *a, bool replaced)
{
	pthread_t thread;

	if (replaced && a->n && pthread_create(&thread, NULL, register_again, a) == 0)
		pthread_join(thread, NULL);
	for (unsigned i = 0; i < a->n; i++)
		close(a->r[i].set);
}

int net_swap_install(struct job *j, int fd)
{
	struct again a = { .sock = j->sock, .number = fd };
	int infos CLEANUP_FD = open_of(j, "fdinfo");

	if (infos < 0)
		return -errno;
	unsigned flags = flags_of(infos, fd);
	find_registrations(j, infos, &a);
	int rc = reply_replace(j, j->sock, fd, (flags & O_CLOEXEC) != 0);
	restore_registrations(&a, rc == 0);
	return rc;
}
