/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/sock_diag.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rules/call.h"
#include "supervisor/loopback.h"
#include "supervisor/sock_cookie.h"
#include "supervisor/sockaddr.h"

#define ANSWER 1024

struct sock_diag {
	pthread_mutex_t lock;
	int asker; /* -1: none yet */
	uint32_t seq;
	int told[2]; /* of TCP sockets and of UDP's; 1: not tried. That the kernel has no answer to give and that there is no such socket are one errno. */
};

int sock_diag_new(struct sock_diag **out)
{
	struct sock_diag *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	d->asker = -1;
	d->told[0] = d->told[1] = 1;
	*out = d;
	return 0;
}

void sock_diag_free(struct sock_diag *d)
{
	if (!d)
		return;
	if (d->asker >= 0)
		close(d->asker);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int sock_diag_asker(void)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

void sock_diag_use(struct sock_diag *d, int fd)
{
	if (d)
		d->asker = fd;
}

/* What is left of an answer to an earlier question is passed over. */
static ssize_t receive(int asker, uint32_t seq, struct nlmsghdr *answer, size_t cap)
{
	for (;;) {
		ssize_t n = recv(asker, answer, cap, MSG_DONTWAIT);
		if (n < 0)
			return -errno;
		if ((size_t)n < sizeof(*answer) || answer->nlmsg_len > (size_t)n)
			return -EPROTO;
		if (answer->nlmsg_seq == seq)
			return n;
	}
}

static ssize_t ask_locked(struct sock_diag *d, struct nlmsghdr *question, struct nlmsghdr *answer, size_t cap)
{
	if (d->asker < 0)
		d->asker = sock_diag_asker();
	if (d->asker < 0)
		return d->asker;
	question->nlmsg_seq = ++d->seq;
	if (send(d->asker, question, question->nlmsg_len, 0) < 0)
		return -errno;
	ssize_t n = receive(d->asker, question->nlmsg_seq, answer, cap);
	if (n < 0)
		return n;
	if (answer->nlmsg_type == NLMSG_ERROR && (size_t)n >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		return ((const struct nlmsgerr *)NLMSG_DATA(answer))->error;
	return answer->nlmsg_type == SOCK_DIAG_BY_FAMILY || answer->nlmsg_type == NLMSG_DONE ? n : -EPROTO;
}

ssize_t sock_diag_ask(struct sock_diag *d, struct nlmsghdr *question, struct nlmsghdr *answer, size_t cap)
{
	pthread_mutex_lock(&d->lock);
	ssize_t n = ask_locked(d, question, answer, cap);
	pthread_mutex_unlock(&d->lock);
	return n;
}

struct inet_question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

/* The cookie says that none is meant; no states: with NLM_F_DUMP a list of nothing. */
static struct inet_question inet_question(int family, enum proto proto, uint16_t flags)
{
	return (struct inet_question){
		.head = { .nlmsg_len = sizeof(struct inet_question), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
		.body = { .sdiag_family = (uint8_t)family, .sdiag_protocol = proto == PROTO_UDP ? IPPROTO_UDP : IPPROTO_TCP,
			  .id = { .idiag_if = LOOPBACK_INTERFACE, .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
	};
}

static int told_of(struct sock_diag *d, enum proto proto)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER];
	struct inet_question q = inet_question(AF_INET, proto, NLM_F_DUMP);
	int *known = &d->told[proto == PROTO_UDP];

	pthread_mutex_lock(&d->lock);
	if (*known > 0) {
		ssize_t n = ask_locked(d, &q.head, (struct nlmsghdr *)answer, sizeof(answer));
		*known = n < 0 ? (int)n : 0;
	}
	int told = *known;
	pthread_mutex_unlock(&d->lock);
	return told;
}

int sock_diag_told(struct sock_diag *d)
{
	int rc = told_of(d, PROTO_TCP);

	return rc < 0 ? rc : told_of(d, PROTO_UDP);
}

static void put_address(__be32 addr[4], __be16 *port, const struct inet_endpoint *e)
{
	bool v4 = inet_is_v4(e);

	memcpy(addr, v4 ? e->addr + 12 : e->addr, v4 ? 4 : 16);
	*port = htons(e->port);
}

static bool own_address(int sock, struct inet_endpoint *out)
{
	struct socket_kind kind = { .type = SOCK_DGRAM, .protocol = IPPROTO_UDP };
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss);
	struct address a;

	if (getsockname(sock, (struct sockaddr *)&ss, &len) < 0)
		return false;
	kind.domain = ss.ss_family;
	sockaddr_decode(&ss, len, &kind, ADDRESS_BIND, &a);
	*out = a.inet;
	return a.kind == ADDRESS_INET;
}

/*
 * Who gets a packet that CLIENT sends to TO: udp_diag wants that one as the destination. The sender matters, too: a socket that is connected gets
 * packets from one address alone. Packets to loopback come from where they go to, but from a socket that has another address.
 */
static void ask_for_receiver(struct inet_diag_sockid *id, const struct inet_endpoint *to, int client)
{
	struct inet_endpoint from = *to;
	struct inet_endpoint bound;

	from.port = 0;
	if (own_address(client, &bound)) {
		from.port = bound.port;
		if (!inet_is_any(&bound) && inet_is_v4(&bound) == inet_is_v4(to))
			memcpy(from.addr, bound.addr, sizeof(from.addr));
	}
	put_address(id->idiag_dst, &id->idiag_dport, to);
	put_address(id->idiag_src, &id->idiag_sport, &from);
}

bool sock_diag_vacant(struct sock_diag *d, const struct inet_endpoint *to, int client)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER];

	if (!d || (to->proto != PROTO_TCP && to->proto != PROTO_UDP) || !inet_is_loopback(to) || told_of(d, to->proto) < 0)
		return false;
	const uint64_t where = sock_cookie(client, SO_NETNS_COOKIE);
	if (!where || where != sock_cookie(d->asker, SO_NETNS_COOKIE))
		return false;
	struct inet_question q = inet_question(inet_is_v4(to) ? AF_INET : AF_INET6, to->proto, 0);
	if (to->proto == PROTO_UDP)
		ask_for_receiver(&q.body.id, to, client);
	else
		put_address(q.body.id.idiag_src, &q.body.id.idiag_sport, to);
	return sock_diag_ask(d, &q.head, (struct nlmsghdr *)answer, sizeof(answer)) == -ENOENT;
}
