/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/cgroup_files.h"
#include "supervisor/mounts.h"

#define NAMES 64
#define PREFIX "usher-"

static void take_first(const char *type, const char *dir, void *out)
{
	char *name = out;

	if (!*name && strcmp(type, "cgroup2") == 0 && strlen(dir) < PATH_MAX / 2)
		strcpy(name, dir);
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

static int locked(int parent, const char *name)
{
	int fd CLEANUP_FD = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return steal_fd(&fd);
}

/* What ushers that were killed have left: nobody holds it, and nobody is in it. */
static void sweep(int parent)
{
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		int old CLEANUP_FD = locked(parent, e->d_name);
		if (old >= 0)
			(void)unlinkat(parent, e->d_name, AT_REMOVEDIR);
	}
	if (d)
		closedir(d);
}

/* A new group below PARENT, whose name is PATH, and which nobody else sweeps away. Returns its directory or a negative errno. */
static int make_new(int parent, const char *path, const char *what, char out[PATH_MAX])
{
	int rc = -EEXIST;

	/* The number alone is not enough: in a pid namespace usher is always 1. */
	for (unsigned i = 0; i < NAMES && rc == -EEXIST; i++) {
		if (snprintf(out, PATH_MAX, "%s/" PREFIX "%d.%u%s", path, (int)getpid(), i, what) >= PATH_MAX)
			return -ENAMETOOLONG;
		const char *name = strrchr(out, '/') + 1;
		if (mkdirat(parent, name, 0755) < 0) {
			rc = -errno;
			continue;
		}
		rc = locked(parent, name);
		/* Swept away before it was locked; else it is nobody's. */
		if (rc == -ENOENT || rc == -EWOULDBLOCK)
			rc = -EEXIST;
		else if (rc < 0)
			(void)unlinkat(parent, name, AT_REMOVEDIR);
		struct stat st;
		if (rc >= 0 && fstatat(parent, name, &st, 0) < 0) {
			close(rc);
			rc = -EEXIST;
		}
	}
	return rc;
}

static void write_limit(int dir, const char *file, uint64_t limit, bool *held)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, limit);
	*held = limit && cgroup_put(dir, file, text) == 0;
}

static bool holds_all(const struct cgroup *g, const struct cgroup_wants *w)
{
	return (!w->memory || g->memory) && (!w->tasks || g->tasks);
}

static int make_below(int parent, const char *path, const struct cgroup_wants *w, struct cgroup *g)
{
	sweep(parent);
	int dir CLEANUP_FD = make_new(parent, path, "", g->path);
	int procs CLEANUP_FD = dir < 0 ? -1 : openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (procs < 0) {
		int rc = dir < 0 ? dir : -errno;
		if (dir >= 0)
			(void)rmdir(g->path);
		return rc;
	}
	write_limit(dir, "memory.max", w->memory, &g->memory);
	/* Else it would go to swap instead, and take the machine along. */
	if (g->memory)
		(void)cgroup_put(dir, "memory.swap.max", "0");
	write_limit(dir, "pids.max", w->tasks, &g->tasks);
	g->dir = steal_fd(&dir);
	g->procs = steal_fd(&procs);
	return 0;
}

static int switch_on(int group, const char *controller)
{
	char text[32];

	if (cgroup_lists(group, "cgroup.subtree_control", controller))
		return 0;
	if (!cgroup_lists(group, "cgroup.controllers", controller))
		return -EOPNOTSUPP;
	snprintf(text, sizeof(text), "+%s", controller);
	return cgroup_put(group, "cgroup.subtree_control", text);
}

/* False: somebody who is in the group stands in the way. */
static bool switch_all_on(int group, const struct cgroup_wants *w)
{
	int memory = w->memory ? switch_on(group, "memory") : 0;
	int tasks = w->tasks ? switch_on(group, "pids") : 0;

	return memory != -EBUSY && tasks != -EBUSY;
}

static void come_back(int group, struct cgroup *g)
{
	if (!g->aside[0])
		return;
	/* First: a group with controllers below takes nobody in. */
	(void)cgroup_put(group, "cgroup.subtree_control", "-memory");
	(void)cgroup_put(group, "cgroup.subtree_control", "-pids");
	(void)cgroup_put(group, "cgroup.procs", "0");
	close(g->aside_dir);
	(void)rmdir(g->aside);
	g->aside[0] = '\0';
}

