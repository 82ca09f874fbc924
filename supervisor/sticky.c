/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: a setting that cannot be read counts as the strictest. */
#include "supervisor/sticky.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/creds.h"
#include "supervisor/job.h"

#define STRICTEST 2

/* It may change while usher runs, and is asked for seldom. */
static int setting(const char *path)
{
	char digit;
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, &digit, 1) == 1 && digit >= '0' && digit <= '9' ? digit - '0' : STRICTEST;
}

/* 1 when UID is whose rights to files J's caller has, 0 when not, or a negative errno. */
static int is_callers(struct job *j, uid_t uid)
{
	struct creds saved;
	int rc = creds_enter(j, CREDS_FS, &saved);

	if (rc < 0)
		return rc;
	/* No such user: nothing changes, and who it is now is told. */
	uid_t now = (uid_t)syscall(SYS_setfsuid, (uid_t)-1);
	creds_leave(&saved);
	return now == uid;
}

/* Somebody else's, neither the caller's nor of whoever the directory belongs to. */
static int foreign(struct job *j, const struct stat *dir, const struct stat *entry)
{
	if (entry->st_uid == dir->st_uid)
		return 0;
	int own = is_callers(j, entry->st_uid);
	return own < 0 ? own : !own;
}

int sticky_link(struct job *j, const struct stat *dir, const struct stat *link)
{
	if ((dir->st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) || !setting("/proc/sys/fs/protected_symlinks"))
		return 0;
	int rc = foreign(j, dir, link);
	return rc > 0 ? -EACCES : rc;
}

int sticky_create(struct job *j, const struct stat *dir, const struct stat *file)
{
	bool everybody = dir->st_mode & S_IWOTH, regular = S_ISREG(file->st_mode);

	if (!(dir->st_mode & S_ISVTX) || !(everybody || (dir->st_mode & S_IWGRP)))
		return 0;
	/* For everything else (links, devices, sockets) there is no setting. */
	int forbidden = regular                   ? setting("/proc/sys/fs/protected_regular")
			: S_ISFIFO(file->st_mode) ? setting("/proc/sys/fs/protected_fifos")
						  : 1;
	if (forbidden < (everybody ? 1 : 2))
		return 0;
	int rc = foreign(j, dir, file);
	return rc > 0 ? -EACCES : rc;
}
