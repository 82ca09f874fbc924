/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel checks before it opens anything: flags, and whether there is room for a descriptor. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

#include "rules/cleanup.h"
#include "supervisor/kernel.h"
#include "supervisor/limits_caller.h"
#include "supervisor/memory.h"
#include "supervisor/open.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
#define KNOWN_FLAGS                                                                                             \
	((uint64_t)(unsigned)(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |    \
			      O_DSYNC | O_ASYNC | O_DIRECT | USHER_O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | \
			      O_CLOEXEC | O_PATH | TMPFILE_BIT))
#define PATH_FLAGS ((uint64_t)(O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC))
#define KNOWN_RESOLVE                                                                                          \
	((uint64_t)(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT | \
		    RESOLVE_CACHED))
#define OPEN_HOW_MAX 4096

static bool will_create(uint64_t flags)
{
	return flags & (O_CREAT | TMPFILE_BIT);
}

static int check(uint64_t flags, uint64_t mode, uint64_t resolve)
{
	if ((flags & ~KNOWN_FLAGS) || (resolve & ~KNOWN_RESOLVE))
		return -EINVAL;
	if ((resolve & RESOLVE_BENEATH) && (resolve & RESOLVE_IN_ROOT))
		return -EINVAL;
	if (will_create(flags) ? (mode & ~07777ull) != 0 : mode != 0)
		return -EINVAL;
	if ((flags & O_DIRECTORY) && (flags & O_CREAT))
		return -EINVAL;
	if ((flags & TMPFILE_BIT) && (!(flags & O_DIRECTORY) || (flags & O_ACCMODE) == O_RDONLY))
		return -EINVAL;
	if ((flags & O_PATH) && (flags & ~PATH_FLAGS))
		return -EINVAL;
	if ((resolve & RESOLVE_CACHED) && (flags & (O_TRUNC | O_CREAT | TMPFILE_BIT)))
		return -EAGAIN;
	return 0;
}

int open_flags(struct job *j, uint64_t flags, uint64_t mode, uint64_t resolve, bool strict)
{
	j->said = (uint32_t)flags;
	if (!strict) {
		flags &= KNOWN_FLAGS;
		mode &= 07777;
		if (flags & O_PATH)
			flags &= PATH_FLAGS;
		else
			flags |= USHER_O_LARGEFILE;
		if (!will_create(flags))
			mode = 0;
	}
	int rc = check(flags, mode, resolve);
	if (rc < 0)
		return rc;
	/* What the kernel has at hand would tell a hidden name from one that is not there; it may say this at any time. */
	if ((resolve & RESOLVE_CACHED) && (policy_ops(j->session->policy) & OP_STAT))
		return -EAGAIN;
	j->said |= will_create(flags) ? mode << SAYS_ABOVE : 0;
	j->word[OPEN_FLAGS] = flags;
	j->word[OPEN_MODE] = mode;
	j->word[OPEN_RESOLVE] = resolve;
	return 0;
}

int open_how_copy(struct job *j, uint64_t addr, uint64_t size)
{
	struct open_how how;

	if (size < sizeof(how))
		return -EINVAL;
	if (size > OPEN_HOW_MAX)
		return -E2BIG;
	if (!j->data[0].off) {
		int rc = memory_copy(j, addr, size, &j->data[0]);
		if (rc < 0)
			return rc;
	}
	const char *bytes = job_text(j, j->data[0]);
	for (size_t i = sizeof(how); i < size; i++) {
		if (bytes[i])
			return -E2BIG;
	}
	memcpy(&how, bytes, sizeof(how));
	return open_flags(j, how.flags, how.mode, how.resolve, true);
}

/* Numbers that were taken under a higher limit, and lie above it now, take no room below it. */
static bool all_taken(const char *path, uint64_t limit)
{
	DIR *d = opendir(path);
	uint64_t below = 0;
	struct dirent *e;

	while (d && (e = readdir(d)))
		below += e->d_name[0] != '.' && strtoull(e->d_name, NULL, 10) < limit;
	if (d)
		closedir(d);
	return d && below >= limit;
}

/*
 * The size of /proc/TID/fd is the number of open descriptors (Linux 6.2). The directory of a thread that asks again
 * is held: it is this thread's and no later one's.
 */
static int count_files(struct job *j, struct stat *st)
{
	struct worker *w = j->worker;
	char path[40];

	if (w->room_tid == j->notif.pid && w->room_fd >= 0 && fstat(w->room_fd, st) == 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)j->notif.pid);
	cleanup_fd(&w->room_fd);
	w->room_fd = w->room_tid == j->notif.pid ? open(path, O_PATH | O_CLOEXEC) : -1;
	w->room_tid = j->notif.pid;
	return w->room_fd >= 0 ? fstat(w->room_fd, st) : stat(path, st);
}

/* Whether descriptor FD is open in what /proc calls TID. */
static bool is_open(pid_t tid, uint64_t fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%" PRIu64, (int)tid, fd);
	return lstat(path, &st) == 0;
}

/* Where the kernel does not tell how many there are: of a full table the last number is taken. */
static bool has_room(const struct job *j, const struct stat *st, uint64_t limit)
{
	if (st->st_size)
		return (uint64_t)st->st_size < limit;
	return limit && !is_open((pid_t)j->notif.pid, limit - 1);
}

int open_room(struct job *j)
{
	uint64_t limit = limits_files(j);
	char path[40];
	struct stat st;

	if (count_files(j, &st) < 0 || has_room(j, &st, limit))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)j->notif.pid);
	if (!all_taken(path, limit))
		return 0;
	limits_no_number(j);
	return -EMFILE;
}
