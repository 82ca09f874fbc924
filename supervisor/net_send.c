/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sendto, sendmsg and sendmmsg: every message's address is copied and decided before the first is sent.
 *
 * What a lone caller sends on a connected unix socket it sends itself: net_caller_may().
 *
 * MUST: a message goes to the address in job memory, or to the socket's own peer with no
 * address at all; an address that nobody decided on is never passed where a kernel could use it.
 */
#include "supervisor/net_send.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/memory.h"
#include "supervisor/net_control.h"
#include "supervisor/net_ids.h"
#include "supervisor/rows_net.h"
#include "supervisor/net_peer.h"
#include "supervisor/net_socket.h"
#include "supervisor/session.h"

#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif
#define MSG_COMPAT 0x80000000u /* the kernel's own: sendto() does not look at it, the others refuse it before they look at anything */

static struct batch *batch_new(struct job *j, size_t n, unsigned flags)
{
	struct batch *b = calloc(1, sizeof(*b) + n * sizeof(struct message));

	if (b) {
		b->n = (uint32_t)n;
		b->flags = flags;
		j->said = flags;
	}
	j->heap = b;
	return b;
}

/* An address that an earlier message of the call named as well. */
static const struct message *same_name(struct job *j, const struct batch *b, const struct message *m)
{
	const char *name = job_text(j, m->name);

	for (const struct message *e = b->m; name && e < m; e++) {
		const char *earlier = job_text(j, e->name);
		if (earlier && e->name.len == m->name.len && memcmp(earlier, name, m->name.len) == 0)
			return e;
	}
	return NULL;
}

/*
 * A packet to no address goes to its source, or else to loopback, as the kernel routes it: what is decided is where that is. The message is read once
 * more when it is sent, and then it has an address.
 */
static void pin_to_source(struct job *j, const struct batch *b, const struct message *m)
{
	char raw[512]; /* what speaks of packets alone takes less */
	struct sockaddr_in to;
	struct in_addr source;

	if (b->kind.domain != AF_INET || b->kind.type == SOCK_STREAM || !m->control || !m->n_control || m->n_control > sizeof(raw) ||
	    m->name.len < sizeof(to))
		return;
	memcpy(&to, job_text(j, m->name), sizeof(to));
	if (to.sin_addr.s_addr != htonl(INADDR_ANY) || memory_read((pid_t)j->notif.pid, m->control, raw, m->n_control) < 0 ||
	    !control_packet_source(raw, m->n_control, &source))
		return;
	to.sin_addr.s_addr = source.s_addr != htonl(INADDR_ANY) ? source.s_addr : htonl(INADDR_LOOPBACK);
	memcpy(job_text(j, m->name), &to, sizeof(to));
}

/* TCP looks at an address only to connect; connected packets do not look at it; unix streams refuse any. */
static int message_target(struct job *j, const struct batch *b, struct message *m)
{
	bool inet = socket_ruled(&b->kind) && b->kind.domain != AF_UNIX;
	bool opens = inet && b->kind.type == SOCK_STREAM && (b->flags & MSG_FASTOPEN);
	bool ignored = (inet && b->kind.type == SOCK_STREAM && !opens) ||
		       (b->kind.domain == AF_UNIX && b->kind.type == SOCK_SEQPACKET);

	m->target = -1;
	if (!m->name.off || (b->kind.domain == AF_UNIX && b->kind.type == SOCK_STREAM))
		return 0;
	if (ignored) {
		m->name = (struct text){ 0, 0 };
		m->pointed = false;
		return 0;
	}
	pin_to_source(j, b, m);
	int rc = net_target(j, &b->kind, m->name, opens ? OP_CONNECT : OP_SEND, &m->target, &ignored);
	/* That there is one tells (a peer that is a mapped address is not reached then); that it says nothing holds if the socket turns into one of IPv4. */
	if (ignored)
		memset(job_text(j, m->name), 0, m->name.len);
	return rc;
}

