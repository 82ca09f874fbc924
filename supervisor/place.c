/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "audit/put.h"
#include "rules/cleanup.h"
#include "supervisor/cover.h"
#include "supervisor/job.h"
#include "supervisor/procs.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

#define NO_MOUNT UINT64_MAX

void place_init(struct place *p)
{
	*p = (struct place){ .fd = -1, .home = -1 };
}

/* Closes what is held: the thread still stands there. */
static void forget(struct place *p)
{
	atomic_store_explicit(&p->stands_in, 0, memory_order_relaxed);
	cleanup_fd(&p->fd);
	p->fd = -1;
	p->who = 0;
	p->note = 0;
	p->job = 0;
	p->stand = (struct stand){ 0 };
}

/* Where usher was started: its first thread goes nowhere. */
static int home_of(struct place *p, const struct session *s)
{
	if (p->home < 0)
		p->home = s->cover ? cover_home(s->cover) : openat(s->self_proc, "self/cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->home;
}

void place_go_home(struct place *p, const struct session *s)
{
	forget(p);
	p->away = fchdir(home_of(p, s)) < 0;
}

bool place_is_in(const struct place *p, uint64_t ino)
{
	return ino && atomic_load_explicit(&p->stands_in, memory_order_relaxed) == ino;
}

/* One that is removed is on none to stand on: it would not be gone before the worker is. */
static uint64_t mount_of(int fd, uint64_t *ino)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID | STATX_NLINK | STATX_INO, &st) < 0 || !(st.stx_mask & STATX_MNT_ID) || !st.stx_nlink)
		return NO_MOUNT;
	*ino = st.stx_ino;
	return st.stx_mnt_id;
}

/* A new worker stands where usher was started, or where the worker that made it does: on the same mount. Names in a procfs mean the caller. */
static uint64_t mount_here(void)
{
	struct statfs fs;
	uint64_t ino;

	return statfs(".", &fs) == 0 && fs.f_type != PROC_SUPER_MAGIC ? mount_of(AT_FDCWD, &ino) : NO_MOUNT;
}

/* Whether FD is a directory to stand in, and the thread stands there now. */
static bool go(struct place *p, int fd)
{
	uint64_t ino;

	if (!p->mount)
		p->mount = mount_here();
	if (p->mount == NO_MOUNT || mount_of(fd, &ino) != p->mount || fchdir(fd) < 0)
		return false;
	atomic_store_explicit(&p->stands_in, ino, memory_order_relaxed);
	return true;
}

static int open_cwd(const struct job *j, pid_t pid)
{
	char path[32], *at = put_number(path, (uint64_t)pid);

	*at++ = '/';
	*at++ = 'c';
	*at++ = 'w';
	*at++ = 'd';
	*at = '\0';
	return openat(j->session->self_proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool known(const struct job *j, const struct place *p)
{
	int nothing;

	return p->who && p->who == proc_serial(j->proc) && moves_known(&j->session->places, p->note, (pid_t)j->notif.pid, &nothing);
}

/* To where the caller, or PID of its process, stands now. What is remembered was read after what it is remembered by. */
static void follow(const struct job *j, struct place *p, pid_t pid)
{
	uint64_t who = proc_serial(j->proc), before = moves_before(&j->session->places);

	bool elsewhere = p->fd >= 0;

	forget(p);
	int fd CLEANUP_FD = open_cwd(j, pid);
	bool there = fd >= 0 && go(p, fd);
	if (there) {
		p->fd = steal_fd(&fd);
		p->away = false;
	} else if (elsewhere) {
		place_go_home(p, j->session);
	}
	if (!there && fd < 0) /* what was stolen is -1 */
		return;
	p->who = who;
	p->note = moves_remember(&j->session->places, before, pid, 0);
}

/* The name of the directory that the thread stands in; nothing for one that is removed, or out of reach. */
static bool name_here(struct job *j, struct text *name)
{
	struct text t = job_alloc(j, PATH_MAX);

	if (!t.off)
		return false;
	long n = syscall(SYS_getcwd, job_text(j, t), PATH_MAX);
	job_trim(j, &t, n > 0 ? (size_t)n - 1 : 0);
	const char *text = job_text(j, t);
	if (n <= 1 || text[0] != '/' || name_below(text, t.len, "/proc", 5))
		return false;
	*name = t;
	return true;
}

/* The thread is, or is again, where it stood before a visit. */
static bool is_back(struct place *p, int fd)
{
	if (p->away && fchdir(fd) == 0)
		p->away = false;
	return !p->away;
}

static bool stands_here(const struct place *p, struct stand stand)
{
	return p->stand.who == stand.who && p->stand.before == stand.before;
}

bool place_name(struct job *j, pid_t pid, char *buf, size_t cap, struct span *out)
{
	struct place *p = j->worker ? &j->worker->place : NULL;
	struct stand stand = p ? proc_stand(j->proc) : (struct stand){ 0 };

	if (!stand.who)
		return false;
	if (!stands_here(p, stand)) {
		/* What this job was given of the place stays open: it is the caller's then. */
		if (p->job != j->notif.id)
			follow(j, p, pid);
		else if (p->who != proc_serial(j->proc))
			return false;
		p->stand = stand;
	}
	/* Looked at last: nobody had moved when the worker went there. */
	if (p->fd < 0 || !is_back(p, p->fd) || !moves_none_since(&j->session->places, stand.before))
		return false;
	long n = syscall(SYS_getcwd, buf, cap);
	if (n <= 1 || buf[0] != '/')
		return false;
	*out = (struct span){ buf, (uint32_t)n - 1 };
	return true;
}

int place_stand(struct job *j, struct text *name)
{
	struct place *p = j->worker ? &j->worker->place : NULL;

	if (!p || !j->proc)
		return -1;
	if (!(p->who && p->job == j->notif.id) && !known(j, p))
		follow(j, p, (pid_t)j->notif.pid);
	p->job = j->notif.id;
	return p->fd >= 0 && is_back(p, p->fd) && name_here(j, name) ? p->fd : -1;
}

/* Where going into a directory asks nobody but the kernel: a file system that a process or another machine serves may let wait. */
static bool on_disk(struct place *p, int fd, dev_t dev)
{
	struct statfs fs;

	if (p->dev == dev && dev)
		return p->disk;
	p->dev = dev;
	p->disk = false;
	if (fstatfs(fd, &fs) < 0)
		return false;
	switch ((unsigned long)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		p->disk = true;
		return true;
	default:
		return false;
	}
}

static int way_back(const struct job *j, struct place *p)
{
	return p->fd >= 0 ? p->fd : home_of(p, j->session);
}

bool place_visit(struct job *j, int fd, const struct stat *st, struct text *name)
{
	struct place *p = j->worker ? &j->worker->place : NULL;
	int back = p && on_disk(p, fd, st->st_dev) ? way_back(j, p) : -1;

	if (back < 0 || !is_back(p, back) || fchdir(fd) < 0)
		return false;
	p->away = true;
	bool named = name_here(j, name);
	(void)is_back(p, back);
	return named;
}
