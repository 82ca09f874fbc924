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
#include "supervisor/inside.h"
#include "supervisor/open.h"
#include "supervisor/proc_text.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"

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
	int rc = 0;

	l.flags = (flags & O_NOFOLLOW ? LOOK_NOFOLLOW : 0u) | (flags & O_DIRECTORY ? LOOK_DIRECTORY : 0u);
	*out = &j->target[0];
	if (!j->n_targets)
		rc = resolve(j, &l, OP_STAT, out);
	if (rc < 0)
		return rc;
	if (!(*out)->exists)
		return -ENOENT;
	return (*out)->fd < 0 ? -ENOSYS : 0;
}

/*
 * A path descriptor of T as the caller's flags say. O_NOFOLLOW stays visible in it and cannot be given through /proc: by T's name, where that is T still.
 * A link itself can only be duplicated. The descriptor or a negative errno.
 */
static int path_of(struct job *j, const struct target *t)
{
	int flags = O_PATH | (int)(j->word[OPEN_FLAGS] & (O_DIRECTORY | O_NOFOLLOW));
	struct stat st;

	if (S_ISLNK(t->mode)) {
		int link = fcntl(t->fd, F_DUPFD_CLOEXEC, 3);
		return link < 0 ? -errno : link;
	}
	int fd CLEANUP_FD = flags & O_NOFOLLOW && t->kind == OBJECT_FILE ? open(job_text(j, t->name), flags | O_CLOEXEC) : -1;
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == t->dev && st.st_ino == t->ino)
		return steal_fd(&fd);
	return resolve_reopen(t->fd, flags);
}

/* The caller gets a path descriptor of T itself: by a name it could get something else, however soon after that was closed again. */
static int given(struct job *j, const struct target *t)
{
	bool cloexec = j->word[OPEN_FLAGS] & O_CLOEXEC;
	struct inside in;
	int number;

	int fd = path_of(j, t);
	if (fd < 0)
		return job_error(j, fd);
	int rc = inside_begin_path(j, &in, fd, cloexec, &number);
	if (rc == -EPERM)
		return job_error(j, -ENOSYS);
	return rc < 0 ? inside_gone(j) : inside_end_told(j, &in, number, number < 0 ? number : 0); /* see usher-journal(5) */
}

/* The caller opens NAME: whatever is there by then, as where nothing is decided on it grants nothing. 0 or -ESRCH. */
static int caller_opens(struct job *j, struct inside *in, int64_t *result)
{
	const struct text *name = &j->path[0];
	uint64_t at;

	*result = inside_put(in, job_text(j, *name), name->len + 1, &at);
	if (*result == -E2BIG)
		*result = -ENOSYS;
	if (*result < 0)
		return 0;
	const uint64_t arg[6] = { (uint64_t)(int64_t)(int)j->word[OPEN_DIRFD], at, (uint32_t)j->word[OPEN_FLAGS] };
	return inside_call(in, SYS_openat, arg, result);
}

static int opened_by_name(struct job *j)
{
	struct inside in;
	int64_t result;

	int rc = inside_begin(j, &in, -1, false, NULL);
	if (rc == -EPERM)
		return job_error(j, -ENOSYS);
	if (rc == 0)
		rc = caller_opens(j, &in, &result);
	return rc < 0 ? inside_gone(j) : inside_end(j, &in, result);
}

/* The flags lie in registers: the caller can do it by the call that it waits in. */
static int goes_on(struct job *j)
{
	int rc = open_room(j); /* or the record would say that it was opened */

	return rc < 0 ? job_error(j, rc) : job_continue(j);
}

int open_path(struct job *j)
{
	bool in_registers = !j->data[0].off, decided = j->redirected || j->session->mediates_stat;
	struct target *t;

	if (in_registers && (!decided || !INSIDE_CAN))
		return goes_on(j);
	if (!INSIDE_CAN)
		return job_error(j, -ENOSYS);
	if (!decided && !j->word[OPEN_RESOLVE])
		return opened_by_name(j);
	int rc = path_object(j, &t);
	return rc < 0 ? job_error(j, rc) : given(j, t);
}