/* Each distinct address is one target. What does not fit any more is left to the caller's next call: the count tells it. */
static int batch_targets(struct job *j, struct batch *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct message *m = &b->m[i];
		const struct message *e = m->name.off ? same_name(j, b, m) : NULL;
		if (e) {
			m->target = e->target;
			continue;
		}
		int rc = message_target(j, b, m);
		if (rc < 0 && i && b->many) {
			b->n = i;
			return 0;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int decide_on(struct job *j, struct batch *b)
{
	int rc = batch_targets(j, b);

	if (rc == 0)
		b->complete = true;
	return rc;
}

int net_sendto_resolve(struct job *j)
{
	struct batch *b = j->heap;

	if (b && b->complete)
		return batch_targets(j, b);
	if (!b)
		b = batch_new(j, 1, (unsigned)j->arg[3] & ~MSG_COMPAT);
	if (!b)
		return -ENOMEM;
	int rc = net_socket(j, (int)j->arg[0], &b->kind);
	if (rc == 0 && j->arg[4])
		rc = net_address(j, j->arg[4], (int64_t)j->arg[5], &b->m[0].name);
	if (rc < 0)
		return rc;
	b->m[0].pointed = true;
	b->m[0].data = j->arg[1];
	b->m[0].n = j->arg[2];
	return decide_on(j, b);
}

/* Only the caller can send its own number, unless usher may claim it. */
static bool left_to_caller(struct job *j, struct batch *b)
{
	b->native = !net_ids_may_claim() && net_caller_may(j, &b->kind);
	b->complete = b->native;
	if (b->native)
		b->n = 0;
	return b->native;
}

/* As copy_msghdr_from_user(): an address that is too long is cut, without a pointer there is none. */
static int message_decode(struct job *j, const struct msghdr *h, struct message *m)
{
	int32_t len = h->msg_name ? (int32_t)h->msg_namelen : 0;

	if (len < 0)
		return -EINVAL;
	if (len > (int32_t)sizeof(struct sockaddr_storage))
		len = (int32_t)sizeof(struct sockaddr_storage);
	if (len) {
		int rc = net_address(j, (uint64_t)(uintptr_t)h->msg_name, len, &m->name);
		if (rc < 0)
			return rc;
	}
	if (h->msg_iovlen > IOV_MAX)
		return -EMSGSIZE;
	if (h->msg_controllen > INT_MAX)
		return -ENOBUFS;
	m->vector = true;
	m->data = (uint64_t)(uintptr_t)h->msg_iov;
	m->n = h->msg_iovlen;
	m->control = (uint64_t)(uintptr_t)h->msg_control;
	m->n_control = h->msg_controllen;
	return 0;
}

int net_sendmsg_resolve(struct job *j)
{
	struct batch *b = j->heap;
	struct msghdr h;

	if (j->arg[2] & MSG_COMPAT)
		return -EINVAL;
	if (b && b->complete)
		return batch_targets(j, b);
	if (!b)
		b = batch_new(j, 1, (unsigned)j->arg[2]);
	if (!b)
		return -ENOMEM;
	int rc = net_socket(j, (int)j->arg[0], &b->kind);
	if (rc == 0 && left_to_caller(j, b))
		return 0;
	if (rc == 0)
		rc = memory_read((pid_t)j->notif.pid, j->arg[1], &h, sizeof(h));
	if (rc == 0)
		rc = message_decode(j, &h, &b->m[0]);
	return rc < 0 ? rc : decide_on(j, b);
}

/* A message that cannot be copied ends the batch, unless it is the first. */
static int copy_batch(struct job *j, struct batch *b, uint64_t addr)
{
	struct mmsghdr h;

	for (uint32_t i = 0; i < b->n; i++) {
		uint64_t at = addr + i * sizeof(h);
		int rc = memory_read((pid_t)j->notif.pid, at, &h, sizeof(h));
		if (rc == 0)
			rc = message_decode(j, &h.msg_hdr, &b->m[i]);
		/* more addresses than the arena takes are left to the caller's next call */
		if (rc < 0 && i == 0)
			return rc;
		if (rc < 0) {
			b->n = i;
			return 0;
		}
		b->m[i].result = at + offsetof(struct mmsghdr, msg_len);
	}
	return 0;
}

/* How many messages one call sends. A limit counts calls: there each message is one, and the count tells the caller to go on. */
static uint64_t batch_size(const struct job *j)
{
	uint64_t most = j->session->counts_sends ? 1 : IOV_MAX;

	return j->arg[2] > most ? most : j->arg[2];
}

int net_sendmmsg_resolve(struct job *j)
{
	struct batch *b = j->heap;
	uint64_t n = batch_size(j);

	if (j->arg[3] & MSG_COMPAT)
		return -EINVAL;
	if (b && b->complete)
		return batch_targets(j, b);
	if (!b)
		b = batch_new(j, n, (unsigned)j->arg[3]);
	if (!b)
		return -ENOMEM;
	b->many = true;
	int rc = net_socket(j, (int)j->arg[0], &b->kind);
	if (rc == 0 && left_to_caller(j, b))
		return 0;
	if (rc == 0)
		rc = copy_batch(j, b, j->arg[1]);
	return rc < 0 ? rc : decide_on(j, b);
}

/* The kernel's order: the number of bytes is written after each message, a fault there stops. Behind a part of a message comes no other. */
static long send_all(struct job *j, const struct batch *b)
{
	bool whole = true;
	long rc = 0;
	uint32_t i;

	for (i = 0; i < b->n && whole; i++) {
		rc = message_send(j, b, &b->m[i], &whole);
		if (rc < 0)
			break;
		unsigned sent = (unsigned)rc;
		rc = memory_give(j, b->m[i].result, &sent, sizeof(sent));
		if (rc < 0)
			break;
	}
	return i ? (long)i : rc;
}

int net_send_perform(struct job *j)
{
	const struct batch *b = j->heap;

	if (b->native)
		return job_continue(j);
	bool opens = (b->flags & MSG_FASTOPEN) && j->n_targets, whole;
	long rc = opens ? net_peer_before(j) : 0;
	if (rc == 0)
		rc = b->many ? send_all(j, b) : message_send(j, b, &b->m[0], &whole);
	if (opens)
		net_peer_after(j, b->kind.domain, rc);
	return net_answer(j, rc);
}

int net_send_redirect(struct job *j, uint32_t index, const struct object *to)
{
	struct batch *b = j->heap;
	struct text name = { 0, 0 };

	if (index >= j->n_targets)
		return -EPERM;
	j->target[index].own = false; /* elsewhere */
	int rc = net_retarget(j, &j->target[index], to, &name);
	/* A socket of another family would be needed: programs then connect in the ordinary way, which can be led there. */
	if (rc == -EAFNOSUPPORT && b->kind.type == SOCK_STREAM)
		rc = -EOPNOTSUPP;
	for (uint32_t i = 0; rc == 0 && name.off && i < b->n; i++) {
		if (b->m[i].target == (int)index)
			b->m[i].name = name;
	}
	return rc;
}
