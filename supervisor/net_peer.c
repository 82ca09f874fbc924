/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getpeername, where a rule says show=asked. It decides nothing, so that a socket that another thread puts under the number
 * meanwhile does no harm: its true peer is shown.
 *
 * MUST: what is no connection any more shows no peer: the socket itself is asked first.
 */
#include "supervisor/net_peer.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "rules/rule.h"
#include "supervisor/memory.h"
#include "supervisor/net_shown.h"
#include "supervisor/net_socket.h"
#include "supervisor/rows_net.h"
#include "supervisor/session.h"

static bool shows_asked(const struct job *j)
{
	return j->redirected && j->verdict.rule && j->verdict.rule->show_asked;
}

int net_peer_before(struct job *j)
{
	return j->session->shown && shows_asked(j) ? shown_hold(j->session->shown, j->sock) : 0;
}

static void unix_address(struct job *j, struct shown_address *out)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	bool abstract = j->asked_kind == OBJECT_ABSTRACT;
	struct text name = j->asked_named.off && !abstract ? j->asked_named : j->asked_name;

	if (!name.off || name.len + 1 > sizeof(un.sun_path))
		return;
	memcpy(un.sun_path + abstract, job_text(j, name), name.len);
	memcpy(out->bytes, &un, sizeof(un));
	out->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + name.len + 1);
}

static void asked_address(struct job *j, int domain, struct shown_address *out)
{
	struct sockaddr_storage ss;

	memset(out, 0, sizeof(*out));
	if (j->asked_kind != OBJECT_INET) {
		unix_address(j, out);
		return;
	}
	int len = sockaddr_encode(&j->asked_inet, domain, &ss);
	if (len > 0) {
		memcpy(out->bytes, &ss, (size_t)len);
		out->len = (socklen_t)len;
	}
}

void net_peer_after(struct job *j, int domain, long rc)
{
	struct shown_address address = { 0 };

	if (!j->session->shown || (rc < 0 && rc != -EINPROGRESS))
		return;
	if (shows_asked(j))
		asked_address(j, domain, &address);
	shown_note(j->session->shown, j->sock, &address);
}

int net_getpeername_resolve(struct job *j)
{
	struct socket_kind kind;

	return net_socket(j, (int)j->arg[0], &kind);
}

/* As the kernel's move_addr_to_user(): an address that does not fit is cut, its whole length is told. */
static int give(struct job *j, const struct shown_address *a)
{
	pid_t tid = (pid_t)j->notif.pid;
	int len;

	int rc = memory_read(tid, j->arg[2], &len, sizeof(len));
	if (rc < 0)
		return rc;
	if (len < 0)
		return -EINVAL;
	if (len > (int)a->len)
		len = (int)a->len;
	rc = len ? memory_give(j, j->arg[1], a->bytes, (size_t)len) : 0;
	len = (int)a->len;
	return rc < 0 ? rc : memory_give(j, j->arg[2], &len, sizeof(len));
}

int net_getpeername_perform(struct job *j)
{
	struct shown_address address;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (!j->session->shown || !shown_look(j->session->shown, j->sock, &address))
		return job_continue(j);
	if (getpeername(j->sock, (struct sockaddr *)&ss, &len) < 0)
		return net_answer(j, -errno);
	return net_answer(j, give(j, &address));
}
