/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One message, sent by usher as the caller would have sent it.
 *
 * A first attempt does not wait; only a blocking socket without room makes the worker give up reception.
 *
 * MUST: nothing is sent after the caller's memory was read unless the notification is still valid; no SIGPIPE
 * reaches usher, and none that the caller would have got is lost.
 */
#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/caller_signal.h"
#include "supervisor/lookups.h"
#include "supervisor/memory.h"
#include "supervisor/net_control.h"
#include "supervisor/net_ids.h"
#include "supervisor/net_leaves.h"
#include "supervisor/net_send.h"
#include "supervisor/net_socket.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

#define SMALL 4096
#define LOOKUP_MOST 512 /* a longer packet is no query that a resolver sends */
#define CHUNK ((size_t)256 * 1024)
#define STAMPED_MOST ((size_t)8 * 1024 * 1024) /* more than a call that does not wait finds room for */
/* More than any net.core.optmem_max we know: the kernel says ENOBUFS itself below it. */
#define CONTROL_MOST ((size_t)1024 * 1024)

/* A message on its way. */
struct sending {
	struct job *j;
	const struct batch *b;
	struct msghdr hdr;
	struct iovec iov[2]; /* what was read, and behind it where the caller's memory could not be read */
	struct sockaddr_storage to;
	struct control control;
	bool pointed;   /* an address, though of no length */
	bool as_caller; /* with the caller's ids and powers: the address is a path, or the kernel asks for powers */
	bool blocks;    /* a full socket makes the caller wait */
	bool patient;   /* wait from the start */
	char *buffer;
	size_t room;
	bool mapped;    /* buffer is a mapping of its own: pages sent with MSG_ZEROCOPY stay as they are when it is unmapped */
	bool begun;     /* some of it has been sent */
	bool stamped;   /* the kernel may tell the caller when the last byte left: of the one call that was made */
	char small[SMALL];
};

static int fetch(void *context, int fd)
{
	return caller_fd(context, fd);
}

static const struct target *target_of(const struct sending *s, const struct message *m)
{
	return m->target >= 0 ? &s->j->target[m->target] : NULL;
}

/* Packets alone look at what names an interface: they go where the address was decided to be. */
static int keep_inside(struct sending *s, const struct message *m)
{
	int len = (int)s->hdr.msg_namelen;

	if (!socket_ruled(&s->b->kind) || s->b->kind.domain == AF_UNIX || s->b->kind.type == SOCK_STREAM)
		return 0;
	int rc = net_leaves_by(s->j, target_of(s, m), control_interface(s->control.bytes, s->control.len), &s->to, &len);
	s->hdr.msg_name = len ? &s->to : NULL;
	s->hdr.msg_namelen = (socklen_t)len;
	return rc;
}

static int prepare_control(struct sending *s, const struct message *m)
{
	struct control_source source = { .domain = s->b->kind.domain, .fetch = fetch, .context = s->j };
	int rc = 0;

	if (m->n_control) {
		if (m->n_control > CONTROL_MOST)
			return -ENOBUFS;
		char *raw CLEANUP_FREE = malloc(m->n_control);
		if (!raw)
			return -ENOMEM;
		rc = memory_read((pid_t)s->j->notif.pid, m->control, raw, m->n_control);
		if (rc == 0)
			rc = control_build(&source, raw, m->n_control, &s->control);
		if (rc == 0)
			rc = keep_inside(s, m);
	}
	if (rc == 0 && s->b->kind.domain == AF_UNIX)
		rc = net_ids_control(s->j, &s->control);
	else if (rc == 0)
		net_ids_number(s->j, &s->control);
	s->hdr.msg_control = s->control.len ? s->control.bytes : NULL;
	s->hdr.msg_controllen = s->control.len;
	return rc;
}

/* What goes to the kernel itself (netlink), or tells it how to send (SO_MARK), it takes from those who may. */
static bool asks_for_powers(const struct sending *s, const struct message *m)
{
	const struct socket_kind *kind = &s->b->kind;

	if (kind->domain == AF_UNIX)
		return false;
	return !socket_ruled(kind) || (m->control && m->n_control);
}

