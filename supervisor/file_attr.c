/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that change mode and owner, by name or by descriptor.
 *
 * Those on descriptors (fchmod, fchown, ...) are decided on the object too: a descriptor that was
 * opened for reading would otherwise be a way around a rule on attr.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/compat.h"
#include "supervisor/file.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"

/* AT_* of calls that take the object itself: none but these. */
static int check_at(uint64_t at)
{
	return at & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -EINVAL : 0;
}

int fchmodat2_check(struct job *j)
{
	return check_at(j->arg[3]);
}

int fchownat_check(struct job *j)
{
	return check_at(j->arg[4]);
}

/* The same as LOOK_*. */
static unsigned look_flags(unsigned at)
{
	return (at & AT_SYMLINK_NOFOLLOW ? LOOK_NOFOLLOW : 0u) | (at & AT_EMPTY_PATH ? LOOK_EMPTY : 0u);
}

static void note_mode(struct job *j, uint64_t mode)
{
	j->word[FILE_A] = mode;
	j->said = mode & 07777;
}

static int change_mode(struct job *j, int dirfd, uint64_t mode, unsigned at)
{
	struct target *t;

	note_mode(j, mode);
	return file_object(j, dirfd, 0, look_flags(at), OP_ATTR, &t);
}

int chmod_resolve(struct job *j)
{
	return change_mode(j, AT_FDCWD, j->arg[1], 0);
}

int fchmodat_resolve(struct job *j)
{
	return change_mode(j, (int)j->arg[0], j->arg[2], 0);
}

int fchmodat2_resolve(struct job *j)
{
	return change_mode(j, (int)j->arg[0], j->arg[2], (unsigned)j->arg[3]);
}

int fchmod_resolve(struct job *j)
{
	struct target *t;

	note_mode(j, j->arg[1]);
	return file_opened(j, (int)j->arg[0], OP_ATTR, &t);
}

static long do_chmod(struct job *j)
{
	char path[FILE_PROC_PATH];

	if (j->sock >= 0)
		return fchmod(j->sock, (mode_t)j->word[FILE_A]);
	/* A link has no mode of its own; kernels before 6.6 would set one. */
	if (S_ISLNK(j->target[0].mode)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	long rc = syscall(__NR_fchmodat2, j->target[0].fd, "", (mode_t)j->word[FILE_A], AT_EMPTY_PATH);
	if (rc == 0 || errno != ENOSYS)
		return rc;
	return syscall(SYS_fchmodat, AT_FDCWD, file_proc_path(j->target[0].fd, path), (mode_t)j->word[FILE_A]);
}

int chmod_perform(struct job *j)
{
	return file_act(j, false, do_chmod);
}

static void note_owner(struct job *j, const uint64_t ids[2])
{
	j->word[FILE_A] = ids[0];
	j->word[FILE_B] = ids[1];
	j->said = (uint64_t)(uint32_t)ids[0] << SAYS_ABOVE | (uint32_t)ids[1];
}

static int change_owner(struct job *j, int dirfd, const uint64_t ids[2], unsigned at)
{
	struct target *t;

	note_owner(j, ids);
	return file_object(j, dirfd, 0, look_flags(at), OP_ATTR, &t);
}

int chown_resolve(struct job *j)
{
	return change_owner(j, AT_FDCWD, j->arg + 1, 0);
}

int lchown_resolve(struct job *j)
{
	return change_owner(j, AT_FDCWD, j->arg + 1, AT_SYMLINK_NOFOLLOW);
}

int fchownat_resolve(struct job *j)
{
	return change_owner(j, (int)j->arg[0], j->arg + 2, (unsigned)j->arg[4]);
}

int fchown_resolve(struct job *j)
{
	struct target *t;

	note_owner(j, j->arg + 1);
	return file_opened(j, (int)j->arg[0], OP_ATTR, &t);
}

static long do_chown(struct job *j)
{
	if (j->sock >= 0)
		return fchown(j->sock, (uid_t)j->word[FILE_A], (gid_t)j->word[FILE_B]);
	return fchownat(j->target[0].fd, "", (uid_t)j->word[FILE_A], (gid_t)j->word[FILE_B], AT_EMPTY_PATH);
}

int chown_perform(struct job *j)
{
	return file_act(j, false, do_chown);
}
