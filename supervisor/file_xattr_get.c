/* SPDX-License-Identifier: Apache-2.0 */
/* Reading attributes by name, under stat rules. */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/file_xattr.h"
#include "supervisor/memory.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"

static int object_at(struct job *j, int dirfd, uint64_t at)
{
	return file_seen(j, dirfd,
			 (at & AT_SYMLINK_NOFOLLOW ? LOOK_NOFOLLOW : 0u) | (at & AT_EMPTY_PATH ? LOOK_EMPTY : 0u));
}

/* The object of the newer calls: descriptor, name or none, flags. */
static int object_of(struct job *j, uint64_t at)
{
	struct target *t;

	if (at & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!j->arg[1] && !(at & AT_EMPTY_PATH))
		return -EFAULT;
	/* Without a name the descriptor itself is meant: the kernel takes none of O_PATH then. */
	if (!j->path[0].len && (at & AT_EMPTY_PATH) && (int)j->arg[0] >= 0)
		return file_descriptor(j, (int)j->arg[0], OP_STAT, &t);
	return object_at(j, (int)j->arg[0], at);
}

static int get_words(struct job *j, uint64_t value, uint64_t size)
{
	j->word[FILE_A] = value;
	j->word[FILE_B] = size;
	return 0;
}

int getxattr_resolve(struct job *j)
{
	int rc = xattr_checked(j, xattr_copy_name(j, j->arg[1]));

	return rc < 0 ? rc : get_words(j, j->arg[2], j->arg[3]) ?: object_at(j, AT_FDCWD, 0);
}

int lgetxattr_resolve(struct job *j)
{
	int rc = xattr_checked(j, xattr_copy_name(j, j->arg[1]));

	return rc < 0 ? rc : get_words(j, j->arg[2], j->arg[3]) ?: object_at(j, AT_FDCWD, AT_SYMLINK_NOFOLLOW);
}

/* The filter lets nothing but AT_FDCWD come here. */
int fgetxattr_resolve(struct job *j)
{
	if ((int)j->arg[0] != AT_FDCWD || !xattr_takes_place())
		return -EBADF;
	int rc = xattr_checked(j, xattr_copy_name(j, j->arg[1]));
	return rc < 0 ? rc : get_words(j, j->arg[2], j->arg[3]) ?: object_at(j, AT_FDCWD, AT_EMPTY_PATH);
}

/* Before the name is copied, as in the kernel. */
int getxattrat_check(struct job *j)
{
	struct value_args args;
	int rc = xattr_copy_args(j, j->arg[4], j->arg[5], &args);

	if (rc < 0)
		return rc;
	if (args.flags)
		return -EINVAL;
	return get_words(j, args.value, args.size);
}

int getxattrat_resolve(struct job *j)
{
	int rc = xattr_copy_name(j, j->arg[3]);

	return rc < 0 ? rc : object_of(j, j->arg[2]);
}

int listxattr_resolve(struct job *j)
{
	get_words(j, j->arg[1], j->arg[2]);
	return object_at(j, AT_FDCWD, 0);
}

int llistxattr_resolve(struct job *j)
{
	get_words(j, j->arg[1], j->arg[2]);
	return object_at(j, AT_FDCWD, AT_SYMLINK_NOFOLLOW);
}

int listxattrat_resolve(struct job *j)
{
	get_words(j, j->arg[3], j->arg[4]);
	/* Without a name the kernel takes a descriptor and nothing else, not the working directory either. */
	if ((j->arg[2] & ~(uint64_t)AT_SYMLINK_NOFOLLOW) == AT_EMPTY_PATH && !j->path[0].len && (int)j->arg[0] < 0)
		return -EBADF;
	return object_of(j, j->arg[2]);
}

/* Asks with NAME (getxattr) or without (listxattr), and hands the answer over. */
static int ask_and_give(struct job *j, const char *name)
{
	char path[FILE_PROC_PATH];
	struct creds saved;
	size_t size = j->word[FILE_B] < XATTR_SIZE_MAX ? j->word[FILE_B] : XATTR_SIZE_MAX;
	char *buf CLEANUP_FREE = malloc(size + 1);
	int rc = buf ? creds_enter(j, CREDS_FS, &saved) : -ENOMEM;

	if (rc < 0)
		return job_error(j, rc);
	file_proc_path(j->target[0].fd, path);
	ssize_t n = name ? getxattr(path, name, buf, size) : listxattr(path, buf, size);
	creds_leave(&saved);
	if (n < 0 || size == 0)
		return job_result(j, n);
	rc = memory_give(j, j->word[FILE_A], buf, (size_t)n);
	if (rc == -ESRCH)
		return job_gone(j);
	return rc < 0 ? job_error(j, rc) : job_value(j, n);
}

int getxattr_perform(struct job *j)
{
	return j->late ? job_error(j, j->late) : ask_and_give(j, job_text(j, j->data[0]));
}

int listxattr_perform(struct job *j)
{
	return ask_and_give(j, NULL);
}

int file_getattr_resolve(struct job *j)
{
	if (j->arg[3] < ATTR_MIN)
		return -EINVAL;
	if (j->arg[3] > ATTR_MAX)
		return -E2BIG;
	return object_of(j, j->arg[4]);
}

int file_getattr_perform(struct job *j)
{
	char attr[ATTR_MAX] __attribute__((aligned(8))) = { 0 }, path[FILE_PROC_PATH];
	/* By name: an empty one with a path descriptor is EBADF. */
	long rc = syscall(__NR_file_getattr, AT_FDCWD, file_proc_path(j->target[0].fd, path), attr, (size_t)j->arg[3], 0);

	if (rc < 0)
		return job_error(j, -errno);
	rc = memory_give(j, j->arg[2], attr, j->arg[3]);
	if (rc == -ESRCH)
		return job_gone(j);
	return rc < 0 ? job_error(j, (int)rc) : job_value(j, 0);
}
