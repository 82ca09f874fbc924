/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind, on the caller's own socket from usher's copy of the address.
 *
 * MUST: a unix socket whose name came into being elsewhere than decided ends the tree, as a mismatched exec does.
 */
#include "supervisor/rows_net.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "supervisor/bound_names.h"
#include "supervisor/creds.h"
#include "supervisor/fs.h"
#include "supervisor/loopback.h"
#include "supervisor/making.h"
#include "supervisor/net_fence.h"
#include "supervisor/net_socket.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"

/* job->word[] of bind. */
enum {
	WORD_COPIED, /* the address is in job->data[0] */
	WORD_TARGET, /* number of the target that the address stands for, plus one */
};

int net_bind_resolve(struct job *j)
{
	struct socket_kind kind;
	int index;

	int rc = net_socket(j, (int)j->arg[0], &kind);
	if (rc == 0 && !j->word[WORD_COPIED])
		rc = net_address(j, j->arg[1], (int64_t)j->arg[2], &j->data[0]);
	if (rc < 0)
		return rc;
	j->word[WORD_COPIED] = 1;
	rc = net_target(j, &kind, j->data[0], OP_BIND, &index, NULL);
	if (rc < 0)
		return rc;
	j->word[WORD_TARGET] = (uint64_t)(index + 1);
	return 0;
}

static int fenced_as_caller(struct job *j, const struct fence *f)
{
	struct creds mine;
	int rc = creds_enter(j, CREDS_FS, &mine);

	if (rc == 0) {
		rc = fence_bind(f);
		creds_leave(&mine);
	}
	return rc;
}

/* Target 0 is the new name in its directory, target 1 the socket. */
static int bind_path(struct job *j)
{
	struct fence f = { .sock = j->sock, .leaf = job_text(j, j->target[0].leaf), .dir = j->target[0].dir, .base = -1 };
	struct base base = { .fd = -1 };

	const char *said = job_text(j, j->data[0]);

	if (!said || j->data[0].len > sizeof(f.addr))
		return -EINVAL;
	memcpy(&f.addr, said, j->data[0].len);
	f.len = j->data[0].len;
	if (!f.leaf || f.dir < 0)
		return -EADDRINUSE;
	/* As usher: a caller that changed its user has a directory in /proc that its user may not search. */
	int rc = f.addr.sun_path[0] == '/' ? 0 : fs_base(j, AT_FDCWD, &base);
	if (rc < 0)
		return rc;
	f.base = base.fd;
	rc = fs_take_umask(j);
	if (rc == 0)
		rc = fenced_as_caller(j, &f);
	if (base.fd >= 0)
		fs_base_done(&base);
	if (rc == 0)
		bound_names_add(j->session->bound_names, j->sock, f.dir, f.leaf);
	if (rc <= 0)
		return rc;
	session_kill(j->session);
	return -EACCES;
}

/* A new name in a held directory; the address becomes what the rule says. */
static int redirect_path(struct job *j, const struct object *to)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct target *file = &j->target[0];

	if (to->name.len >= sizeof(un.sun_path))
		return -ENAMETOOLONG;
	int rc = resolve_redirect(j, file, to->name, LOOK_PARENT);
	if (rc < 0)
		return rc == -EEXIST ? -EADDRINUSE : rc;
	if (file->exists || file->dir < 0)
		return file->exists ? -EADDRINUSE : -ENOENT;
	if (file->want_dir) /* which a socket never is */
		return -ENOENT;
	j->target[1].name = file->name;
	j->target[1].named = file->named;
	j->target[1].astray = file->astray;
	memcpy(un.sun_path, to->name.bytes, to->name.len);
	j->data[0] = job_copy(j, &un, offsetof(struct sockaddr_un, sun_path) + to->name.len + 1);
	return j->data[0].off ? 0 : -ENOMEM;
}

int net_bind_redirect(struct job *j, uint32_t index, const struct object *to)
{
	if (j->n_targets == 2)
		return to->kind == OBJECT_UNIX || to->kind == OBJECT_FILE ? redirect_path(j, to) : -EAFNOSUPPORT;
	if (j->n_targets != 1 || index != 0 || j->target[0].kind != to->kind)
		return -EAFNOSUPPORT;
	return net_retarget(j, &j->target[0], to, &j->data[0]);
}

/* To a netlink socket that takes any number the kernel gives that of the process which binds it, where that is free. */
static int bind_own_number(struct job *j, const struct sockaddr_storage *to, socklen_t len)
{
	struct sockaddr_nl nl, now;

	if (to->ss_family != AF_NETLINK || len < sizeof(nl))
		return -EADDRINUSE;
	memcpy(&nl, to, sizeof(nl));
	if (nl.nl_pid || !net_unnumbered(j->sock, &now))
		return -EADDRINUSE;
	nl.nl_pid = (uint32_t)proc_pid(j->proc);
	return bind(j->sock, (const struct sockaddr *)&nl, sizeof(nl)) < 0 ? -errno : 0;
}

static int do_bind(struct job *j)
{
	struct sockaddr_storage to;

	int len = net_destination(j, NULL, j->data[0], &to);
	if (len < 0)
		return len;
	int rc = bind_own_number(j, &to, (socklen_t)len);
	if (rc != -EADDRINUSE)
		return rc;
	return loopback_bind(j->session->loopback, j->sock, &to, (socklen_t)len, !j->verdict.loopback);
}

static int bind_as_caller(struct job *j)
{
	struct creds mine;
	int rc = creds_enter(j, CREDS_FS, &mine);

	if (rc == 0) {
		rc = do_bind(j);
		creds_leave(&mine);
	}
	if (rc == 0)
		net_tell_given(j);
	return net_answer(j, rc);
}

int net_bind_perform(struct job *j)
{
	if (j->n_targets != 2)
		return bind_as_caller(j);
	int rc = making_begin(j, &j->target[0]);
	if (rc)
		return rc;
	rc = net_answer(j, bind_path(j));
	making_end(j);
	return rc;
}
