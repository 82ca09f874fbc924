/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen on an internet socket without a port gets one from the kernel: a bind to port 0. A unix socket must have a name; one that the kernel
 * gave it as it connected (SO_PASSCRED) was decided on by nobody, and is when it listens.
 *
 * MUST: what getsockname says of a port is no proof of one: a socket whose connection ended has none any more, and still says which it had.
 */
#include "supervisor/rows_net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/listeners.h"
#include "supervisor/loopback.h"
#include "supervisor/memory.h"
#include "supervisor/net_ids.h"
#include "supervisor/net_socket.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"
#include "supervisor/sock_cookie.h"
#include "supervisor/worker.h"

#define AUTOMATIC 5 /* hexadecimal digits of a name that the kernel gives */

/* job->word[] of listen. */
enum {
	WORD_NATIVE,
	WORD_PORT, /* that the socket keeps, in the kernel's order */
};

struct local {
	struct sockaddr_storage ss;
	socklen_t len;
	struct address address;
};

static int local_of(int sock, const struct socket_kind *kind, struct local *out)
{
	out->len = sizeof(out->ss);
	if (getsockname(sock, (struct sockaddr *)&out->ss, &out->len) < 0)
		return -errno;
	sockaddr_decode(&out->ss, out->len, kind, ADDRESS_BIND, &out->address);
	return 0;
}

/* The port is at the same place in both families. */
static uint64_t port_of(const struct local *l)
{
	return ((const struct sockaddr_in *)&l->ss)->sin_port;
}

/* Whether a socket has a port, which what it says of itself does not prove. */
enum port { PORT_NONE, PORT_HAS, PORT_UNKNOWN };

/* The kernel takes this option, as it is, only from a socket without a port. */
static enum port port_of6(int sock)
{
	int only = 0;
	socklen_t len = sizeof(only);

	if (getsockopt(sock, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len) < 0)
		return PORT_UNKNOWN;
	if (setsockopt(sock, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)) == 0)
		return PORT_NONE;
	return errno == EINVAL ? PORT_HAS : PORT_UNKNOWN;
}

/* Whether a port that A has is taken for B: not in another network namespace, and perhaps not on a device of its own. */
static bool same_ports(int a, int b)
{
	const uint64_t where = sock_cookie(a, SO_NETNS_COOKIE);
	char device[16] = "";
	socklen_t n = sizeof(device);

	return where && where == sock_cookie(b, SO_NETNS_COOKIE) && getsockopt(b, SOL_SOCKET, SO_BINDTODEVICE, device, &n) == 0 && !device[0];
}

/* A bind that fails takes the address that the socket still had from its last one. */
static void put_back(int sock, const struct sockaddr_in *had)
{
	static const int on = 1;
	int before = 0;
	socklen_t len = sizeof(before);

	if (!had->sin_addr.s_addr || getsockopt(sock, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &before, &len) < 0)
		return;
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = had->sin_addr };
	(void)setsockopt(sock, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	(void)bind(sock, (const struct sockaddr *)&at, sizeof(at));
	(void)setsockopt(sock, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &before, sizeof(before));
}

/* Bound to a port that is taken it says EINVAL where it has one, and else that it is taken, and stays without. */
static enum port port_of4(int sock)
{
	struct sockaddr_in in = { .sin_family = AF_INET }, had = { 0 };
	socklen_t len = sizeof(in), had_len = sizeof(had);

	int taken CLEANUP_FD = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (taken < 0 || !same_ports(taken, sock) || bind(taken, (const struct sockaddr *)&in, len) < 0 ||
	    getsockname(taken, (struct sockaddr *)&in, &len) < 0)
		return PORT_UNKNOWN;
	if (getsockname(sock, (struct sockaddr *)&had, &had_len) < 0 || bind(sock, (const struct sockaddr *)&in, len) == 0)
		return PORT_UNKNOWN;
	const int why = errno;
	if (why == EADDRINUSE)
		put_back(sock, &had);
	return why == EINVAL ? PORT_HAS : why == EADDRINUSE ? PORT_NONE : PORT_UNKNOWN;
}

static bool is_closed(int sock, uint8_t *state)
{
	socklen_t len = sizeof(*state);

	return getsockopt(sock, IPPROTO_TCP, TCP_INFO, state, &len) < 0 || *state == TCP_CLOSE;
}

