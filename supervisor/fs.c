/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a directory is pinned once for a call and named from that descriptor.
 */
#include "supervisor/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

static int open_link(struct job *j, const char *what)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)j->notif.pid, what);
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

/* The working directory is pinned once for a call, however often and for however many names it is asked for. */
enum { PINNED_FD = 3, PINNED_NAME = 1 };

static int pinned(struct job *j, struct base *out)
{
	out->name = j->data[PINNED_NAME];
	out->fd = fcntl(j->scratch[PINNED_FD], F_DUPFD_CLOEXEC, 3);
	return out->fd < 0 ? -errno : 0;
}

static void pin(struct job *j, const struct base *b)
{
	j->scratch[PINNED_FD] = fcntl(b->fd, F_DUPFD_CLOEXEC, 3);
	j->data[PINNED_NAME] = b->name;
}

int fs_base(struct job *j, int dirfd, struct base *out)
{
	*out = (struct base){ .fd = -1 };
	if (dirfd == AT_FDCWD && j->scratch[PINNED_FD] >= 0)
		return pinned(j, out);
	int fd CLEANUP_FD = dirfd == AT_FDCWD ? open_link(j, "cwd") : caller_fd(j, dirfd);
	if (fd < 0)
		return fd;
	struct target t = { .fd = fd, .dir = -1 };
	int rc = resolve_describe(j, &t);
	/* Only directories are kept beyond this point: a second reference to a pipe or a file would be noticed. */
	if (!S_ISDIR(t.mode))
		return -ENOTDIR;
	if (rc < 0)
		return rc;
	out->name = t.name;
	out->fd = steal_fd(&fd);
	if (dirfd == AT_FDCWD)
		pin(j, out);
	return 0;
}

void fs_base_done(struct base *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}

static int read_umask(struct job *j)
{
	char path[40], text[512];
	unsigned mask;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)j->notif.pid);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	ssize_t n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -ESRCH;
	text[n] = '\0';
	const char *at = strstr(text, "\nUmask:");
	if (!at || sscanf(at, "\nUmask: %o", &mask) != 1)
		return -EIO;
	return (int)(mask & 0777);
}

int fs_umask(struct job *j)
{
	struct umasks *u = &j->session->umasks;
	pid_t tid = (pid_t)j->notif.pid;
	int mask;

	if (j->proc && umask_known(u, atomic_load(proc_umask(j->proc)), tid, &mask))
		return mask;
	uint64_t before = umask_before(u);
	mask = read_umask(j);
	if (j->proc && mask >= 0)
		atomic_store(proc_umask(j->proc), umask_remember(u, before, tid, mask));
	return mask;
}

int fs_take_umask(struct job *j)
{
	int mask = fs_umask(j);

	if (mask < 0)
		return mask;
	if (j->worker->umask_set != mask)
		umask((mode_t)mask);
	j->worker->umask_set = mask;
	return 0;
}

int fs_root(struct job *j, int *out)
{
	struct stat theirs, ours;

	*out = -1;
	if (!atomic_load_explicit(&j->session->roots_moved, memory_order_acquire))
		return 0;
	int fd CLEANUP_FD = open_link(j, "root");
	if (fd < 0)
		return fd;
	if (fstat(fd, &theirs) < 0 || stat("/", &ours) < 0)
		return -EACCES;
	if (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino)
		*out = steal_fd(&fd);
	return 0;
}
