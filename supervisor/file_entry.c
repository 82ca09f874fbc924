/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that make or remove one directory entry.
 *
 * MUST: each is performed on the held parent directory and the last component alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "supervisor/bound_names.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/gains.h"
#include "supervisor/making.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"
#include "supervisor/session.h"

static const char *leaf(struct job *j, unsigned i)
{
	return job_text(j, j->target[i].leaf);
}

static int remove_entry(struct job *j, int dirfd, unsigned flags)
{
	struct target *t;

	j->said = flags;
	j->word[FILE_FLAGS] = flags;
	return file_entry(j, dirfd, 0, OP_DELETE, ENTRY_THERE, &t);
}

int unlink_resolve(struct job *j)
{
	return remove_entry(j, AT_FDCWD, 0);
}

int rmdir_resolve(struct job *j)
{
	return remove_entry(j, AT_FDCWD, AT_REMOVEDIR);
}

int unlinkat_check(struct job *j)
{
	return j->arg[2] & ~(uint64_t)AT_REMOVEDIR ? -EINVAL : 0;
}

int unlinkat_resolve(struct job *j)
{
	return remove_entry(j, (int)j->arg[0], (unsigned)j->arg[2]);
}

/* FILE_A is the inode number of a directory: afterwards nothing tells which it was. */
static long do_unlink(struct job *j)
{
	const struct target *t = &j->target[0];
	struct stat st;

	j->word[FILE_A] = t->ino;
	if ((j->word[FILE_FLAGS] & AT_REMOVEDIR) && !t->ino && fstatat(t->dir, leaf(j, 0), &st, AT_SYMLINK_NOFOLLOW) == 0)
		j->word[FILE_A] = st.st_ino;
	return unlinkat(t->dir, leaf(j, 0), (int)j->word[FILE_FLAGS]);
}

int unlink_perform(struct job *j)
{
	int rc = removing_begin(j, &j->target[0]);

	if (rc)
		return rc;
	rc = file_act(j, false, do_unlink);
	removing_end(j);
	if (j->word[FILE_FLAGS] & AT_REMOVEDIR)
		file_removed_directory(j, j->word[FILE_A]);
	return rc;
}

static int make_directory(struct job *j, int dirfd, uint64_t mode)
{
	struct target *t;

	j->word[FILE_FLAGS] = mode;
	j->said = mode & 07777;
	int rc = file_entry(j, dirfd, 0, OP_CREATE, ENTRY_NEW, &t);
	if (rc == 0)
		t->makes = MAKES_DIRECTORY;
	return rc;
}

/* ACT makes the name of target INDEX. */
static int make(struct job *j, uint32_t index, bool masked, long (*act)(struct job *j))
{
	int rc = making_begin(j, &j->target[index]);

	if (rc)
		return rc;
	rc = file_act(j, masked, act);
	making_end(j);
	return rc;
}

int mkdir_resolve(struct job *j)
{
	return make_directory(j, AT_FDCWD, j->arg[1]);
}

int mkdirat_resolve(struct job *j)
{
	return make_directory(j, (int)j->arg[0], j->arg[2]);
}

static long do_mkdir(struct job *j)
{
	return mkdirat(j->target[0].dir, leaf(j, 0), (mode_t)j->word[FILE_FLAGS]);
}

int mkdir_perform(struct job *j)
{
	return make(j, 0, true, do_mkdir);
}

/*
 * A device node is another name for the device: making one needs what opening it under its
 * number's name would need, or a node in one's own directory would reach any disk; and what a rule denies of the device by another name.
 */
static int device_target(struct job *j, mode_t mode, unsigned dev)
{
	char name[64];
	unsigned maj = major(dev), min = minor(dev);

	if (!(S_ISCHR(mode) || S_ISBLK(mode)) || !dev)
		return 0;
	int n = snprintf(name, sizeof(name), "/dev/%s/%u:%u", S_ISCHR(mode) ? "char" : "block", maj, min);
	struct target *t = job_target(j, OBJECT_FILE, OP_READ | OP_MODIFY);
	if (!t)
		return -ENOMEM;
	t->name = job_copy(j, name, (size_t)n);
	t->mode = mode;
	t->rdev = dev;
	t->named_device = true;
	return t->name.off ? 0 : -ENOMEM;
}

static int check_node(uint64_t mode)
{
	mode_t type = (mode_t)mode & S_IFMT;

	if (S_ISDIR(type))
		return -EPERM;
	if (type && !S_ISREG(type) && !S_ISCHR(type) && !S_ISBLK(type) && !S_ISFIFO(type) && !S_ISSOCK(type))
		return -EINVAL;
	return 0;
}

int mknod_check(struct job *j)
{
	return check_node(j->arg[1]);
}

int mknodat_check(struct job *j)
{
	return check_node(j->arg[2]);
}

static int make_node(struct job *j, int dirfd, uint64_t mode, uint64_t dev)
{
	struct target *t;
	mode_t type = (mode_t)mode & S_IFMT;

	j->word[FILE_FLAGS] = mode & 0xffff; /* the kernel's umode_t */
	j->word[FILE_A] = dev;
	j->said = j->word[FILE_FLAGS];
	if (S_ISFIFO(type))
		atomic_store_explicit(&j->session->fifos, true, memory_order_relaxed);
	int rc = file_entry(j, dirfd, 0, OP_CREATE, ENTRY_NEW, &t);
	if (rc < 0)
		return rc;
	t->makes = makes_of(type);
	return device_target(j, type, (unsigned)dev);
}