/* What is decided on: another thread may bind the socket anew behind that. Where every address is heard alike its port says enough. */
static int note_decided(struct job *j, const struct local *l)
{
	if (!j->session->loopback)
		return 0;
	j->data[0] = job_copy(j, &l->ss, l->len);
	return j->data[0].off ? 0 : -ENOMEM;
}

/* A bind, of the port that it says where that may be its own; else the kernel will give it one. */
static int bind_target(struct job *j, const struct socket_kind *kind, bool keeps)
{
	struct local l;

	int rc = local_of(j->sock, kind, &l); /* anew: whoever looked for a port may have changed it */
	struct target *t = rc < 0 ? NULL : job_target(j, OBJECT_INET, OP_BIND);
	if (!t)
		return rc < 0 ? rc : -ENOSPC;
	t->inet = l.address.inet;
	t->inet.proto = socket_proto(kind);
	t->inet.port = keeps ? t->inet.port : 0;
	return note_decided(j, &l);
}

/* Its bind may have been allowed for what does not listen, or is heard on loopback alone. */
static bool decided_by_bind(const struct job *j, const struct local *l)
{
	return !j->session->loopback || inet_is_loopback(&l->address.inet) || loopback_is_open(j->session->loopback, j->sock);
}

static int listen_inet(struct job *j, const struct socket_kind *kind, const struct local *l)
{
	uint8_t state = TCP_CLOSE;

	j->word[WORD_PORT] = 0;
	j->data[0] = (struct text){ 0, 0 };
	if (!l->address.inet.port)
		return bind_target(j, kind, false);
	if (kind->type != SOCK_STREAM)
		return 0; /* no kind that listens */
	enum port port = PORT_HAS;
	if (is_closed(j->sock, &state))
		port = kind->domain == AF_INET6 ? port_of6(j->sock) : port_of4(j->sock);
	else if (state != TCP_LISTEN)
		return -EINVAL; /* and its port must not become another meanwhile */
	if (port == PORT_NONE)
		return bind_target(j, kind, false);
	j->word[WORD_PORT] = port_of(l);
	return port == PORT_HAS && decided_by_bind(j, l) ? note_decided(j, l) : bind_target(j, kind, true);
}

static bool is_automatic(const struct address *a)
{
	if (a->kind != ADDRESS_ABSTRACT || a->name.len != AUTOMATIC)
		return false;
	for (uint32_t i = 0; i < AUTOMATIC; i++) {
		if (!memchr("0123456789abcdef", a->name.bytes[i], 16))
			return false;
	}
	return true;
}

/* Whether the program might have asked for such a name. */
static bool may_have_any(const struct job *j)
{
	struct call call;
	struct verdict v;

	job_call(j, &call);
	call.n_objects = 1;
	call.object[0] = (struct object){ .kind = OBJECT_ABSTRACT, .ops = OP_BIND, .name = { "", 0 }, .inet.proto = PROTO_UNIX };
	policy_decide(j->session->policy, &call, &v);
	return v.kind == VERDICT_ALLOW;
}

static int listen_unix(struct job *j, const struct socket_kind *kind, const struct local *l)
{
	if (kind->type == SOCK_DGRAM)
		return 0;
	if (l->len <= offsetof(struct sockaddr_un, sun_path))
		return -EINVAL; /* and must not get a name meanwhile */
	if (!is_automatic(&l->address) || may_have_any(j))
		return 0;
	struct target *t = job_target(j, OBJECT_ABSTRACT, OP_BIND);
	if (!t)
		return -ENOSPC;
	j->word[WORD_NATIVE] = 0; /* of the very socket that is asked about: a handler may run meanwhile */
	t->inet.proto = PROTO_UNIX;
	t->name = job_copy(j, l->address.name.bytes, l->address.name.len);
	return t->name.off ? 0 : -ENOMEM;
}

int net_listen_resolve(struct job *j)
{
	struct socket_kind kind;
	struct local l;

	int rc = net_socket(j, (int)j->arg[0], &kind);
	if (rc < 0)
		return rc;
	j->word[WORD_NATIVE] = net_caller_may(j, &kind);
	rc = local_of(j->sock, &kind, &l);
	if (rc < 0 || net_unruled(j, &kind))
		return rc;
	if (kind.domain == AF_UNIX)
		return listen_unix(j, &kind, &l);
	if (l.address.kind == ADDRESS_UNKNOWN)
		return -EPERM;
	return l.address.kind == ADDRESS_INET ? listen_inet(j, &kind, &l) : 0;
}

