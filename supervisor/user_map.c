/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/user_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "rules/cleanup.h"

void user_map_make(struct user_map *out)
{
	snprintf(out->user, sizeof(out->user), "%u %u 1\n", geteuid(), geteuid());
	snprintf(out->group, sizeof(out->group), "%u %u 1\n", getegid(), getegid());
}

static int write_file(const char *path, const char *text)
{
	int fd CLEANUP_FD = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -errno;
}

int user_map_set(const struct user_map *map)
{
	/* The files of a process that hides itself are root's. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return -errno;
	int rc = write_file("/proc/self/setgroups", "deny");
	if (rc == 0)
		rc = write_file("/proc/self/uid_map", map->user);
	return rc == 0 ? write_file("/proc/self/gid_map", map->group) : rc;
}
