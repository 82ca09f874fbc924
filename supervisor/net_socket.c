/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a unix socket with a pathname is reached through the held descriptor that
 * was decided on, never by its name again.
 */
#include "supervisor/reply.h"
#include "supervisor/net_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "audit/put.h"
#include "rules/cleanup.h"
#include "supervisor/bound_names.h"
#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

static int option(int sock, int name, int *out)
{
	socklen_t len = sizeof(*out);

	return getsockopt(sock, SOL_SOCKET, name, out, &len) < 0 ? -errno : 0;
}

static int hold(struct job *j, int fd)
{
	if (j->sock < 0) {
		int sock = caller_fd(j, fd);
		if (sock < 0)
			return sock;
		j->sock = sock;
	}
	return 0;
}

int net_socket(struct job *j, int fd, struct socket_kind *out)
{
	int rc = hold(j, fd);

	if (rc == 0)
		rc = option(j->sock, SO_DOMAIN, &out->domain);
	if (rc == 0)
		rc = option(j->sock, SO_TYPE, &out->type);
	out->protocol = 0;
	/* a unix socket has none */
	if (rc == 0 && out->domain != AF_UNIX)
		rc = option(j->sock, SO_PROTOCOL, &out->protocol);
	return rc;
}

int net_socket_connecting(struct job *j, int fd, struct text address, struct socket_kind *out)
{
	sa_family_t family = AF_UNSPEC;
	int rc = hold(j, fd);

	if (address.len >= sizeof(family))
		memcpy(&family, job_text(j, address), sizeof(family));
	if (rc < 0)
		return rc;
	*out = (struct socket_kind){ .type = SOCK_STREAM };
	if (family == AF_UNIX) {
		rc = option(j->sock, SO_DOMAIN, &out->domain);
		return rc < 0 || out->domain == AF_UNIX ? rc : net_socket(j, fd, out);
	}
	rc = option(j->sock, SO_PROTOCOL, &out->protocol);
	if (rc < 0 || out->protocol != IPPROTO_TCP)
		return rc < 0 ? rc : net_socket(j, fd, out);
	out->domain = AF_INET;
	/* A raw socket may have TCP's protocol. */
	return j->session->other_sockets ? option(j->sock, SO_TYPE, &out->type) : 0;
}

int net_address(struct job *j, uint64_t addr, int64_t len, struct text *out)
{
	*out = (struct text){ 0, 0 };
	if (len < 0 || len > (int64_t)sizeof(struct sockaddr_storage))
		return -EINVAL;
	return len ? memory_copy(j, addr, (size_t)len, out) : 0;
}

/* A directory of threads has a link for each. */
static bool is_alone(const struct job *j)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)j->notif.pid);
	return !atomic_load(&j->session->files_shared) && stat(path, &st) == 0 && st.st_nlink == 3;
}

bool net_caller_may(struct job *j, const struct socket_kind *kind)
{
	return kind->domain == AF_UNIX && kind->type != SOCK_DGRAM && is_alone(j) && job_alive(j);
}

bool net_blocks(int sock)
{
	int flags = fcntl(sock, F_GETFL);

	return flags >= 0 && !(flags & O_NONBLOCK);
}

int net_send_timeout(int sock)
{
	struct timeval tv = { 0 };
	socklen_t len = sizeof(tv);

	if (getsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &tv, &len) < 0 || (!tv.tv_sec && !tv.tv_usec))
		return -1;
	return tv.tv_sec < INT_MAX / 1000 - 1 ? (int)(tv.tv_sec * 1000 + (tv.tv_usec + 999) / 1000) : INT_MAX;
}

int net_interrupted(int sock)
{
	return net_send_timeout(sock) >= 0 ? -EINTR : -ERESTARTSYS;
}

/* E is the address of all in a network: the kernel lets nobody connect to it who has not said SO_BROADCAST. */
static bool is_broadcast(const struct inet_endpoint *e)
{
	struct sockaddr_storage to;
	int len = sockaddr_encode(e, AF_INET, &to);
	int s CLEANUP_FD = len > 0 ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

	return s >= 0 && connect(s, (const struct sockaddr *)&to, (socklen_t)len) < 0 && errno == EACCES;
}

/* What can be received at only: the kernel sends from such an address as if the socket were bound to none (__inet_bind()). */
static bool receives_only(const struct inet_endpoint *e)
{
	return inet_is_v4(e) && !inet_is_any(e) && (IN_MULTICAST((uint32_t)e->addr[12] << 24) || is_broadcast(e));
}

/* The address the socket is bound to, as far as it sends from there; false when it is none of the internet. */
static bool bound_to(int sock, const struct socket_kind *kind, struct inet_endpoint *e)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct address a;

	if (getsockname(sock, (struct sockaddr *)&ss, &len) < 0)
		return false;
	sockaddr_decode(&ss, len, kind, ADDRESS_BIND, &a);
	*e = a.inet;
	if (a.kind == ADDRESS_INET && receives_only(e))
		memset(e->addr + 12, 0, 4);
	return a.kind == ADDRESS_INET;
}

