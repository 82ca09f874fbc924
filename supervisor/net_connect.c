/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect, done on the caller's own socket from usher's copy of the address.
 *
 * MUST: reception is handed on before a connect that may wait; a wait that a signal ends is answered so that
 * the kernel restarts the call or not, as it would have.
 */
#include "supervisor/rows_net.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rules/cleanup.h"
#include "supervisor/listeners.h"
#include "supervisor/net_ids.h"
#include "supervisor/net_leaves.h"
#include "supervisor/net_peer.h"
#include "supervisor/net_socket.h"
#include "supervisor/net_swap.h"
#include "supervisor/patience.h"
#include "supervisor/pool.h"
#include "supervisor/session.h"
#include "supervisor/sock_diag.h"
#include "supervisor/watch.h"
#include "supervisor/worker.h"

/* job->word[] of connect. */
enum {
	WORD_COPIED, /* the address is in job->data[0] */
	WORD_TARGET, /* number of the target that the address stands for, plus one */
	WORD_TYPE,   /* SOCK_*, UNRULED beside it for a socket that no rule on endpoints speaks of */
	WORD_SWAPPED, /* job->sock is to take the place of the caller's socket, which is of this family plus one */
};

#define UNRULED 0x100

/* The tree's own socket that T leads to, held; -1: none. */
static int own_listener(const struct job *j, const struct target *t)
{
	return t->kind == OBJECT_INET ? listeners_hold(j->session->listeners, j->session->procs, &t->inet, j->sock) : -1;
}

/* Who listens, or of UDP gets what is sent, where T leads to: the tree, nobody, or as far as is known others. */
static void find_listener(struct job *j, struct target *t)
{
	if (t->kind != OBJECT_INET) {
		t->vacant = j->session->asks_vacant && t->kind == OBJECT_UNIX && net_unix_vacant(j, t);
		return;
	}
	int own CLEANUP_FD = own_listener(j, t);

	t->own = own >= 0;
	t->vacant = !t->own && j->session->asks_vacant && sock_diag_vacant(j->session->diag, &t->inet, j->sock);
	if (t->own || t->vacant)
		return;
	patience_begin(j->worker); /* of many processes, or of one with many descriptors, that takes long */
	int heirs CLEANUP_FD = listeners_seek(j->session->listeners, j->session->procs, &t->inet, j->sock);
	patience_end(j->worker);
	t->own = heirs >= 0;
}

int net_connect_resolve(struct job *j)
{
	struct socket_kind kind;
	int index;

	int rc = j->word[WORD_COPIED] ? 0 : net_address(j, j->arg[1], (int64_t)j->arg[2], &j->data[0]);
	if (rc == -EINVAL || rc == -EFAULT) {
		/* the kernel looks for the descriptor first, for a socket last */
		int fd = net_socket(j, (int)j->arg[0], &kind);
		return fd == -EBADF ? fd : rc;
	}
	if (rc == 0)
		rc = net_socket_connecting(j, (int)j->arg[0], j->data[0], &kind);
	if (rc < 0)
		return rc;
	j->word[WORD_COPIED] = 1;
	rc = net_target(j, &kind, j->data[0], OP_CONNECT, &index, NULL);
	if (rc < 0)
		return rc;
	j->word[WORD_TARGET] = (uint64_t)(index + 1);
	if (index >= 0 && j->session->diag)
		find_listener(j, &j->target[index]);
	j->word[WORD_TYPE] = (uint64_t)kind.type | (net_unruled(j, &kind) ? UNRULED : 0);
	return 0;
}

/*
 * Datagram sockets only note the address. A stream on the same machine may wait too, for room in the listener's queue; and one that
 * connects already waits for that, whatever address it is given, of nobody's too.
 */
static bool may_wait(const struct job *j, int flags)
{
	return j->word[WORD_TYPE] != SOCK_DGRAM && flags >= 0 && !(flags & O_NONBLOCK);
}

static int connect_once(struct job *j, const struct sockaddr_storage *to, socklen_t len)
{
	return connect(j->sock, (const struct sockaddr *)to, len) < 0 ? -errno : 0;
}

/* Handing reception on costs more than a connect on this machine takes: there it is done only when that turns out long. */
static bool likely_at_once(const struct target *t)
{
	return t->kind != OBJECT_INET || inet_is_loopback(&t->inet);
}

