/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/heirs.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/procs.h"
#include "supervisor/procs_kernel.h"

static void cleanup_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define CLEANUP_DIR __attribute__((cleanup(cleanup_dir)))

/* The next number among the names in D; false past the last. */
static bool next_number(DIR *d, int *out)
{
	struct dirent *e;

	while ((e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		*out = atoi(e->d_name);
		return true;
	}
	return false;
}

static bool is_sought(const struct sought *what, int dir, int fd)
{
	char name[16], link[40];
	uintmax_t ino;

	snprintf(name, sizeof(name), "%d", fd);
	ssize_t len = readlinkat(dir, name, link, sizeof(link) - 1);
	if (len <= 0)
		return false;
	link[len] = '\0';
	if (sscanf(link, "socket:[%" SCNuMAX "]", &ino) != 1)
		return false;
	for (size_t i = 0; i < what->n; i++)
		if (what->ino[i] == ino)
			return true;
	return false;
}

static bool holds(const struct thread_ref *process, pid_t pid, const struct sought *what, int *fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *d CLEANUP_DIR = opendir(path);
	while (d && next_number(d, fd)) {
		if (!is_sought(what, dirfd(d), *fd))
			continue;
		int sock CLEANUP_FD = thread_getfd(process, *fd);
		if (sock >= 0 && what->fits(what->arg, sock))
			return true;
	}
	return false;
}

static bool look_at(struct procs *ps, pid_t pid, const struct sought *what, struct heir *out)
{
	struct thread_ref process;
	struct proc *p;

	if (!procs_inside(ps, pid) || thread_open(pid, &process))
		return false;
	/* Inside again: the number may have come to another process just before it was held. */
	bool found = process.process && holds(&process, pid, what, &out->fd) && procs_inside(ps, pid) && procs_get(ps, pid, &p) == 0;
	if (found)
		proc_put(p);
	found = found && thread_alive(&process);
	close(process.fd);
	out->pid = pid;
	return found;
}

bool heirs_find(struct procs *ps, const struct sought *what, struct heir *out)
{
	DIR *d CLEANUP_DIR = what->n ? opendir("/proc") : NULL;
	pid_t pid;

	while (d && next_number(d, &pid)) {
		if (look_at(ps, pid, what, out))
			return true;
	}
	return false;
}