/* Where its port was taken away just then, the kernel has given it one that nobody decided on. */
static bool has_its_port(const struct job *j)
{
	struct local l = { .len = sizeof(l.ss) };

	if (!j->word[WORD_PORT])
		return true;
	return getsockname(j->sock, (struct sockaddr *)&l.ss, &l.len) == 0 && port_of(&l) == j->word[WORD_PORT];
}

/* Whether the socket is still where it was decided on. */
static bool is_where_decided(struct job *j, struct sockaddr_storage *now, socklen_t *len)
{
	*len = sizeof(*now);
	return getsockname(j->sock, (struct sockaddr *)now, len) == 0 && *len == j->data[0].len && memcmp(now, job_text(j, j->data[0]), *len) == 0;
}

/*
 * As nobody binds meanwhile: what is heard by all is where that was decided, and a socket without a port, which may have got one since, gets it now.
 * 0, PERFORM_AGAIN or a negative errno.
 */
static int settle_open(struct job *j)
{
	struct sockaddr_storage at;
	socklen_t len;

	if (!j->data[0].len)
		return 0;
	if (!is_where_decided(j, &at, &len))
		return PERFORM_AGAIN;
	if (j->word[WORD_PORT])
		return 0;
	((struct sockaddr_in *)&at)->sin_port = 0;
	if (bind(j->sock, (const struct sockaddr *)&at, len) == 0)
		return 0;
	return errno == EINVAL ? PERFORM_AGAIN : -errno;
}

/* A connection that failed leaves the address that it had, and is taken back without a bind. */
static bool is_heard_as_decided(struct job *j)
{
	struct sockaddr_storage at, decided = { 0 };
	socklen_t len = sizeof(at);

	if (!j->data[0].len)
		return true;
	memcpy(&decided, job_text(j, j->data[0]), j->data[0].len);
	if (getsockname(j->sock, (struct sockaddr *)&at, &len) < 0 || len != j->data[0].len)
		return false;
	((struct sockaddr_in *)&at)->sin_port = ((struct sockaddr_in *)&decided)->sin_port;
	return memcmp(&at, &decided, len) == 0;
}

static int begin_to_listen(struct job *j, bool confined)
{
	static const struct sockaddr none = { .sa_family = AF_UNSPEC };

	int rc = confined ? loopback_confine(j->sock) : settle_open(j);
	if (rc == 0)
		rc = listeners_listen(j->session->listeners, proc_pid(j->proc), (int)j->arg[0], j->sock, (int)j->arg[1]);
	if (rc || (has_its_port(j) && (confined ? loopback_confined(j->sock) : is_heard_as_decided(j))))
		return rc;
	(void)connect(j->sock, &none, sizeof(none));
	return -EACCES;
}

/* A socket that is bound anew just then would be heard elsewhere, or get another interface by its address. */
static int listen_as_decided(struct job *j)
{
	loopback_begin(j->session->loopback);
	int rc = begin_to_listen(j, j->n_targets && j->verdict.loopback);
	loopback_end(j->session->loopback);
	return rc;
}

static void tell_heard(const struct job *j)
{
	if (j->n_targets && j->verdict.loopback && j->verdict.log != LOG_NONE)
		record_text(&j->worker->evidence, "heard", "loopback");
}

int net_listen_perform(struct job *j)
{
	struct net_ids mine;

	if (j->word[WORD_NATIVE])
		return job_continue(j);
	int rc = net_ids_enter(j, &mine);

	if (rc == 0) {
		rc = listen_as_decided(j);
		if (rc == 0) {
			net_tell_given(j);
			tell_heard(j);
		}
		net_ids_leave(&mine);
	}
	return rc == PERFORM_AGAIN ? rc : net_answer(j, rc);
}

int net_share_resolve(struct job *j)
{
	struct socket_kind kind;

	return net_socket(j, (int)j->arg[0], &kind);
}

int net_share_perform(struct job *j)
{
	int on;

	if ((int32_t)j->arg[4] < (int32_t)sizeof(on))
		return net_answer(j, -EINVAL);
	int rc = memory_read((pid_t)j->notif.pid, j->arg[3], &on, sizeof(on));
	if (rc == 0 && !job_alive(j))
		rc = -ESRCH;
	return net_answer(j, rc < 0 ? rc : listeners_share(j->session->listeners, j->sock, on));
}
