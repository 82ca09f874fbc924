/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens of an object that is held already, by an O_PATH descriptor.
 *
 * MUST: what the caller gets is what was decided on: the held object itself, on the same mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "rules/cleanup.h"
#include "supervisor/open.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/sticky.h"

bool open_own_tty(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 0);
}

/* Reading what a name led to through links: by its own name it is opened in half the time. Not on /proc, and not where a descriptor in /proc led. */
static bool reads_by_name(const struct job *j, const struct target *t)
{
	return (j->word[OPEN_FLAGS] & (O_ACCMODE | O_CREAT)) == O_RDONLY && !t->magic && t->dev != j->session->proc_dev &&
	       !atomic_load_explicit(&j->session->roots_moved, memory_order_acquire);
}

/* Whether FD is the object that T holds, on the same mount: one may lie over the other. */
static bool is_held(int fd, const struct target *t)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &st) == 0 && (st.stx_mask & STATX_MNT_ID) && st.stx_ino == t->ino &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == t->dev && st.stx_mnt_id == mount_of(t->fd);
}

/*
 * O_NOFOLLOW stays visible in a descriptor's flags, and cannot be given when opening through /proc: by name, then, if
 * that is still the same object. Returns a descriptor, or -1 to take the other way.
 */
static int open_by_name(struct job *j, const struct target *t, const struct stat *st)
{
	if (!((j->word[OPEN_FLAGS] & O_NOFOLLOW) || reads_by_name(j, t)) || (j->word[OPEN_FLAGS] & O_TRUNC) ||
	    t->kind != OBJECT_FILE || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
		return -1;
	uint64_t flags = j->word[OPEN_FLAGS];
	j->word[OPEN_FLAGS] &= ~(uint64_t)O_CREAT;
	if (!open_temporary(j))
		j->word[OPEN_MODE] = 0;
	int fd CLEANUP_FD = open_named(j, AT_FDCWD, job_text(j, t->name), 0, RESOLVE_NO_SYMLINKS);
	j->word[OPEN_FLAGS] = flags;
	if (fd < 0 || !is_held(fd, t))
		return -1;
	return open_restore_flags(j, steal_fd(&fd));
}

/* The kernel looks at O_CREAT when it walks the name; what is held is opened without. */
static int may_create_over(struct job *j, const struct target *t, const struct stat *st)
{
	struct stat dir;
	struct text name = job_copy(j, job_text(j, t->name), t->name.len);
	char *text = job_text(j, name), *slash = name.off && text[0] == '/' ? strrchr(text, '/') : NULL;

	if (!slash)
		return name.off ? 0 : -ENOMEM;
	slash[slash == text] = '\0';
	return lstat(text, &dir) < 0 ? 0 : sticky_create(j, &dir, st);
}

int open_existing(struct job *j, const struct target *t)
{
	struct stat st = j->looked;

	if ((!t->looked || j->answered) && fstat(t->fd, &st) < 0)
		return job_error(j, -errno);
	if (open_creates(j) && !open_temporary(j) && S_ISDIR(st.st_mode))
		return job_error(j, -EISDIR);
	int rc = open_creates(j) && !open_temporary(j) ? may_create_over(j, t, &st) : 0;
	if (rc < 0)
		return job_error(j, rc);
	if (S_ISLNK(st.st_mode))
		return job_error(j, -ELOOP);
	if (open_temporary(j))
		return open_inject(j, open_restore_flags(j, open_named(j, t->fd, ".", 0, RESOLVE_NO_SYMLINKS)));
	if (open_own_tty(&st))
		return open_inject(j, open_terminal(j, t->fd));
	int fd = open_by_name(j, t, &st);
	return open_inject_special(j, fd >= 0 ? fd : open_held(j, t->fd, &st), &st);
}