/* named is what the program said, where the canonical form says it differently. */
static void note_named(struct job *j, struct target *t, const char *said, size_t n)
{
	char meant[ENDPOINT_TEXT];
	struct sockaddr_storage ss;

	int len = sockaddr_encode(&t->inet, inet_is_v4(&t->inet) ? AF_INET : AF_INET6, &ss);
	size_t m = len > 0 ? sockaddr_text(&ss, (size_t)len, meant) : 0;
	if (n && (n != m || memcmp(said, meant, n) != 0))
		t->named = job_copy(j, said, n);
}

static int inet_target(struct job *j, const struct socket_kind *kind, struct text bytes, op_set op,
		       struct inet_endpoint *e)
{
	char said[ENDPOINT_TEXT];
	struct inet_endpoint local;
	struct target *t = job_target(j, OBJECT_INET, op);

	if (!t)
		return -ENOSPC;
	size_t n = sockaddr_text(job_text(j, bytes), bytes.len, said);
	if (op != OP_BIND && inet_is_any(e)) {
		bool known = bound_to(j->sock, kind, &local);
		sockaddr_pin_any(job_text(j, bytes), bytes.len, known ? &local : NULL, e);
	}
	t->inet = *e;
	t->inet.proto = socket_proto(kind);
	note_named(j, t, said, n);
	return 0;
}

static int abstract_target(struct job *j, op_set op, struct span name)
{
	struct target *t = job_target(j, OBJECT_ABSTRACT, op);

	if (!t)
		return -ENOSPC;
	t->inet.proto = PROTO_UNIX;
	t->name = job_copy(j, name.bytes, name.len);
	return t->name.off ? 0 : -ENOMEM;
}

static int path_target(struct job *j, op_set op, struct span name)
{
	struct look look = { .dirfd = AT_FDCWD };
	struct target *t;

	if (j->n_targets == JOB_TARGETS)
		return -ENOSPC;
	look.path = job_copy(j, name.bytes, name.len);
	if (!look.path.off)
		return -ENOMEM;
	if (file_may_rewrite(j))
		look.flags = LOOK_MISSING | LOOK_ABSENT;
	int rc = resolve(j, &look, op, &t);
	if (rc < 0)
		return rc;
	t->kind = OBJECT_UNIX;
	t->inet.proto = PROTO_UNIX;
	t->own = bound_names_has(j->session->bound_names, t->fd);
	/* nobody there matters only where it is not led elsewhere */
	return t->exists || file_rewritten(j) ? 0 : -ENOENT;
}

/* The new name is created in a held directory, then bound: two objects, so that rules on files and on sockets both speak. */
static int bind_target(struct job *j, struct span name)
{
	struct look look = { .dirfd = AT_FDCWD, .flags = LOOK_PARENT };
	struct target *file;

	if (name.bytes[0] == '/' && strspn(name.bytes, "/") >= name.len)
		return -EADDRINUSE;
	look.path = job_copy(j, name.bytes, name.len);
	if (!look.path.off)
		return -ENOMEM;
	if (file_may_rewrite(j))
		look.flags |= LOOK_ABSENT;
	int rc = resolve(j, &look, OP_CREATE, &file);
	if (rc < 0)
		return rc == -EEXIST ? -EADDRINUSE : rc;
	file->makes = MAKES_NODE;
	struct target *t = job_target(j, OBJECT_UNIX, OP_BIND);
	if (!t)
		return -ENOSPC;
	t->name = file->name;
	t->named = file->named;
	t->inet.proto = PROTO_UNIX;
	/* its directory is missing, which matters only where it is not led elsewhere */
	return file->dir < 0 && !file_rewritten(j) ? -ENOENT : 0;
}

static enum address_use use_of(op_set op)
{
	if (op == OP_BIND)
		return ADDRESS_BIND;
	return op == OP_SEND ? ADDRESS_SEND : ADDRESS_CONNECT;
}

static int address_target(struct job *j, const struct socket_kind *kind, struct text bytes, op_set op,
			  struct address *a)
{
	switch (a->kind) {
	case ADDRESS_INET:
		return inet_target(j, kind, bytes, op, &a->inet);
	case ADDRESS_PATH:
		return op == OP_BIND ? bind_target(j, a->name) : path_target(j, op, a->name);
	case ADDRESS_ABSTRACT:
		return abstract_target(j, op, a->name);
	case ADDRESS_AUTOBIND:
		return abstract_target(j, op, (struct span){ "", 0 });
	case ADDRESS_UNKNOWN:
	case ADDRESS_NOBODY:
	case ADDRESS_IGNORED:
		break;
	}
	return -EPERM;
}

bool net_unruled(const struct job *j, const struct socket_kind *kind)
{
	return j->session->other_sockets && !socket_ruled(kind);
}

