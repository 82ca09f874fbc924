/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: order is ADDFD, close, SEND. With ADDFD_SEND usher would hold a second
 * reference for a moment after the caller runs on: ETXTBSY, late EOF, unreleased locks.
 * The same goes for the caller's own descriptor, duplicated for a refused or finished call.
 */
#include "supervisor/reply.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/exec_trace.h"
#include "supervisor/limits_caller.h"
#include "supervisor/passing.h"
#include "supervisor/pool.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

int reply_send(struct job *j, int64_t value, int32_t error, bool cont)
{
	struct seccomp_notif_resp resp = {
		.id = j->notif.id,
		.val = error || cont ? 0 : value,
		.error = cont ? 0 : error,
		.flags = cont ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0,
	};

	if (j->replied)
		return -ENOENT;
	j->replied = true;
	if (error == -EINTR || error == -ERESTARTSYS)
		interrupted_by_usher(&j->session->interruptions, (pid_t)j->notif.pid, j->notif.data.instruction_pointer);
	cleanup_fd(&j->sock);
	j->sock = -1;
	worker_answers(j->session->pool);
	while (ioctl(j->session->listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) < 0) {
		if (errno == EINTR)
			continue;
		int rc = -errno;
		if (rc != -ENOENT)
			session_kill(j->session); /* a caller that gets no answer would wait for ever */
		return rc;
	}
	return 0;
}

/*
 * The kernel understands ERESTARTSYS only on its way to a signal; a thread that has none on its way (a signal for
 * the process may go to any of its threads) would see 512 as an errno. The interrupt of ptrace takes every thread that way.
 */
void reply_interrupted(struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid;
	int sig;

	int rc = seize_caller(j, trace_seize);
	if (rc < 0) {
		/* somebody else traces it */
		(void)reply_send(j, 0, rc == -EAGAIN || pool_stop_certain(j) || pool_signal_certain(tid) ? -ERESTARTSYS : -EINTR, false);
		return;
	}
	(void)reply_send(j, 0, -ERESTARTSYS, false);
	/* By number: usher's first thread comes here, too, and orphans of its helpers are its children. */
	if (trace_wait_for(tid, &sig) != TRACE_ENDED)
		trace_release(tid, sig);
}

int reply_again(struct job *j)
{
	(void)reply_send(j, 0, TRACE_RESTART, false);
	j->reply.kind = REPLY_GONE;
	return PERFORM_DONE;
}

int reply_addfd(struct job *j)
{
	int fd CLEANUP_FD = steal_fd(&j->reply.fd);
	struct seccomp_notif_addfd add = {
		.id = j->notif.id,
		.srcfd = (uint32_t)fd,
		.newfd_flags = j->reply.fd_flags & O_CLOEXEC,
	};
	int at;

	uint64_t since = worker_gives(j->worker);
	do
		at = ioctl(j->session->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	while (at < 0 && errno == EINTR);
	int rc = at < 0 ? -errno : at;
	worker_gave(j->worker, since);
	if (rc >= 0)
		return rc;
	if (rc == -EMFILE)
		limits_no_number(j);
	return rc;
}

int reply_replace(struct job *j, int fd, int at, bool cloexec)
{
	struct seccomp_notif_addfd add = {
		.id = j->notif.id,
		.flags = SECCOMP_ADDFD_FLAG_SETFD,
		.srcfd = (uint32_t)fd,
		.newfd = (uint32_t)at,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};
	int rc;

	do
		rc = ioctl(j->session->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}