static void begin_waiting(struct job *j)
{
	const struct target *t = j->word[WORD_TARGET] ? &j->target[j->word[WORD_TARGET] - 1] : NULL;

	if (t ? likely_at_once(t) : !(j->word[WORD_TYPE] & UNRULED))
		patience_begin(j->worker);
	else
		worker_blocking(j->worker);
}

/*
 * Waits; an interruption that is not the caller's goes on waiting for the same connection. The socket stays in the caller's mode: the file is
 * shared, and threads that read from it or write to it would be told to come again.
 */
static int connect_waiting(struct job *j, const struct sockaddr_storage *to, socklen_t len)
{
	bool again = false;
	int rc;

	begin_waiting(j);
	while ((rc = connect_once(j, to, len)) == -EINTR && !worker_interrupted(j->worker))
		again = true;
	patience_end(j->worker);
	if (rc == -EINTR)
		return net_interrupted(j->sock);
	return rc == -EALREADY && again ? -EINPROGRESS : rc;
}

static int do_connect(struct job *j, const struct sockaddr_storage *to, socklen_t len)
{
	int rc;

	if (may_wait(j, j->word[WORD_TYPE] == SOCK_DGRAM ? -1 : fcntl(j->sock, F_GETFL)))
		return connect_waiting(j, to, len);
	do
		rc = connect_once(j, to, len);
	while (rc == -EINTR && !j->worker->blocking);
	return rc;
}

/* The family the caller's socket has, when it was led TO. */
static int family_asked(const struct job *j, const struct sockaddr_storage *to)
{
	return j->word[WORD_SWAPPED] ? (int)j->word[WORD_SWAPPED] - 1 : to->ss_family;
}

/* Connects to the tree's own socket OWN: where the connect returns before the connection is made, OWN is held until it is. */
static int connect_own(struct job *j, int own, const struct sockaddr_storage *to, socklen_t len)
{
	struct pool *p = j->session->pool;
	struct listeners *l = j->session->listeners;
	int awaited = listeners_await(l, j->sock, own);

	if (awaited < 0)
		return awaited;
	listeners_hurry(j->sock);
	int rc = do_connect(j, to, len);
	int waits = listeners_made(l, awaited, rc != -EALREADY && rc != -EISCONN);
	if (waits > 0) {
		pthread_mutex_lock(&p->lock);
		watch_wake_locked(p);
		pthread_mutex_unlock(&p->lock);
	}
	return waits < 0 ? waits : rc;
}

int net_connect_perform(struct job *j)
{
	const struct target *t = j->word[WORD_TARGET] ? &j->target[j->word[WORD_TARGET] - 1] : NULL;
	struct sockaddr_storage to;
	struct net_ids mine;

	/* Held until the connection is made: what was decided on is what is reached. A unix socket's file is held since it was. */
	const bool listens = t && t->own && t->kind == OBJECT_INET;
	int own CLEANUP_FD = listens ? own_listener(j, t) : -1;
	if (listens && own < 0)
		return PERFORM_AGAIN;
	int len = net_destination(j, t, j->data[0], &to);
	if (len < 0)
		return net_answer(j, len);
	int rc = net_leaves(j, t);
	if (rc == 0)
		rc = net_peer_before(j);
	if (rc == 0)
		rc = net_ids_enter(j, &mine);
	if (rc == 0) {
		if (to.ss_family == AF_NETLINK)
			net_own_number(j);
		rc = listens ? connect_own(j, own, &to, (socklen_t)len) : do_connect(j, &to, (socklen_t)len);
		net_ids_leave(&mine);
	}
	if (j->word[WORD_SWAPPED] && (rc == 0 || rc == -EINPROGRESS)) {
		int swap = net_swap_install(j, (int)j->arg[0]);
		rc = swap < 0 ? swap : rc;
	}
	net_peer_after(j, family_asked(j, &to), rc);
	return net_answer(j, rc);
}

int net_connect_redirect(struct job *j, uint32_t index, const struct object *to)
{
	struct socket_kind kind;

	if (j->n_targets != 1 || index + 1 != j->word[WORD_TARGET])
		return -EPERM;
	j->target[index].own = false; /* elsewhere */
	j->target[index].vacant = false;
	int rc = net_socket(j, (int)j->arg[0], &kind);
	if (rc == 0)
		rc = net_swap_prepare(j, &kind, to);
	if (rc < 0)
		return rc;
	j->word[WORD_SWAPPED] = rc ? (uint64_t)kind.domain + 1 : 0;
	return net_retarget(j, &j->target[index], to, &j->data[0]);
}
