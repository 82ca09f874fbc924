/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at files by name: mediated only where some rule speaks of stat, so that a hidden name looks absent to every call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"

#define AT_NO_AUTOMOUNT_ 0x800
#define AT_STATX_SYNC_ 0x6000

/* Resolves path number 0 for OP_STAT. An absent path means the descriptor, where the call has it so. */
static int look_at(struct job *j, int dirfd, unsigned at)
{
	unsigned look = (at & AT_SYMLINK_NOFOLLOW ? LOOK_NOFOLLOW : 0u) | (at & AT_EMPTY_PATH ? LOOK_EMPTY : 0u);

	j->said = at;
	if (!j->path[0].off) {
		if (!(at & AT_EMPTY_PATH))
			return -EFAULT;
		j->path[0] = job_alloc(j, 0);
	}
	return file_seen(j, dirfd, look);
}

int stat_resolve(struct job *j)
{
	j->word[FILE_A] = j->arg[1];
	return look_at(j, AT_FDCWD, 0);
}

int lstat_resolve(struct job *j)
{
	j->word[FILE_A] = j->arg[1];
	return look_at(j, AT_FDCWD, AT_SYMLINK_NOFOLLOW);
}

static int check_stat_flags(uint64_t at)
{
	return at & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT_ | AT_EMPTY_PATH | AT_STATX_SYNC_) ? -EINVAL : 0;
}

int newfstatat_check(struct job *j)
{
	return check_stat_flags(j->arg[3]);
}

int newfstatat_resolve(struct job *j)
{
	j->word[FILE_A] = j->arg[2];
	return look_at(j, (int)j->arg[0], (unsigned)j->arg[3]);
}

/* Hands LEN bytes of a result to the caller at ADDR. */
static int give(struct job *j, uint64_t addr, const void *data, size_t len, long value)
{
	int rc = memory_give(j, addr, data, len);

	if (rc == -ESRCH)
		return job_gone(j);
	return rc < 0 ? job_error(j, rc) : job_value(j, value);
}

int stat_perform(struct job *j)
{
	struct stat st;

	if (j->target[0].looked && !j->answered)
		return give(j, j->word[FILE_A], &j->looked, sizeof(j->looked), 0);
	if (syscall(SYS_newfstatat, j->target[0].fd, "", &st, AT_EMPTY_PATH) < 0)
		return job_error(j, -errno);
	return give(j, j->word[FILE_A], &st, sizeof(st), 0);
}

int statx_check(struct job *j)
{
	if (j->arg[3] & 0x80000000u) /* STATX__RESERVED */
		return -EINVAL;
	if ((j->arg[2] & AT_STATX_SYNC_) == AT_STATX_SYNC_)
		return -EINVAL;
	return check_stat_flags(j->arg[2]);
}

int statx_resolve(struct job *j)
{
	return look_at(j, (int)j->arg[0], (unsigned)j->arg[2]);
}

int statx_perform(struct job *j)
{
	struct statx stx;
	int at = (int)(j->arg[2] & AT_STATX_SYNC_) | AT_EMPTY_PATH;

	memset(&stx, 0, sizeof(stx));
	if (syscall(SYS_statx, j->target[0].fd, "", at, (unsigned)j->arg[3], &stx) < 0)
		return job_error(j, -errno);
	return give(j, j->arg[4], &stx, sizeof(stx), 0);
}

static int access_at(struct job *j, int dirfd, uint64_t mode, unsigned at)
{
	j->word[FILE_A] = mode;
	j->word[FILE_B] = at;
	j->as_real = !(at & AT_EACCESS);
	return look_at(j, dirfd, at & ~(unsigned)AT_EACCESS);
}

static int check_access(uint64_t mode, uint64_t at)
{
	if (mode & ~(uint64_t)(R_OK | W_OK | X_OK))
		return -EINVAL;
	return at & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_EACCESS) ? -EINVAL : 0;
}

int access_check(struct job *j)
{
	return check_access(j->arg[1], 0);
}

int faccessat_check(struct job *j)
{
	return check_access(j->arg[2], 0);
}

int faccessat2_check(struct job *j)
{
	return check_access(j->arg[2], j->arg[3]);
}

int access_resolve(struct job *j)
{
	return access_at(j, AT_FDCWD, j->arg[1], 0);
}