static int prepare_address(struct sending *s, const struct message *m)
{
	const struct target *t = target_of(s, m);
	int len = net_destination(s->j, t, m->name, &s->to);

	if (len >= 0 && net_leaves(s->j, t) < 0)
		return -EPERM;
	if (len < 0)
		return len;
	s->pointed = m->pointed;
	s->as_caller = (t && t->kind == OBJECT_UNIX) || asks_for_powers(s, m);
	s->hdr.msg_name = len ? &s->to : NULL;
	s->hdr.msg_namelen = (socklen_t)len;
	return 0;
}

static bool is_stream(const struct sending *s)
{
	return s->b->kind.type == SOCK_STREAM;
}

/* Whether each call that sends this may make the kernel tell of it. A short message is one call. */
static bool tells_of_calls(const struct sending *s, size_t total)
{
	unsigned flags = 0;
	socklen_t len = sizeof(flags);

	if (!is_stream(s) || s->b->kind.domain == AF_UNIX || total <= SMALL)
		return false;
	if (s->control.len)
		return true;
	return getsockopt(s->j->sock, SOL_SOCKET, SO_TIMESTAMPING, &flags, &len) == 0 && (flags & SOF_TIMESTAMPING_TX_RECORD_MASK);
}

/* Streams go in pieces; a packet must be whole, and one that no send buffer takes is not even copied. */
static int prepare_buffer(struct sending *s, size_t total)
{
	int sndbuf = 0;
	socklen_t len = sizeof(sndbuf);

	s->stamped = tells_of_calls(s, total);
	size_t most = s->stamped && !s->blocks ? STAMPED_MOST : CHUNK;
	s->room = is_stream(s) && total > most ? most : total;
	if (s->room > 65536 && !is_stream(s)) {
		if (getsockopt(s->j->sock, SOL_SOCKET, SO_SNDBUF, &sndbuf, &len) < 0 || s->room > (size_t)sndbuf)
			return -EMSGSIZE;
	}
	s->mapped = (s->b->flags & MSG_ZEROCOPY) && s->room;
	if (s->mapped) {
		s->buffer = mmap(NULL, s->room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (s->buffer == MAP_FAILED)
			s->buffer = NULL;
	} else {
		s->buffer = s->room <= SMALL ? s->small : malloc(s->room);
	}
	return s->buffer ? 0 : -ENOMEM;
}

static void finish(struct sending *s)
{
	if (s->mapped && s->buffer)
		munmap(s->buffer, s->room);
	else if (s->buffer != s->small)
		free(s->buffer);
	control_free(&s->control);
}

static int enter_to_send(const struct sending *s, struct net_ids *ids)
{
	int rc = net_ids_enter(s->j, ids);

	if (rc == 0 && s->b->kind.domain == AF_UNIX && s->control.ucred)
		rc = net_ids_vouch(ids);
	if (rc < 0)
		net_ids_leave(ids);
	return rc;
}

static long sendmsg_as_caller(struct sending *s, unsigned flags)
{
	struct net_ids ids;

	if (s->as_caller) {
		int rc = enter_to_send(s, &ids);
		if (rc < 0)
			return rc;
	}
	long n;
	if (s->pointed && !s->hdr.msg_namelen && !s->hdr.msg_controllen && s->hdr.msg_iovlen == 1)
		n = sendto(s->j->sock, s->iov[0].iov_base, s->iov[0].iov_len, (int)(flags | MSG_NOSIGNAL),
			   (struct sockaddr *)&s->to, 0);
	else
		n = sendmsg(s->j->sock, &s->hdr, (int)(flags | MSG_NOSIGNAL));
	if (n < 0)
		n = -errno;
	if (s->as_caller)
		net_ids_leave(&ids);
	return n;
}

/*
 * That a connection was reset is told once, to the first call that sends nothing: behind a part that was sent to the caller's next one, natively. So
 * one that has ended is not asked to send; and where there is no room the wait is for that alone. Returns 0 or a negative errno.
 */
static int await_room(const struct sending *s)
{
	int wait = s->patient ? net_send_timeout(s->j->sock) : 0;
	struct pollfd p = { .fd = s->j->sock, .events = POLLOUT };

	if (!s->begun || s->b->kind.domain == AF_UNIX)
		return 0;
	int n = poll(&p, 1, wait);
	if (n < 0)
		return -errno;
	if (n == 0 && s->patient)
		return -EAGAIN;
	return p.revents & POLLHUP ? -EPIPE : 0;
}

static long send_now(struct sending *s, unsigned flags)
{
	int rc = await_room(s);

	return rc < 0 ? rc : sendmsg_as_caller(s, flags);
}

/* Sends what is in s->iov, or a part of it. */
static long send_some(struct sending *s, unsigned flags)
{
	struct worker *w = s->j->worker;
	long rc;

	if (s->blocks && !s->patient) {
		rc = send_now(s, flags | MSG_DONTWAIT);
		if (rc != -EAGAIN)
			return rc;
		s->patient = true;
	}
	if (s->patient)
		worker_blocking(w);
	for (;;) {
		rc = send_now(s, flags);
		if (rc != -EINTR)
			return rc;
		if (s->patient && worker_interrupted(w))
			return net_interrupted(s->j->sock);
	}
}

/*
 * Control messages and the address belong to the first piece, MSG_OOB and MSG_EOR to the last. So does MSG_ZEROCOPY to the first: the kernel
 * counts the calls that say it, and the caller has made one.
 */
static unsigned piece_flags(const struct sending *s, bool last)
{
	unsigned flags = s->b->flags;

	if (s->begun)
		flags &= ~(unsigned)MSG_ZEROCOPY;
	if (!last)
		flags = (flags & ~(unsigned)(MSG_OOB | MSG_EOR)) | MSG_MORE;
	return flags;
}

/*
 * What to send of N bytes. Of the calls that usher makes of a stamped one the last byte's alone is stamped: how much the others send is not known
 * before.
 */
static size_t ask_for(struct sending *s, size_t n, bool last)
{
	if (!s->stamped || !s->blocks)
		return n;
	bool end = last && n == 1;
	s->hdr.msg_controllen = end ? s->control.len : control_unstamped(&s->control);
	s->hdr.msg_control = s->hdr.msg_controllen ? s->control.bytes : NULL;
	return last && !end ? n - 1 : n;
}

/* Sends N bytes of the buffer. *sent counts; returns 0 to go on, 1 to stop, or a negative errno. */
static long send_piece(struct sending *s, size_t n, bool last, size_t *sent)
{
	size_t off = 0;

	do {
		bool patient = s->patient;
		s->iov[0] = (struct iovec){ s->buffer + off, n - off };
		s->iov[0].iov_len = ask_for(s, n - off, last);
		bool whole = s->iov[0].iov_len == n - off;
		long rc = send_some(s, piece_flags(s, last && whole));
		if (rc < 0)
			return rc;
		*sent += (size_t)rc;
		off += (size_t)rc;
		s->begun = true;
		s->hdr.msg_name = NULL;
		s->hdr.msg_namelen = 0;
		s->hdr.msg_control = NULL;
		s->hdr.msg_controllen = 0;
		/* a part: no room, or the wait was cut short */
		bool part = (size_t)rc < s->iov[0].iov_len;
		if (part && (!is_stream(s) || !s->blocks || patient))
			return 1;
		s->patient = s->blocks && (s->patient || part);
	} while (off < n);
	return 0;
}

/* Pages that were sent with MSG_ZEROCOPY are the kernel's until they have left: what comes behind them is copied elsewhere. */
static int renew_buffer(struct sending *s)
{
	if (!s->mapped)
		return 0;
	munmap(s->buffer, s->room);
	s->mapped = false;
	s->buffer = malloc(s->room);
	return s->buffer ? 0 : -ENOMEM;
}

/* What the kernel says of data that cannot be read: where the socket could not send any, that comes first. Nothing is sent. */
static long send_unreadable(struct sending *s, size_t n)
{
	if (!job_alive(s->j))
		return -ESRCH;
	s->iov[0] = (struct iovec){ (void *)1, n };
	s->hdr.msg_iovlen = 1;
	long rc = sendmsg_as_caller(s, s->b->flags | MSG_DONTWAIT);
	return rc < 0 && rc != -EAGAIN ? rc : -EFAULT;
}

/* How much of a stream goes before N bytes that cannot be read only the kernel knows: it sends what makes a whole packet of its own. */
static void end_unreadable(struct sending *s, size_t n)
{
	s->iov[1] = (struct iovec){ (void *)1, n };
	s->hdr.msg_iovlen = n ? 2 : 1;
}

static long send_payload(struct sending *s, struct payload *p)
{
	size_t taken = 0, sent = 0;
	long rc = 0;

	do {
		size_t want = p->total - taken < s->room ? p->total - taken : s->room;
		ssize_t n = want ? payload_take(p, (pid_t)s->j->notif.pid, s->buffer, want) : 0;
		if (n < 0 || ((size_t)n < want && !is_stream(s)))
			rc = n < 0 ? n : -EFAULT;
		else if (!job_alive(s->j))
			rc = -ESRCH;
		if (rc < 0)
			break;
		taken += (size_t)n;
		end_unreadable(s, want - (size_t)n);
		rc = send_piece(s, (size_t)n, taken == p->total || (size_t)n < want, &sent);
		if ((size_t)n < want)
			break;
		if (rc == 0 && taken < p->total)
			rc = renew_buffer(s);
	} while (rc == 0 && taken < p->total);
	if (rc == -EFAULT && !sent)
		return send_unreadable(s, p->total);
	return sent || rc >= 0 ? (long)sent : rc;
}

/* What the kernel sends to a writer whose reader has gone. As the caller: an usher that is not root may signal no other user. */
static void raise_sigpipe(struct job *j)
{
	struct net_ids ids;

	if (net_ids_enter(j, &ids) < 0)
		return;
	caller_signal(j, SIGPIPE);
	net_ids_leave(&ids);
}

static bool to_name_server(const struct sending *s, const struct message *m)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	const struct target *t = target_of(s, m);

	if (t)
		return t->kind == OBJECT_INET && t->inet.port == LOOKUP_PORT;
	if (getpeername(s->j->sock, (struct sockaddr *)&peer, &len) < 0)
		return false;
	/* the port is at the same place in both families */
	return ntohs(((const struct sockaddr_in *)&peer)->sin_port) == LOOKUP_PORT;
}

