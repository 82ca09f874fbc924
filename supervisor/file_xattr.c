/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setxattr and removexattr with all their forms, file_setattr, and the ioctls that set a file's flags.
 *
 * MUST: name and value are copied once, within the kernel's limits.
 */
#include "supervisor/file_xattr.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"

int xattr_copy_name(struct job *j, uint64_t addr)
{
	char name[XATTR_NAME_MAX + 2];

	if (j->data[0].off)
		return 0;
	ssize_t n = memory_string((pid_t)j->notif.pid, addr, name, XATTR_NAME_MAX + 1);
	if (n == -ENAMETOOLONG || n == 0)
		return -ERANGE;
	if (n < 0)
		return (int)n;
	j->data[0] = job_copy(j, name, (size_t)n);
	return j->data[0].off ? 0 : -ENOMEM;
}

int xattr_copy_args(struct job *j, uint64_t addr, uint64_t size, struct value_args *out)
{
	char bytes[4096]; /* a page: the kernel takes no more */

	if (size < sizeof(*out))
		return -EINVAL;
	if (size > sizeof(bytes))
		return -E2BIG;
	int rc = memory_read((pid_t)j->notif.pid, addr, bytes, size);
	if (rc < 0)
		return rc;
	for (size_t i = sizeof(*out); i < size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	memcpy(out, bytes, sizeof(*out));
	return 0;
}

/* The value, which may be larger than the arena, into heap. */
static int copy_value(struct job *j, uint64_t addr, uint64_t size, uint64_t flags)
{
	if (flags & ~(uint64_t)(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	j->word[FILE_A] = size;
	j->word[FILE_FLAGS] = flags;
	j->said = size << SAYS_ABOVE | flags;
	if (j->heap || !size)
		return 0;
	CLEANUP_FREE char *value = malloc(size);
	int rc = value ? memory_read((pid_t)j->notif.pid, addr, value, size) : -ENOMEM;
	if (rc < 0)
		return rc; /* the record shows what the job has: nothing that was not read */
	j->heap = steal_pointer(&value);
	j->value_len = (uint32_t)size;
	return 0;
}

static int copy_both(struct job *j, uint64_t name, uint64_t value, uint64_t size, uint64_t flags)
{
	if (flags & ~(uint64_t)(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	int rc = xattr_copy_name(j, name);
	return rc < 0 ? rc : copy_value(j, value, size, flags);
}

/* Whether the kernel looks at what is said of the attribute before it looks for the file: since Linux 6.13. */
static bool arguments_come_first(void)
{
	return setxattr("", "", NULL, 0, ~0) < 0 && errno == EINVAL;
}

int xattr_checked(struct job *j, int rc)
{
	if (rc == 0 || arguments_come_first())
		return rc;
	j->late = rc;
	return 0;
}

int setxattr_check(struct job *j)
{
	return xattr_checked(j, copy_both(j, j->arg[1], j->arg[2], j->arg[3], j->arg[4]));
}

static int by_name(struct job *j, unsigned look)
{
	struct target *t;

	return file_object(j, AT_FDCWD, 0, look, OP_ATTR, &t);
}

int setxattr_resolve(struct job *j)
{
	return by_name(j, 0);
}

int lsetxattr_resolve(struct job *j)
{
	return by_name(j, LOOK_NOFOLLOW);
}

bool xattr_takes_place(void)
{
	return fgetxattr(AT_FDCWD, "none.such", NULL, 0) == 0 || errno != EBADF; /* no file system has such names */
}

int fsetxattr_resolve(struct job *j)
{
	struct target *t;

	if ((int)j->arg[0] == AT_FDCWD && xattr_takes_place())
		return file_object(j, AT_FDCWD, 0, LOOK_EMPTY, OP_ATTR, &t);
	return file_opened(j, (int)j->arg[0], OP_ATTR, &t);
}

static int check_at(uint64_t at)
{
	return at & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) ? -EINVAL : 0;
}

static int at_object(struct job *j, unsigned at)
{
	struct target *t;

	if (!j->arg[1] && !(at & AT_EMPTY_PATH))
		return -EFAULT;
	/* Without a name the descriptor itself is meant: the kernel takes none of O_PATH then. */
	if (!j->path[0].len && (at & AT_EMPTY_PATH) && (int)j->arg[0] >= 0)
		return file_descriptor(j, (int)j->arg[0], OP_ATTR, &t);
	return file_object(j, (int)j->arg[0], 0,
			   (at & AT_SYMLINK_NOFOLLOW ? LOOK_NOFOLLOW : 0) | (at & AT_EMPTY_PATH ? LOOK_EMPTY : 0),
			   OP_ATTR, &t);
}

int setxattrat_check(struct job *j)
{
	struct value_args args;
	int rc = xattr_copy_args(j, j->arg[4], j->arg[5], &args) ?: check_at(j->arg[2]);

	return rc < 0 ? rc : copy_both(j, j->arg[3], args.value, args.size, args.flags);
}

int setxattrat_resolve(struct job *j)
{
	return at_object(j, (unsigned)j->arg[2]);
}

static long do_setxattr(struct job *j)
{
	char path[FILE_PROC_PATH];

	if (j->sock >= 0)
		return fsetxattr(j->sock, job_text(j, j->data[0]), j->heap ? j->heap : "", j->word[FILE_A], (int)j->word[FILE_FLAGS]);
	return setxattr(file_proc_path(j->target[0].fd, path), job_text(j, j->data[0]), j->heap ? j->heap : "",
			j->word[FILE_A], (int)j->word[FILE_FLAGS]);
}

int setxattr_perform(struct job *j)
{
	return j->late ? job_error(j, j->late) : file_act(j, false, do_setxattr);
}

int removexattr_check(struct job *j)
{
	return xattr_checked(j, xattr_copy_name(j, j->arg[1]));
}

int removexattr_resolve(struct job *j)
{
	return by_name(j, 0);
}

int lremovexattr_resolve(struct job *j)
{
	return by_name(j, LOOK_NOFOLLOW);
}

int fremovexattr_resolve(struct job *j)
{
	struct target *t;

	return file_opened(j, (int)j->arg[0], OP_ATTR, &t);
}

int removexattrat_check(struct job *j)
{
	return check_at(j->arg[2]) ?: xattr_copy_name(j, j->arg[3]);
}

int removexattrat_resolve(struct job *j)
{
	struct target *t;

	/* Without a name the kernel takes a descriptor and nothing else, not the working directory either. */
	if (!j->path[0].len && (j->arg[2] & AT_EMPTY_PATH))
		return file_descriptor(j, (int)j->arg[0], OP_ATTR, &t);
	return at_object(j, (unsigned)j->arg[2]);
}

static long do_removexattr(struct job *j)
{
	char path[FILE_PROC_PATH];

	if (j->sock >= 0)
		return fremovexattr(j->sock, job_text(j, j->data[0]));
	return removexattr(file_proc_path(j->target[0].fd, path), job_text(j, j->data[0]));
}

int removexattr_perform(struct job *j)
{
	return j->late ? job_error(j, j->late) : file_act(j, false, do_removexattr);
}

static long set_attr(struct job *j, int dir, const char *path)
{
	char aligned[ATTR_MAX] __attribute__((aligned(8)));

	memcpy(aligned, job_text(j, j->data[0]), j->data[0].len);
	return syscall(__NR_file_setattr, dir, path, aligned, (size_t)j->data[0].len, 0);
}

int file_setattr_check(struct job *j)
{
	int rc = check_at(j->arg[4]);

	j->said = MARKS_ATTR;
	if (rc < 0)
		return rc;
	if (j->arg[3] > ATTR_MAX)
		return -E2BIG;
	if (j->arg[3] < ATTR_MIN)
		return -EINVAL;
	if (!j->data[0].off)
		rc = memory_copy(j, j->arg[2], j->arg[3], &j->data[0]);
	/* Which fields there are the running kernel knows; it looks at them before it looks for the file. */
	return rc < 0 ? rc : set_attr(j, -1, "none") < 0 && errno != EBADF ? -errno : 0;
}

int file_setattr_resolve(struct job *j)
{
	return at_object(j, (unsigned)j->arg[4]);
}

static long do_file_setattr(struct job *j)
{
	char path[FILE_PROC_PATH];

	/* By name: an empty one with a path descriptor is EBADF. */
	return set_attr(j, AT_FDCWD, file_proc_path(j->target[0].fd, path));
}

int file_setattr_perform(struct job *j)
{
	return file_act(j, false, do_file_setattr);
}

/* FS_IOC_SETFLAGS takes an int, whatever its number says; FS_IOC_FSSETXATTR a struct. The filter lets no other command come here. */
int ioctl_resolve(struct job *j)
{
	struct target *t;
	uint32_t command = (uint32_t)j->arg[1];
	size_t len = command == FS_IOC_FSSETXATTR ? sizeof(struct fsxattr) : sizeof(int);

	if (command != FS_IOC_FSSETXATTR && command != FS_IOC_SETFLAGS)
		return -ENOTTY;
	j->said = command == FS_IOC_FSSETXATTR ? MARKS_FSX : MARKS_INT;
	int rc = file_opened(j, (int)j->arg[0], OP_ATTR, &t);
	if (rc < 0 || j->data[0].off)
		return rc;
	rc = memory_copy(j, j->arg[2], len, &j->data[0]);
	/* the kernel takes no path descriptor, and sees that first */
	return rc == -EFAULT && j->sock >= 0 && (fcntl(j->sock, F_GETFL) & O_PATH) ? -EBADF : rc;
}

static long do_ioctl(struct job *j)
{
	struct fsxattr copy = { 0 };

	memcpy(&copy, job_text(j, j->data[0]), j->data[0].len);
	return ioctl(j->sock, (unsigned long)(uint32_t)j->arg[1], &copy);
}

/* On the caller's own descriptor: a file system may look at how it was opened. */
int ioctl_perform(struct job *j)
{
	int rc = j->sock < 0 ? file_again(j, (int)j->arg[0]) : 0;

	return rc < 0 ? job_error(j, rc) : file_act(j, false, do_ioctl);
}