int faccessat_resolve(struct job *j)
{
	return access_at(j, (int)j->arg[0], j->arg[2], 0);
}

int faccessat2_resolve(struct job *j)
{
	return access_at(j, (int)j->arg[0], j->arg[2], (unsigned)j->arg[3]);
}

/* What /proc lets a process do with what is its own. */
static bool may_as_itself(struct job *j)
{
	uint64_t mode = j->word[FILE_A];
	enum own_kind kind = mode & X_OK ? (mode & W_OK ? OWN_FD : OWN_DESCRIPTORS) : mode & W_OK ? OWN_WRITABLE : OWN_READABLE;

	return resolve_own_process(j, j->target[0].fd, OWN_FD) || resolve_own_process(j, j->target[0].fd, kind);
}

/* Asked through /proc, as the older call takes no descriptor. */
int access_perform(struct job *j)
{
	char path[FILE_PROC_PATH];
	struct creds saved;
	bool effective = j->word[FILE_B] & AT_EACCESS;
	int rc = creds_enter(j, effective ? CREDS_FS : CREDS_REAL, &saved);

	if (rc < 0)
		return job_error(j, rc);
	file_proc_path(j->target[0].fd, path);
	/* Without AT_EACCESS the kernel would go by usher's real user, not by the one that was taken on. */
	if (effective || saved.entered)
		rc = (int)syscall(SYS_faccessat2, AT_FDCWD, path, (int)j->word[FILE_A], AT_EACCESS);
	else
		rc = (int)syscall(SYS_faccessat, AT_FDCWD, path, (int)j->word[FILE_A]);
	creds_leave(&saved);
	if (rc < 0 && errno == EACCES && may_as_itself(j))
		return job_value(j, 0);
	return job_result(j, rc);
}

static int check_size(uint64_t size)
{
	return (int64_t)size <= 0 ? -EINVAL : 0;
}

int readlink_check(struct job *j)
{
	return check_size(j->arg[2]);
}

int readlinkat_check(struct job *j)
{
	return check_size(j->arg[3]);
}

int readlink_resolve(struct job *j)
{
	j->word[FILE_A] = j->arg[1];
	j->word[FILE_B] = j->arg[2];
	return look_at(j, AT_FDCWD, AT_SYMLINK_NOFOLLOW);
}

int readlinkat_resolve(struct job *j)
{
	j->word[FILE_A] = j->arg[2];
	j->word[FILE_B] = j->arg[3];
	return look_at(j, (int)j->arg[0], AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
}

/* /proc/self and /proc/thread-self say who reads them: what the caller would read. Returns the length, 0 when it is neither. */
static size_t read_self(struct job *j, char *out, size_t cap)
{
	const char *name = job_text(j, j->target[0].name);
	pid_t pid = proc_pid(j->proc);

	if (strcmp(name, "/proc/self") == 0)
		return (size_t)snprintf(out, cap, "%d", (int)pid);
	if (strcmp(name, "/proc/thread-self") == 0)
		return (size_t)snprintf(out, cap, "%d/task/%d", (int)pid, (int)j->notif.pid);
	return 0;
}

int readlink_perform(struct job *j)
{
	char text[4096];
	size_t room = j->word[FILE_B] < sizeof(text) ? j->word[FILE_B] : sizeof(text);
	size_t own = read_self(j, text, sizeof(text));
	ssize_t n = own ? (ssize_t)(own < room ? own : room) : readlinkat(j->target[0].fd, "", text, room);

	/* An empty path on something else than a link is ENOENT, a name that is no link EINVAL. A link of a process that has ended is ENOENT itself. */
	if (n < 0)
		return job_error(j, errno == ENOENT && j->path[0].len && !S_ISLNK(j->target[0].mode) ? -EINVAL : -errno);
	return give(j, j->word[FILE_A], text, (size_t)n, n);
}

int statfs_resolve(struct job *j)
{
	return look_at(j, AT_FDCWD, 0);
}

int statfs_perform(struct job *j)
{
	struct statfs fs;

	if (fstatfs(j->target[0].fd, &fs) < 0)
		return job_error(j, -errno);
	return give(j, j->arg[1], &fs, sizeof(fs), 0);
}