/* What the program looks up, for questions. The shape comes first: it costs no call, and few packets have it. */
static void note_lookup(const struct sending *s, const struct message *m, size_t n)
{
	const struct socket_kind *k = &s->b->kind;
	const uint8_t *name;
	size_t len;

	if (!s->j->session->asks_people || k->type != SOCK_DGRAM || (k->domain != AF_INET && k->domain != AF_INET6))
		return;
	if (n <= LOOKUP_MOST && lookup_query(s->buffer, n, &name, &len) && to_name_server(s, m))
		lookups_note(s->j->proc, s->buffer, n);
}

static long prepare_and_send(struct sending *s, const struct message *m, struct payload *p)
{
	int rc = prepare_address(s, m);

	if (rc == 0)
		rc = prepare_control(s, m);
	if (rc == 0)
		rc = prepare_buffer(s, p->total);
	if (rc == 0 && s->b->kind.domain == AF_NETLINK)
		net_own_number(s->j);
	long sent = rc < 0 ? rc : send_payload(s, p);
	if (sent > 0)
		note_lookup(s, m, (size_t)sent);
	return sent;
}

long message_send(struct job *j, const struct batch *b, const struct message *m, bool *whole)
{
	struct payload p;
	struct sending s;
	long rc = 0;

	memset(&s, 0, offsetof(struct sending, small));
	s.j = j;
	s.b = b;
	s.hdr.msg_iov = s.iov;
	s.hdr.msg_iovlen = 1;
	s.blocks = !(b->flags & MSG_DONTWAIT) && net_blocks(j->sock);
	s.patient = s.blocks && (b->flags & MSG_FASTOPEN);
	if (m->vector)
		rc = payload_vector(&p, (pid_t)j->notif.pid, m->data, m->n);
	else
		payload_buffer(&p, m->data, m->n);
	if (rc == 0)
		rc = prepare_and_send(&s, m, &p);
	*whole = rc >= 0 && (size_t)rc == p.total;
	finish(&s);
	payload_free(&p);
	if (rc == -EPIPE && is_stream(&s) && !(b->flags & MSG_NOSIGNAL))
		raise_sigpipe(j);
	return rc;
}
