/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"

/* Where version 2 is mounted. */
static int mount_point(char *out, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	int rc = -ENOENT;

	if (!f)
		return -errno;
	while (rc < 0 && (m = getmntent(f))) {
		if (strcmp(m->mnt_type, "cgroup2") == 0 && strlen(m->mnt_dir) < size)
			rc = strlen(strcpy(out, m->mnt_dir)) ? 0 : -ENOENT;
	}
	endmntent(f);
	return rc;
}

/* The name of the caller's own group in it: the line "0::NAME". */
static int own_name(char *out, size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 8];
	int rc = -ENOENT;

	if (!f)
		return -errno;
	while (rc < 0 && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		/* A group above the root of this cgroup namespace has a name that leads nowhere. */
		if (strncmp(line, "0::/", 4) != 0 || strstr(line, "/.."))
			continue;
		rc = snprintf(out, size, "%s", line + 3) < (int)size ? 0 : -ENAMETOOLONG;
	}
	fclose(f);
	return rc;
}

int cgroup_make(struct cgroup *g)
{
	char mount[PATH_MAX / 2], name[PATH_MAX / 2];

	*g = (struct cgroup){ .dir = -1, .procs = -1 };
	int rc = mount_point(mount, sizeof(mount));
	if (rc == 0)
		rc = own_name(name, sizeof(name));
	if (rc < 0)
		return rc;
	const char *group = strcmp(name, "/") == 0 ? "" : name;
	/* Who moves a process must be let into the group above both places. */
	int n = snprintf(g->path, sizeof(g->path), "%s%s/cgroup.procs", mount, group);
	if (n < (int)sizeof(g->path) && access(g->path, W_OK) < 0)
		return -errno;
	n = snprintf(g->path, sizeof(g->path), "%s%s/usher-%d", mount, group, (int)getpid());
	if (n >= (int)sizeof(g->path))
		return -ENAMETOOLONG;
	/* One that a usher of the same number has left is empty, or not ours. */
	if (mkdir(g->path, 0755) < 0 && (errno != EEXIST || rmdir(g->path) < 0 || mkdir(g->path, 0755) < 0))
		return -errno;
	int dir CLEANUP_FD = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int procs CLEANUP_FD = dir < 0 ? -1 : openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (procs < 0) {
		rc = -errno;
		(void)rmdir(g->path);
		return rc;
	}
	g->dir = steal_fd(&dir);
	g->procs = steal_fd(&procs);
	return 0;
}

int cgroup_join(const struct cgroup *g)
{
	if (g->dir < 0)
		return 0;
	return write(g->procs, "0", 1) == 1 ? 0 : -errno;
}

int cgroup_cpu_ms(const struct cgroup *g, uint64_t *out)
{
	char text[512];
	uint64_t us;

	if (g->dir < 0)
		return -ENOENT;
	int fd CLEANUP_FD = openat(g->dir, "cpu.stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -EIO;
	text[n] = '\0';
	if (sscanf(text, "usage_usec %" SCNu64, &us) != 1)
		return -EIO;
	*out = us / 1000;
	return 0;
}

void cgroup_end(struct cgroup *g)
{
	if (g->dir < 0)
		return;
	close(g->procs);
	close(g->dir);
	(void)rmdir(g->path);
	g->dir = -1;
	g->procs = -1;
}
