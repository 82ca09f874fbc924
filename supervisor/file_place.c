/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the caller stands, and what it watches: chdir, chroot, inotify_add_watch.
 *
 * chdir, fchdir and chroot can only be done by the caller itself. They go on after the decision, though the name in its memory
 * may have changed by then: a working directory or a root grants nothing, since every later
 * use of it is decided on the object, under its name in usher's own root. Only a directory that a rule leads to from where none is
 * is taken by a descriptor. What the caller may not do is found here nevertheless, as the record would say of it that it was done.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/inside.h"
#include "supervisor/privileges.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"
#include "supervisor/session.h"

enum { CHDIR_INSIDE = 0 };

int chdir_resolve(struct job *j)
{
	struct target *t;

	return file_object(j, AT_FDCWD, 0, LOOK_DIRECTORY, OP_STAT, &t);
}

/*
 * The caller is given a path descriptor of the directory, and goes there by it: one that can be read would be another thread's to
 * list meanwhile.
 */
static int chdir_inside(struct job *j)
{
	struct inside in;
	int64_t result, ignored;
	int number;

	int fd = resolve_reopen(j->target[0].fd, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return job_error(j, fd);
	moves_begin(&j->session->places, (pid_t)j->notif.pid);
	int rc = inside_begin_path(j, &in, fd, true, &number);
	if (rc == -EPERM)
		return job_error(j, -ENOENT);
	const uint64_t arg[6] = { (uint64_t)number };
	result = number;
	if (rc == 0 && number >= 0)
		rc = inside_call(&in, SYS_fchdir, arg, &result);
	if (rc == 0 && number >= 0)
		rc = inside_call(&in, SYS_close, arg, &ignored);
	return rc < 0 ? inside_gone(j) : inside_end(j, &in, result);
}

/* What is known of working directories has to be read again: see place.h. */
static int goes(struct job *j)
{
	moves_begin(&j->session->places, (pid_t)j->notif.pid);
	return job_continue(j);
}

/* Where no rule names stat it grants nothing and nothing is decided. */
int chdir_at_once(struct job *j)
{
	return j->session->mediates_stat ? PERFORM_AGAIN : goes(j);
}

int fchdir_at_once(struct job *j)
{
	return goes(j);
}

/* Into /proc: a process that changed its user may enter its own fd and fdinfo alone, and be refused there by nobody else than the kernel. */
static long may_enter(struct job *j)
{
	const struct target *t = &j->target[0];
	long rc = syscall(SYS_faccessat2, t->fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH);

	return rc < 0 && t->dev == j->session->proc_dev ? 0 : rc;
}

int chdir_perform(struct job *j)
{
	if (j->word[CHDIR_INSIDE] || j->target[0].up.off)
		return chdir_inside(j);
	int rc = file_act(j, false, may_enter);
	return j->reply.kind == REPLY_ERROR ? rc : goes(j);
}

/* The caller goes where it said, if that is there: names below are led elsewhere from there. */
int chdir_redirect(struct job *j, uint32_t index, const struct object *to)
{
	struct target *t = &j->target[index];

	if (t->exists)
		return 0;
	if (!INSIDE_CAN)
		return -ENOENT;
	j->word[CHDIR_INSIDE] = true;
	int rc = resolve_redirect(j, t, to->name, LOOK_DIRECTORY);
	return rc == 0 && !t->exists ? -ENOENT : rc;
}

int umask_at_once(struct job *j)
{
	moves_begin(&j->session->umasks, (pid_t)j->notif.pid);
	return job_continue(j);
}

/* A new root is where programs find their passwd, their libraries, their setuid helpers: it needs every right there. */
int chroot_resolve(struct job *j)
{
	struct target *t;

	return file_object(j, AT_FDCWD, 0, LOOK_DIRECTORY | LOOK_SAID, OP_READ | OPS_WRITE, &t);
}

static long may_root(struct job *j)
{
	long rc = may_enter(j);

	if (rc == 0 && !privileges_change_root()) {
		errno = EPERM;
		rc = -1;
	}
	return rc;
}

int chroot_perform(struct job *j)
{
	int rc = file_act(j, false, may_root);
	if (j->reply.kind == REPLY_ERROR)
		return rc;
	/* From before the change on, roots are looked at. */
	atomic_store_explicit(&j->session->roots_moved, true, memory_order_release);
	return job_continue(j);
}

#define INOTIFY_BITS ((uint32_t)(IN_ALL_EVENTS | IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK | \
				 IN_MASK_CREATE | IN_MASK_ADD | IN_ISDIR | IN_ONESHOT))

/* Mask and descriptor come before the name, as in the kernel. */
int inotify_check(struct job *j)
{
	static const char kind[] = "anon_inode:inotify";
	char number[16], seen[sizeof(kind)];
	uint32_t mask = (uint32_t)j->arg[2];

	if (!(mask & INOTIFY_BITS))
		return -EINVAL;
	int fd CLEANUP_FD = caller_fd(j, (int)j->arg[0]);
	if (fd < 0)
		return fd;
	if (fcntl(fd, F_GETFL) & O_PATH)
		return -EBADF;
	snprintf(number, sizeof(number), "%d", fd);
	ssize_t n = readlinkat(j->session->self_fds, number, seen, sizeof(seen));
	if (n != (ssize_t)sizeof(kind) - 1 || memcmp(seen, kind, sizeof(kind) - 1) != 0)
		return -EINVAL;
	return (mask & IN_MASK_ADD) && (mask & IN_MASK_CREATE) ? -EINVAL : 0;
}

int inotify_resolve(struct job *j)
{
	struct target *t;
	uint64_t mask = j->arg[2];

	return file_object(j, AT_FDCWD, 0,
			   (mask & IN_DONT_FOLLOW ? LOOK_NOFOLLOW : 0u) | (mask & IN_ONLYDIR ? LOOK_DIRECTORY : 0u),
			   OP_STAT, &t);
}

int inotify_perform(struct job *j)
{
	char path[FILE_PROC_PATH];
	struct creds saved;
	int fd CLEANUP_FD = caller_fd(j, (int)j->arg[0]);

	if (fd < 0)
		return job_error(j, fd);
	int rc = creds_enter(j, CREDS_FS, &saved);
	if (rc < 0)
		return job_error(j, rc);
	/* Through /proc the held object is meant, even if it is a link. */
	rc = inotify_add_watch(fd, file_proc_path(j->target[0].fd, path), (uint32_t)j->arg[2] & ~(uint32_t)IN_DONT_FOLLOW);
	creds_leave(&saved);
	return job_result(j, rc);
}
