/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens that may wait: FIFOs, files under a lease, devices, terminals.
 *
 * MUST: nothing here waits before worker_blocking() has passed reception on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/open.h"
#include "supervisor/pool.h"
#include "supervisor/proc_text.h"
#include "supervisor/reply.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/terminals.h"
#include "supervisor/watch.h"
#include "supervisor/worker.h"

#define TTY_MAJOR 5
#define MEM_MAJOR 1
#define PTS_FIRST 136
#define PTS_LAST 143

/* The flags for opening an object that is held already. O_EXCL by itself claims a block device. */
static int again_flags(const struct job *j)
{
	int flags = (int)j->word[OPEN_FLAGS];

	if (flags & O_CREAT)
		flags &= ~O_EXCL;
	return (flags & ~(O_CREAT | O_NOFOLLOW | O_PATH)) | O_NOCTTY | O_CLOEXEC;
}

/* What the caller was refused in its own directory of /proc, since a thread of usher's asked. */
static int open_own(struct job *j, int held, int flags)
{
	bool reads = (flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY;
	struct creds saved;

	if (resolve_own_process(j, held, reads ? OWN_READABLE : OWN_WRITABLE))
		return resolve_reopen(held, flags);
	/* By its mode, and what the caller may do: what the open file shows later (pagemap) goes by who opened it. */
	if (!resolve_own_process(j, held, OWN_FILE))
		return -EACCES;
	int rc = creds_enter(j, CREDS_ITSELF, &saved);
	if (rc < 0)
		return rc;
	rc = resolve_reopen(held, flags);
	creds_leave(&saved);
	return rc;
}

static int open_as_caller(struct job *j, int held, int flags)
{
	struct creds saved;
	int rc = creds_enter(j, CREDS_FS, &saved);

	if (rc < 0)
		return rc;
	rc = resolve_reopen(held, flags);
	creds_leave(&saved);
	return rc == -EACCES ? open_own(j, held, flags) : rc;
}

/* Opens with waiting; a signal for the caller ends it. */
static int open_waiting(struct job *j, int held, bool fifo)
{
	worker_blocking(j->worker);
	for (;;) {
		if (fifo && !job_alive(j))
			return -ERESTARTSYS;
		int fd = open_as_caller(j, held, again_flags(j) & ~O_NONBLOCK);
		if (fd != -EINTR)
			return fd;
		if (worker_interrupted(j->worker))
			return -ERESTARTSYS;
	}
}

/* Takes off the O_NONBLOCK that was only ours. */
static int unblock(struct job *j, int fd)
{
	if (j->word[OPEN_FLAGS] & O_NONBLOCK)
		return fd;
	if (fcntl(fd, F_SETFL, again_flags(j)) < 0) {
		int error = errno;
		close(fd);
		return -error;
	}
	return fd;
}

/* Whether a writer is there, or has been: then a reader need not wait. */
static bool writer_seen(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/*
 * The reader of a FIFO that was not expected to be one. FD counts as a reader already, as that of a caller who waits in open does,
 * so that writers go on. A writer that comes and goes before the second open would leave it waiting for the next one: hence the look
 * at FD before, and the timer (or, where there is none left, the watch) that interrupts it to look again. When it is given up, a writer that
 * comes at that very moment loses its reader: from here on FIFOs are expected (open.c), and one that is held is opened by the kernel's own wait alone.
 */
static int read_fifo(struct job *j, int fd, const struct stat *st)
{
	int own CLEANUP_FD = fd;
	timer_t timer;
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = POOL_SIGNAL };
	struct itimerspec every = { { 0, 20000000 }, { 0, 20000000 } };
	int got = -EINTR;

	ev._sigev_un._tid = gettid();
	atomic_store_explicit(&j->session->fifos, true, memory_order_relaxed);
	if (writer_seen(own))
		return unblock(j, steal_fd(&own));
	worker_at_fifo(j->worker, st, O_RDONLY);
	bool timed = timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0;
	if (timed)
		timer_settime(timer, 0, &every, NULL);
	else /* it counts as a signal of the user's that is waiting, of which there may be enough */
		atomic_store(&j->worker->ticks, true);
	while (got == -EINTR && !writer_seen(own)) {
		/* A caller that is gone must not look like a reader. */
		if (!job_alive(j)) {
			got = -ERESTARTSYS;
			break;
		}
		got = open_as_caller(j, own, again_flags(j) & ~O_NONBLOCK);
		if (got == -EINTR && worker_interrupted(j->worker) && !writer_seen(own))
			got = -ERESTARTSYS;
	}
	if (timed)
		timer_delete(timer);
	atomic_store(&j->worker->ticks, false);
	return got == -EINTR ? unblock(j, steal_fd(&own)) : got;
}

/* Opens the device FD, which was opened without waiting, as the caller said. One that only one may have is given back first. */
static int open_device(struct job *j, int fd)
{
	int own CLEANUP_FD = fd;
	int got = open_waiting(j, own, false);

	if (got != -EBUSY)
		return got;
	int held CLEANUP_FD = resolve_reopen(own, O_PATH);
	cleanup_fd(&own);
	own = -1;
	return held < 0 ? held : open_waiting(j, held, false);
}

/* Devices for which O_NONBLOCK at open means nothing. */
static bool plain_device(const struct stat *st)
{
	unsigned m = major(st->st_rdev);

	return S_ISCHR(st->st_mode) && (m == MEM_MAJOR || m == TTY_MAJOR || (m >= PTS_FIRST && m <= PTS_LAST));
}

int open_settle(struct job *j, int fd, const struct stat *st)
{
	bool wait = !(j->word[OPEN_FLAGS] & O_NONBLOCK);

	if (terminals_maker(st))
		terminals_made(j->session->terminals, fd);
	if (!wait)
		return fd;
	if (S_ISFIFO(st->st_mode) && (j->word[OPEN_FLAGS] & O_ACCMODE) == O_RDONLY)
		return read_fifo(j, fd, st);
	if ((S_ISCHR(st->st_mode) && !plain_device(st)) || S_ISBLK(st->st_mode))
		return open_device(j, fd);
	return unblock(j, fd);
}

bool open_at_fifo(struct job *j, const struct stat *fifo)
{
	int access = (int)(j->word[OPEN_FLAGS] & O_ACCMODE);

	watch_fifo(j, fifo, access);
	/* In this order: whoever opens the other end after the caller ended sees this worker, or it is seen to have ended. */
	worker_at_fifo(j->worker, fifo, access);
	return job_alive(j);
}

int open_held(struct job *j, int held, const struct stat *st)
{
	bool wait = !(j->word[OPEN_FLAGS] & O_NONBLOCK), fifo = S_ISFIFO(st->st_mode);

	if (fifo && !open_at_fifo(j, st))
		return -ERESTARTSYS;
	/* The kernel's own wait: whether a writer came or the signal was first is one decision there. */
	if (wait && fifo && (j->word[OPEN_FLAGS] & O_ACCMODE) == O_RDONLY)
		return open_waiting(j, held, true);
	int fd = open_as_caller(j, held, again_flags(j) | O_NONBLOCK);
	if (fd >= 0)
		return open_settle(j, fd, st);
	/* The writer of a FIFO without readers, or a lease */
	if (wait && ((fd == -ENXIO && fifo) || fd == -EAGAIN))
		return open_waiting(j, held, fifo);
	return fd;
}

/* The device number of the caller's controlling terminal, 0 when it has none. */
static dev_t terminal_of(pid_t tid)
{
	char text[PROC_STAT];
	int tty;
	const char *at = proc_stat(tid, text);

	if (!at || sscanf(at, ") %*c %*d %*d %*d %d", &tty) != 1 || !tty)
		return 0;
	unsigned packed = (unsigned)tty;
	return makedev((packed >> 8) & 0xfff, (packed & 0xff) | ((packed >> 12) & 0xfff00));
}

static int terminal_name(dev_t dev, char *out, size_t cap)
{
	char path[48], link[256];

	if (major(dev) >= PTS_FIRST && major(dev) <= PTS_LAST) {
		snprintf(out, cap, "/dev/pts/%u", (major(dev) - PTS_FIRST) * 256 + minor(dev));
		return 0;
	}
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u", major(dev), minor(dev));
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return -ENXIO;
	link[n] = '\0';
	const char *base = strrchr(link, '/');
	snprintf(out, cap, "/dev/%s", base ? base + 1 : link);
	return 0;
}

/* By the rights of the node, which the terminal is not opened by. */
static int may_open(struct job *j, int node)
{
	static const int wanted[] = { R_OK, W_OK, R_OK | W_OK, R_OK | W_OK };
	char path[FILE_PROC_PATH];
	struct creds saved;
	int rc = creds_enter(j, CREDS_FS, &saved);

	if (rc < 0)
		return rc;
	long got = syscall(SYS_faccessat2, AT_FDCWD, file_proc_path(node, path), wanted[j->word[OPEN_FLAGS] & O_ACCMODE], AT_EACCESS);
	rc = got < 0 ? -errno : 0;
	creds_leave(&saved);
	return rc;
}

int open_terminal(struct job *j, int node)
{
	char name[300];
	struct stat st;
	int rc = may_open(j, node);
	dev_t dev = terminal_of((pid_t)j->notif.pid);

	if (rc < 0)
		return rc;
	if (!dev)
		return -ENXIO;
	/* usher's own terminal, and the caller's: the kernel knows it without a name */
	if (dev == terminal_of(gettid())) {
		int fd = open("/dev/tty", again_flags(j) | O_NONBLOCK);
		return fd < 0 ? -errno : unblock(j, fd);
	}
	if (terminal_name(dev, name, sizeof(name)) < 0)
		return -ENXIO;
	int fd = open(name, again_flags(j) | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_rdev != dev) {
		close(fd);
		return -ENXIO;
	}
	return unblock(j, fd);
}
