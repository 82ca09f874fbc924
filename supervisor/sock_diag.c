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
#include "supervisor/compat.h"
#include "supervisor/sockaddr.h"

#define ANSWER 1024
#define LOOPBACK 1 /* its number in every network namespace */

struct sock_diag {
	pthread_mutex_t lock;
	int asker; /* -1: none yet */
	uint32_t seq;
	int told;  /* of TCP sockets; 1: not tried. That the kernel has no answer to give and that there is no such socket are one errno. */
};

int sock_diag_new(struct sock_diag **out)
{
	struct sock_diag *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	d->asker = -1;
	d->told = 1;
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

struct tcp_question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

/* The cookie says that none is meant; no states: with NLM_F_DUMP a list of nothing. */
static struct tcp_question tcp_question(int family, uint16_t flags)
{
	return (struct tcp_question){
		.head = { .nlmsg_len = sizeof(struct tcp_question), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
		.body = { .sdiag_family = (uint8_t)family, .sdiag_protocol = IPPROTO_TCP,
			  .id = { .idiag_if = LOOPBACK, .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
	};
}

int sock_diag_told(struct sock_diag *d)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER];
	struct tcp_question q = tcp_question(AF_INET, NLM_F_DUMP);

	pthread_mutex_lock(&d->lock);
	if (d->told > 0) {
		ssize_t n = ask_locked(d, &q.head, (struct nlmsghdr *)answer, sizeof(answer));
		d->told = n < 0 ? (int)n : 0;
	}
	int told = d->told;
	pthread_mutex_unlock(&d->lock);
	return told;
}

static uint64_t namespace_of(int sock)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) == 0 ? cookie : 0;
}

bool sock_diag_vacant(struct sock_diag *d, const struct inet_endpoint *to, int client)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER];

	if (!d || to->proto != PROTO_TCP || !inet_is_loopback(to) || sock_diag_told(d) < 0)
		return false;
	const uint64_t where = namespace_of(client);
	if (!where || where != namespace_of(d->asker))
		return false;
	bool v4 = inet_is_v4(to);
	struct tcp_question q = tcp_question(v4 ? AF_INET : AF_INET6, 0);
	memcpy(q.body.id.idiag_src, v4 ? to->addr + 12 : to->addr, v4 ? 4 : 16);
	q.body.id.idiag_sport = htons(to->port);
	return sock_diag_ask(d, &q.head, (struct nlmsghdr *)answer, sizeof(answer)) == -ENOENT;
}
