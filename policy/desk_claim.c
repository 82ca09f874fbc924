/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/desk_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"

/* Whoever tidied up, or ended, may have removed it before it was locked. */
static bool is_still_at(const char *path, int fd)
{
	struct stat held, named;
	return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

int desk_claim(const char *dir, int number)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof(path), "%s/%d.token", dir, number) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	int fd CLEANUP_FD = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return is_still_at(path, fd) ? steal_fd(&fd) : -EWOULDBLOCK;
}