int net_target(struct job *j, const struct socket_kind *kind, struct text bytes, op_set op, int *index, bool *ignored)
{
	struct address a;

	*index = -1;
	if (ignored)
		*ignored = false;
	if (net_unruled(j, kind))
		return 0;
	sockaddr_decode(bytes.off ? job_text(j, bytes) : "", bytes.len, kind, use_of(op), &a);
	if (ignored)
		*ignored = a.kind == ADDRESS_IGNORED;
	if (a.kind == ADDRESS_NOBODY || a.kind == ADDRESS_IGNORED)
		return 0;
	int at = (int)j->n_targets;
	int rc = address_target(j, kind, bytes, op, &a);
	if (rc == 0)
		*index = at;
	return rc;
}

/* A held socket's address: the kernel follows the magic link to the very inode. */
static int held_path(const struct target *t, struct sockaddr_storage *out)
{
	static const char fds[] = "/proc/self/fd/";
	struct sockaddr_un *un = (struct sockaddr_un *)out;
	char *at = un->sun_path + sizeof(fds) - 1;

	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, fds, sizeof(fds) - 1);
	at = put_number(at, (uint64_t)t->fd);
	*at++ = '\0';
	return (int)(at - (char *)out);
}

int net_destination(struct job *j, const struct target *t, struct text bytes, struct sockaddr_storage *out)
{
	if (t && t->kind == OBJECT_UNIX)
		return t->fd >= 0 ? held_path(t, out) : -ENOENT;
	if (bytes.off)
		memcpy(out, job_text(j, bytes), bytes.len);
	return (int)bytes.len;
}

static int retarget_abstract(struct job *j, struct target *t, const struct object *to, struct text *bytes)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	if (to->name.len > sizeof(un.sun_path) - 1)
		return -ENAMETOOLONG;
	memcpy(un.sun_path + 1, to->name.bytes, to->name.len);
	t->name = job_copy(j, to->name.bytes, to->name.len);
	*bytes = job_copy(j, &un, offsetof(struct sockaddr_un, sun_path) + 1 + to->name.len);
	return bytes->off && t->name.off ? 0 : -ENOMEM;
}

static int retarget_inet(struct job *j, struct target *t, const struct object *to, int domain, struct text *bytes)
{
	struct sockaddr_storage ss;
	enum proto proto = t->inet.proto;

	int len = sockaddr_encode(&to->inet, domain, &ss);
	if (len < 0)
		return len;
	t->inet = to->inet;
	if (t->kind == OBJECT_INET)
		t->inet.proto = proto;
	t->kind = OBJECT_INET;
	*bytes = job_copy(j, &ss, (size_t)len);
	return bytes->off ? 0 : -ENOMEM;
}

int net_retarget(struct job *j, struct target *t, const struct object *to, struct text *bytes)
{
	int domain;

	if (option(j->sock, SO_DOMAIN, &domain) < 0 || (domain == AF_UNIX) != (to->kind != OBJECT_INET))
		return -EAFNOSUPPORT;
	if (to->kind == OBJECT_INET)
		return retarget_inet(j, t, to, domain, bytes);
	if (to->kind == OBJECT_ABSTRACT) {
		t->kind = OBJECT_ABSTRACT;
		return retarget_abstract(j, t, to, bytes);
	}
	int rc = resolve_redirect(j, t, to->name, 0);
	t->kind = OBJECT_UNIX;
	return rc;
}

bool net_unnumbered(int sock, struct sockaddr_nl *now)
{
	socklen_t len = sizeof(*now);

	return getsockname(sock, (struct sockaddr *)now, &len) == 0 && now->nl_family == AF_NETLINK && !now->nl_pid;
}

void net_own_number(struct job *j)
{
	struct sockaddr_nl nl;

	if (!net_unnumbered(j->sock, &nl))
		return;
	nl.nl_pid = (uint32_t)proc_pid(j->proc);
	(void)bind(j->sock, (const struct sockaddr *)&nl, sizeof(nl));
}

void net_tell_given(const struct job *j)
{
	const struct target *t = &j->target[0];
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss);
	struct address a;

	bool open = j->n_targets == 1 && ((t->kind == OBJECT_INET && !t->inet.port) || (t->kind == OBJECT_ABSTRACT && !t->name.len));
	if (!open || j->verdict.log == LOG_NONE || getsockname(j->sock, (struct sockaddr *)&ss, &len) < 0)
		return;
	sockaddr_decode(&ss, len, &(struct socket_kind){ .domain = ss.ss_family, .type = SOCK_STREAM }, ADDRESS_BIND, &a);
	if (a.kind != ADDRESS_INET && a.kind != ADDRESS_ABSTRACT)
		return;
	struct object o = { .kind = t->kind, .inet = a.inet, .name = a.name };
	o.inet.proto = t->inet.proto;
	record_name(&j->worker->evidence, "given", &o);
}

int net_answer(struct job *j, long rc)
{
	close(j->sock);
	j->sock = -1;
	return rc < 0 ? job_error(j, (int)rc) : job_value(j, rc);
}
