/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a directory is pinned once for a call and named from that descriptor.
 */
#include "supervisor/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "audit/put.h"
#include "rules/cleanup.h"
#include "rules/clock.h"
#include "supervisor/place.h"
#include "supervisor/proc_text.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

/* The name of the caller's WHAT below /proc. */
static void link_path(const struct job *j, const char *what, char out[40])
{
	char *p = put_number(out, j->notif.pid);

	*p++ = '/';
	memcpy(p, what, strlen(what) + 1);
}

/* Below the held /proc: the way there costs as much as the rest. */
static int open_link(struct job *j, const char *what)
{
	char path[40];

	link_path(j, what, path);
	int fd = openat(j->session->self_proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

/* Where the worker does not stand in it, the working directory is pinned once for a call that names two things: both are looked up from the same. */
enum { PINNED_FD = 3, PINNED_NAME = 1 };

static int pinned(struct job *j, struct base *out)
{
	out->name = j->data[PINNED_NAME];
	out->fd = steal_fd(&j->scratch[PINNED_FD]);
	return 0;
}

static void pin(struct job *j, const struct base *b)
{
	j->scratch[PINNED_FD] = fcntl(b->fd, F_DUPFD_CLOEXEC, 3);
	j->data[PINNED_NAME] = b->name;
}

/* Where the worker stands. The second name of a call starts where the first did, by the name that was read then. */
static bool stand(struct job *j, struct base *out)
{
	struct text *seen = &j->data[PINNED_NAME];

	if (j->n_targets > 1 && seen->off) {
		out->fd = j->worker->place.fd;
		out->name = *seen;
		*seen = (struct text){ 0, 0 };
	} else {
		out->fd = place_stand(j, &out->name);
		if (out->fd >= 0 && j->n_targets == 1 && j->path[1].off)
			*seen = out->name;
	}
	out->lent = out->fd >= 0;
	return out->lent;
}

int fs_base(struct job *j, int dirfd, struct base *out)
{
	*out = (struct base){ .fd = -1 };
	if (dirfd == AT_FDCWD && j->scratch[PINNED_FD] >= 0)
		return pinned(j, out);
	if (dirfd == AT_FDCWD && stand(j, out))
		return 0;
	int fd CLEANUP_FD = dirfd == AT_FDCWD ? open_link(j, "cwd") : caller_fd(j, dirfd);
	if (fd < 0)
		return fd;
	struct stat st;
	/* Only directories are kept beyond this point: a second reference to a pipe or a file would be noticed. */
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (dirfd == AT_FDCWD || !place_visit(j, fd, &st, &out->name)) {
		struct target t = { .fd = fd, .dir = -1 };
		int rc = resolve_describe_as(j, &t, &st);
		if (rc < 0)
			return rc;
		out->name = t.name;
	}
	out->fd = steal_fd(&fd);
	if (dirfd == AT_FDCWD && j->path[1].off)
		pin(j, out);
	return 0;
}

void fs_base_done(struct base *b)
{
	if (b->fd >= 0 && !b->lent)
		close(b->fd);
	b->fd = -1;
	b->lent = false;
}

int fs_base_take(struct base *b)
{
	int fd = b->fd;

	b->fd = -1;
	b->lent = false;
	return fd;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool fs_cwd_holds(struct job *j, const char *name)
{
	char path[40];
	struct stat cwd, named;

	link_path(j, "cwd", path);
	return fstatat(j->session->self_proc, path, &cwd, 0) == 0 && lstat(name, &named) == 0 && same(&cwd, &named);
}

#define DELETED " (deleted)"
#define SEEN_NS 100000000u

static uint64_t coarse_now(void)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE);
}

/* What was seen to hold is believed for a while, for the same process and the same name. */
static bool seen_to_hold(struct job *j, const char *name, size_t len)
{
	struct worker *w = j->worker;
	uint64_t now = coarse_now();

	if (w->cwd_tid == j->notif.pid && w->cwd_len == len && now - w->cwd_seen < SEEN_NS && memcmp(w->cwd, name, len) == 0)
		return true;
	if (!fs_cwd_holds(j, name))
		return false;
	w->cwd_len = 0;
	if (len > sizeof(w->cwd))
		return true;
	memcpy(w->cwd, name, len);
	w->cwd_len = len;
	w->cwd_tid = j->notif.pid;
	w->cwd_seen = now;
	return true;
}

int fs_cwd_name(struct job *j, struct text *out)
{
	const size_t tail = sizeof(DELETED) - 1;
	char path[40];
	struct text t = job_alloc(j, PATH_MAX);
	char *name = job_text(j, t);

	if (!name || !j->worker)
		return 0;
	link_path(j, "cwd", path);
	ssize_t n = readlinkat(j->session->self_proc, path, name, PATH_MAX);
	job_trim(j, &t, n < 0 ? 0 : (size_t)n);
	if (n <= 0 || n == PATH_MAX || name[0] != '/')
		return 0;
	if ((size_t)n > tail && memcmp(name + n - tail, DELETED, tail) == 0)
		return 0;
	*out = t;
	return seen_to_hold(j, name, (size_t)n);
}

int fs_base_named(struct job *j, struct base *out)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	struct text name;

	*out = (struct base){ .fd = -1 };
	if (j->scratch[PINNED_FD] >= 0)
		return pinned(j, out);
	if (stand(j, out))
		return 0;
	if (!fs_cwd_name(j, &name) || name_below(job_text(j, name), name.len, "/proc", 5))
		return fs_base(j, AT_FDCWD, out);
	out->fd = (int)syscall(SYS_openat2, AT_FDCWD, job_text(j, name), &how, sizeof(how));
	if (out->fd < 0)
		return fs_base(j, AT_FDCWD, out);
	out->name = name;
	if (j->path[1].off)
		pin(j, out);
	return 0;
}

static int read_umask(struct job *j)
{
	char text[512];
	unsigned mask;

	if (!proc_text((pid_t)j->notif.pid, "status", text, sizeof(text)))
		return -ESRCH;
	const char *at = strstr(text, "\nUmask:");
	if (!at || sscanf(at, "\nUmask: %o", &mask) != 1)
		return -EIO;
	return (int)(mask & 0777);
}

int fs_umask(struct job *j)
{
	struct moves *u = &j->session->umasks;
	pid_t tid = (pid_t)j->notif.pid;
	int mask;

	if (j->proc && moves_known(u, atomic_load(proc_umask(j->proc)), tid, &mask))
		return mask;
	uint64_t before = moves_before(u);
	mask = read_umask(j);
	if (j->proc && mask >= 0)
		atomic_store(proc_umask(j->proc), moves_remember(u, before, tid, mask));
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
