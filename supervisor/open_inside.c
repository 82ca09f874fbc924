/* SPDX-License-Identifier: Apache-2.0 */
/* Opens that end in the caller itself: a terminal that becomes the controlling one of its session, and path descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/fs.h"
#include "supervisor/inside.h"
#include "supervisor/open.h"
#include "supervisor/proc_text.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"

#define BSD_MASTER 2
#define TTY_FIRST 4
#define TTY_OTHER 5

/* A session leader without a terminal. */
static bool wants_terminal(const struct job *j)
{
	pid_t pid = proc_pid(j->proc);
	char text[PROC_STAT];
	int terminal;

	if (getsid(pid) != pid)
		return false;
	const char *at = proc_stat(pid, text); /* behind the name: state, parent, group, session, terminal */
	return at && sscanf(at, ") %*c %*d %*d %*d %d", &terminal) == 1 && terminal == 0;
}

/* tty_open() in the kernel: not for /dev/tty, consoles and masters. */
static bool may_control(const struct stat *st)
{
	unsigned major_ = major(st->st_rdev), minor_ = minor(st->st_rdev);

	return S_ISCHR(st->st_mode) && major_ != BSD_MASTER && major_ != TTY_OTHER && !(major_ == TTY_FIRST && minor_ == 0);
}

bool open_takes_terminal(const struct job *j, int fd, const struct stat *st)
{
	struct termios modes;
	uint64_t flags = j->word[OPEN_FLAGS];

	return INSIDE_CAN && !(flags & O_NOCTTY) && (flags & O_ACCMODE) != O_WRONLY && may_control(st) && tcgetattr(fd, &modes) == 0 &&
	       wants_terminal(j);
}

int open_take_terminal(struct job *j, int fd)
{
	bool cloexec = j->word[OPEN_FLAGS] & O_CLOEXEC;
	struct inside in;
	int64_t result;
	int number;

	int rc = inside_begin(j, &in, fd, cloexec, &number);
	if (rc == -EPERM)
		return job_inject(j, fd, cloexec ? O_CLOEXEC : 0);
	const uint64_t arg[6] = { (uint64_t)number, TIOCSCTTY };
	/* Whatever is said: an open goes well without it, too. */
	if (rc == 0 && number >= 0)
		rc = inside_call(&in, SYS_ioctl, arg, &result);
	return rc < 0 ? inside_gone(j) : inside_end(j, &in, number);
}

/* The object that a path descriptor is for, in *OUT. */
static int path_object(struct job *j, struct target **out)
{
	uint64_t flags = j->word[OPEN_FLAGS];
	struct look l = { (int)j->word[OPEN_DIRFD], j->path[0], 0, j->word[OPEN_RESOLVE] };
	int root, rc = 0;

	l.flags = (flags & O_NOFOLLOW ? LOOK_NOFOLLOW : 0u) | (flags & O_DIRECTORY ? LOOK_DIRECTORY : 0u);
	*out = &j->target[0];
	if (!j->n_targets)
		rc = resolve(j, &l, OP_STAT, out);
	if (rc == 0 && !(*out)->exists)
		rc = -ENOENT;
	if (rc == 0)
		rc = fs_root(j, &root);
	if (rc < 0)
		return rc;
	if (root >= 0)
		close(root);
	return root >= 0 || (*out)->kind != OBJECT_FILE || !(*out)->nlink ? -ENOSYS : 0;
}

static bool is_object(struct job *j, int64_t number, const struct target *t)
{
	struct stat st;
	int fd CLEANUP_FD = caller_fd(j, (int)number);

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == t->dev && st.st_ino == t->ino;
}

/*
 * The caller opens NAME; what it got must be T (NULL: whatever is there, as the name is the caller's own). 0 with *RESULT set (-EAGAIN, as from the
 * kernel where something was renamed meanwhile, when it is something else), or -ESRCH.
 */
static int caller_opens(struct job *j, struct inside *in, int dirfd, struct text name, const struct target *t, int64_t *result)
{
	uint64_t at;
	int64_t ignored;

	*result = inside_put(in, job_text(j, name), name.len + 1, &at);
	if (*result == -E2BIG)
		*result = -ENOSYS;
	if (*result < 0)
		return 0;
	const uint64_t open_arg[6] = { (uint64_t)(int64_t)dirfd, at, (uint32_t)j->word[OPEN_FLAGS] };
	int rc = inside_call(in, SYS_openat, open_arg, result);
	if (rc < 0 || *result < 0 || !t || is_object(j, *result, t))
		return rc;
	const uint64_t close_arg[6] = { (uint64_t)*result };
	*result = -EAGAIN;
	return inside_call(in, SYS_close, close_arg, &ignored);
}

/* By the caller's own name, else by the object's: that may need rights on the way that the caller has not, or mean something else without its scope. */
static int open_inside(struct job *j, const struct target *t)
{
	struct inside in;
	int64_t result = -EAGAIN;

	int rc = inside_begin(j, &in, -1, false, NULL);
	if (rc == -EPERM)
		return job_error(j, -ENOSYS);
	if (rc == 0 && !j->redirected)
		rc = caller_opens(j, &in, (int)j->word[OPEN_DIRFD], j->path[0], t, &result);
	if (rc == 0 && result < 0 && t)
		rc = caller_opens(j, &in, AT_FDCWD, t->name, t, &result);
	return rc < 0 ? inside_gone(j) : inside_end(j, &in, result);
}

int open_path(struct job *j)
{
	bool in_registers = !j->data[0].off;
	struct target *t;

	if (in_registers && (!j->redirected || !INSIDE_CAN)) {
		int rc = open_room(j); /* or the record would say that it was opened */
		return rc < 0 ? job_error(j, rc) : job_continue(j);
	}
	if (!INSIDE_CAN)
		return job_error(j, -ENOSYS);
	if (!j->redirected && !j->word[OPEN_RESOLVE])
		return open_inside(j, NULL);
	int rc = path_object(j, &t);
	return rc < 0 ? job_error(j, rc) : open_inside(j, t);
}