int mknod_resolve(struct job *j)
{
	return make_node(j, AT_FDCWD, j->arg[1], j->arg[2]);
}

int mknodat_resolve(struct job *j)
{
	return make_node(j, (int)j->arg[0], j->arg[2], j->arg[3]);
}

static long do_mknod(struct job *j)
{
	return syscall(SYS_mknodat, j->target[0].dir, leaf(j, 0), (mode_t)j->word[FILE_FLAGS],
		       (unsigned)j->word[FILE_A]);
}

int mknod_perform(struct job *j)
{
	return make(j, 0, true, do_mknod);
}

/* What the link will say is the caller's own text: whoever follows it is decided on the object. */
static int make_symlink(struct job *j, int dirfd)
{
	struct target *t;

	int rc = j->path[0].len ? file_entry(j, dirfd, 1, OP_CREATE, ENTRY_NEW, &t) : -ENOENT;
	if (rc == 0)
		t->makes = MAKES_LINK;
	return rc;
}

int symlink_resolve(struct job *j)
{
	return make_symlink(j, AT_FDCWD);
}

int symlinkat_resolve(struct job *j)
{
	return make_symlink(j, (int)j->arg[1]);
}

static long do_symlink(struct job *j)
{
	return symlinkat(job_text(j, j->path[0]), j->target[0].dir, leaf(j, 0));
}

int symlink_perform(struct job *j)
{
	return make(j, 0, false, do_symlink);
}

/* What is more by the new name TO than by FROM, and is needed at FROM: changing attributes changes what FROM is, too, and a socket is reached by either. */
static op_set link_gives(struct job *j, const struct target *from, const struct target *to)
{
	struct stat st = target_known(from);
	bool own = from->exists && S_ISSOCK(from->mode) && bound_names_has(j->session->bound_names, from->fd);

	return from->exists ? gains(j, job_span(j, from->name), job_span(j, to->name), &st, own) & (OP_ATTR | OPS_NET) & (op_set)~from->ops : 0;
}

/* A hard link gives the object another name, so it needs what the object could be used for. */
static int make_link(struct job *j, int olddir, int newdir, unsigned flags)
{
	struct target *from, *to;
	unsigned look = flags & AT_SYMLINK_FOLLOW ? 0 : LOOK_NOFOLLOW;

	j->said = flags;
	if (flags & AT_EMPTY_PATH)
		look |= LOOK_EMPTY;
	int rc = file_object(j, olddir, 0, look, OP_READ | OP_MODIFY, &from);
	if (rc == 0)
		rc = file_entry(j, newdir, 1, OP_CREATE, ENTRY_NEW, &to);
	if (rc == -EEXIST && file_hidden(j, 0))
		return -ENOENT; /* as of an old name that is not there, which comes first */
	if (rc < 0)
		return rc;
	to->makes = makes_of(from->mode);
	op_set more = link_gives(j, from, to);
	from->ops |= more & (op_set)~OPS_NET;
	return more & OPS_NET ? gains_unreached(j, from) : 0;
}

int link_resolve(struct job *j)
{
	return make_link(j, AT_FDCWD, AT_FDCWD, 0);
}

/* Before Linux 6.10 the flag alone wants CAP_DAC_READ_SEARCH, before anything is looked at (ENOENT); these descriptors are none (EBADF). */
static int may_link_empty(struct job *j)
{
	struct creds saved;
	int rc = creds_enter(j, CREDS_FS, &saved);

	if (rc < 0)
		return rc;
	rc = linkat(-1, "x", -1, "x", AT_EMPTY_PATH) < 0 && errno == ENOENT ? -ENOENT : 0;
	creds_leave(&saved);
	return rc;
}

int linkat_check(struct job *j)
{
	if (j->arg[4] & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return j->arg[4] & AT_EMPTY_PATH ? may_link_empty(j) : 0;
}

int linkat_resolve(struct job *j)
{
	return make_link(j, (int)j->arg[0], (int)j->arg[2], (unsigned)j->arg[4]);
}

static long do_link(struct job *j)
{
	char path[FILE_PROC_PATH];

	return linkat(AT_FDCWD, file_proc_path(j->target[0].fd, path), j->target[1].dir, leaf(j, 1),
		      AT_SYMLINK_FOLLOW);
}

int link_perform(struct job *j)
{
	return make(j, 1, false, do_link);
}

static int redirect_end(struct job *j, uint32_t index, const struct object *to)
{
	return index == 0 ? object_redirect(j, index, to) : entry_redirect(j, index, to);
}

int link_redirect(struct job *j, uint32_t index, const struct object *to)
{
	const struct target *from = &j->target[0];
	int rc = redirect_end(j, index, to);

	if (rc == 0)
		rc = file_redirect_others(j, index, redirect_end);
	if (rc == 0 && (link_gives(j, from, &j->target[1]) || !gains_as_kind(j, from, &j->target[1])))
		rc = -EACCES;
	return rc;
}
