/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/limits_measure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rules/cleanup.h"

struct process {
	pid_t pid, parent;
	uint64_t ticks;     /* of its own and of those it has waited for */
	uint64_t reaped;    /* of those alone */
	uint64_t pages;
	bool below;
};

static bool look(int proc, const char *name, struct process *out)
{
	char path[280], text[1024];
	uint64_t user, system, waited_user, waited_system;
	int64_t pages;
	int parent;

	snprintf(path, sizeof(path), "%s/stat", name);
	int fd CLEANUP_FD = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	const char *end = strrchr(text, ')');
	if (!end || sscanf(end + 1,
			   " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %*d %*d %*d %*d %*u %*u %" SCNd64,
			   &parent, &user, &system, &waited_user, &waited_system, &pages) != 6)
		return false;
	*out = (struct process){ .pid = atoi(name), .parent = parent, .ticks = user + system + waited_user + waited_system,
				 .reaped = waited_user + waited_system, .pages = pages > 0 ? (uint64_t)pages : 0 };
	return true;
}

static int scan(struct census *c)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	c->n = 0;
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		if (c->n == c->room) {
			size_t room = c->room ? 2 * c->room : 512;
			struct process *more = realloc(c->all, room * sizeof(*more));
			if (!more)
				break;
			c->all = more;
			c->room = room;
		}
		if (look(dirfd(d), e->d_name, &c->all[c->n]))
			c->n++;
	}
	closedir(d);
	return 0;
}

static const struct process *find(const struct census *c, pid_t pid)
{
	size_t from = 0, to = c->n; /* /proc lists by number */

	while (from < to) {
		size_t middle = (from + to) / 2;
		if (c->all[middle].pid < pid)
			from = middle + 1;
		else
			to = middle;
	}
	return from < c->n && c->all[from].pid == pid ? &c->all[from] : NULL;
}

static void mark(struct census *c, pid_t guardian)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < c->n; i++) {
			struct process *p = &c->all[i];
			const struct process *parent = p->below ? NULL : find(c, p->parent);
			if (p->below || !(p->parent == guardian || (parent && parent->below)))
				continue;
			p->below = true;
			more = true;
		}
	}
}

int census_take(struct census *c, pid_t guardian, struct usage *out)
{
	long page = sysconf(_SC_PAGESIZE), hertz = sysconf(_SC_CLK_TCK);
	int rc = page > 0 && hertz > 0 ? scan(c) : -EINVAL;
	uint64_t ticks = 0;

	*out = (struct usage){ 0 };
	if (rc < 0)
		return rc;
	mark(c, guardian);
	for (size_t i = 0; i < c->n; i++) {
		const struct process *p = &c->all[i];
		if (p->pid == guardian)
			ticks += p->reaped; /* orphans it has buried */
		if (!p->below)
			continue;
		ticks += p->ticks;
		out->bytes += p->pages * (uint64_t)page;
		out->processes++;
	}
	out->cpu_ms = ticks * 1000 / (uint64_t)hertz;
	return 0;
}

void census_free(struct census *c)
{
	free(c->all);
	*c = (struct census){ 0 };
}
