/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who belongs to the tree, and what a caller's descriptors are.
 *
 * MUST: a descriptor comes from the calling thread's own table or, where the kernel shows that both are one or have the same object there, from
 * its leader's.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/job.h"
#include "supervisor/memory.h"
#include "supervisor/procs_internal.h"
#include "supervisor/session.h"

/* Whether the parents of PID lead to the guardian. Not to the command's number: that may be another's, when the command has ended and the tree has not. */
static bool descends(const struct session *s, pid_t pid)
{
	for (int i = 0; i < 100000 && pid > 1; i++) {
		struct thread_ref ref;
		pid_t tgid, ppid;

		if (thread_open(pid, &ref))
			return false;
		int err = thread_family(&ref, pid, &tgid, &ppid);
		close(ref.fd);
		if (err || tgid == s->usher || tgid == s->keeper || tgid == s->guardian)
			return false;
		if (ppid == s->guardian)
			return true;
		pid = ppid;
	}
	return false;
}

bool procs_inside(struct procs *ps, pid_t pid)
{
	const struct session *s = procs_session(ps);

	if (pid <= 0 || pid == s->usher || pid == s->keeper || pid == s->guardian)
		return false;
	return table_has(ps, pid) || descends(s, pid);
}

bool procs_shares(struct procs *ps, pid_t tid, const struct proc *p)
{
	pid_t tgid = procs_process(ps, tid), ppid;
	struct thread_ref ref;

	if (tgid)
		return tgid == p->pid;
	if (thread_open(tid, &ref))
		return false;
	int err = thread_family(&ref, tid, &tgid, &ppid);
	close(ref.fd);
	return !err && tgid == p->pid;
}

/* The table has forgotten the thread: from the kernel again. The notification proves afterwards that the number was the caller's all along. */
static int getfd_anew(struct job *j, pid_t tid, int fd)
{
	struct thread_ref ref;
	int err = thread_open(tid, &ref);

	if (err)
		return err;
	int got = ref.pidfd ? thread_getfd(&ref, fd) : -ENOENT;
	close(ref.fd);
	if (got >= 0 && !job_alive(j)) {
		close(got);
		return -ESRCH;
	}
	return got;
}

/* Files without a type (eventfd and the like) share one inode: that proves nothing. */
static bool is_object(int fd, const struct stat *object)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == object->st_ino && st.st_dev == object->st_dev && (st.st_mode & S_IFMT) != 0;
}

/*
 * The leader's FD, for a thread the kernel has no descriptor of (before Linux 6.9). Its table serves where it is the thread's, too, or, as most
 * containers refuse kcmp(2), where the same object is there.
 */
static int leaders_fd(struct job *j, pid_t tid, int fd)
{
	const struct session *s = j->session;
	pid_t pid = proc_pid(j->proc);
	char name[24], path[PROC_PATH];
	struct stat theirs;

	if (thread_same_files(tid, pid))
		return table_getfd(s->procs, pid, fd);
	snprintf(name, sizeof name, "fd/%d", fd);
	put_proc_path(path, tid, name);
	if (fstatat(s->self_proc, path, &theirs, 0) < 0)
		return errno == ENOENT && job_alive(j) ? -EBADF : -EPERM;
	CLEANUP_FD int got = table_getfd(s->procs, pid, fd);
	return got >= 0 && is_object(got, &theirs) && job_alive(j) ? steal_fd(&got) : -EPERM;
}

int caller_fd(struct job *j, int fd)
{
	struct procs *ps = j->session->procs;
	pid_t tid = (pid_t)j->notif.pid;

	if (fd < 0)
		return -EBADF;
	int got = table_getfd(ps, tid, fd);
	if (got != -ENOENT)
		return got;
	got = getfd_anew(j, tid, fd);
	return got != -ENOENT ? got : leaders_fd(j, tid, fd);
}