/* The only process of GROUP makes room. */
static void step_aside(int group, const char *path, const struct cgroup_wants *w, struct cgroup *g)
{
	if (cgroup_company(group) != 0)
		return;
	int dir = make_new(group, path, ".usher", g->aside);
	if (dir < 0) {
		g->aside[0] = '\0';
		return;
	}
	g->aside_dir = dir;
	if (cgroup_put(dir, "cgroup.procs", "0") < 0 || !switch_all_on(group, w))
		come_back(group, g);
}

static int open_group(const char *path)
{
	int dir CLEANUP_FD = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) < 0)
		return -errno;
	return steal_fd(&dir);
}

/* Beside it, where who made the group above has switched the controllers on for its children. */
static void try_beside(const char *path, const struct cgroup_wants *w, struct cgroup *g)
{
	struct cgroup beside = { .dir = -1, .procs = -1 };
	char above[PATH_MAX];

	strcpy(above, path);
	*strrchr(above, '/') = '\0';
	int group CLEANUP_FD = open_group(above);
	if (group < 0 || make_below(group, above, w, &beside) < 0)
		return;
	if (!holds_all(&beside, w)) {
		cgroup_end(&beside);
		return;
	}
	cgroup_end(g);
	*g = beside;
}

int cgroup_make_in(const char *mount, const char *name, const struct cgroup_wants *wants, struct cgroup *g)
{
	char path[PATH_MAX];
	bool top = strcmp(name, "/") == 0;

	*g = (struct cgroup){ .dir = -1, .procs = -1 };
	if (snprintf(path, sizeof(path), "%s%s", mount, top ? "" : name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	/* Who moves a process must be let into the group above both places. */
	int group CLEANUP_FD = open_group(path);
	if (group < 0)
		return group;
	/* In a cgroup namespace the name is not that of the mount's tree: a group elsewhere would be an escape from the limits of usher's own. */
	if (cgroup_company(group) < 0)
		return -ESRCH;
	if (!switch_all_on(group, wants))
		step_aside(group, path, wants, g);
	int rc = make_below(group, path, wants, g);
	if (rc < 0)
		come_back(group, g);
	else if (!top && !holds_all(g, wants))
		try_beside(path, wants, g);
	return rc;
}

int cgroup_make(const struct cgroup_wants *wants, struct cgroup *g)
{
	char mount[PATH_MAX / 2] = "", name[PATH_MAX / 2];

	*g = (struct cgroup){ .dir = -1, .procs = -1 };
	int rc = mounts_each(take_first, mount);
	if (rc == 0)
		rc = mount[0] ? own_name(name, sizeof(name)) : -ENOENT;
	return rc < 0 ? rc : cgroup_make_in(mount, name, wants, g);
}

int cgroup_join(const struct cgroup *g)
{
	if (g->dir < 0)
		return 0;
	return write(g->procs, "0", 1) == 1 ? 0 : -errno;
}

int cgroup_cpu_ms(const struct cgroup *g, uint64_t *out)
{
	uint64_t us;

	int rc = g->dir < 0 ? -ENOENT : cgroup_number(g->dir, "cpu.stat", "usage_usec", &us);
	if (rc == 0)
		*out = us / 1000;
	return rc;
}

int cgroup_memory(const struct cgroup *g, uint64_t *out)
{
	return g->memory ? cgroup_number(g->dir, "memory.peak", NULL, out) : -ENOENT;
}

void cgroup_look(const struct cgroup *g, struct cgroup_events *out)
{
	uint64_t killed;

	*out = (struct cgroup_events){ 0 };
	if (g->memory && cgroup_number(g->dir, "memory.events", "oom", &out->memory) == 0 &&
	    cgroup_number(g->dir, "memory.events", "oom_kill", &killed) == 0 && killed > out->memory)
		out->memory = killed;
	if (g->tasks)
		(void)cgroup_number(g->dir, "pids.events", "max", &out->tasks);
}

void cgroup_kill(const struct cgroup *g)
{
	if (g->dir >= 0)
		(void)cgroup_put(g->dir, "cgroup.kill", "1");
}

void cgroup_end(struct cgroup *g)
{
	char above[PATH_MAX];

	if (g->dir < 0)
		return;
	close(g->procs);
	close(g->dir);
	(void)rmdir(g->path);
	if (g->aside[0]) {
		strcpy(above, g->path);
		*strrchr(above, '/') = '\0';
		int group CLEANUP_FD = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		come_back(group, g);
	}
	*g = (struct cgroup){ .dir = -1, .procs = -1 };
}
