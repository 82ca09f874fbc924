/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel checks before it opens anything: flags, and whether there is room for a descriptor. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "rules/cleanup.h"
#include "supervisor/memory.h"
#include "supervisor/open.h"

#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
#define LARGEFILE_BIT 0100000
#define KNOWN_FLAGS                                                                                             \
	((uint64_t)(unsigned)(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |    \
			      O_DSYNC | O_ASYNC | O_DIRECT | LARGEFILE_BIT | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | \
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
	j->flags = flags;
	if (!strict) {
		flags &= KNOWN_FLAGS;
		mode &= 07777;
		if (flags & O_PATH)
			flags &= PATH_FLAGS;
		else
			flags |= LARGEFILE_BIT;
		if (!will_create(flags))
			mode = 0;
	}
	int rc = check(flags, mode, resolve);
	if (rc < 0)
		return rc;
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

/* prlimit(2) wants CAP_SYS_RESOURCE for a caller with other ids; what it would say stands in /proc too. */
static int files_limit(pid_t tid, rlim_t *out)
{
	char path[40], text[2048];
	struct rlimit limit;

	if (prlimit(tid, RLIMIT_NOFILE, NULL, &limit) == 0) {
		*out = limit.rlim_cur;
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%d/limits", (int)tid);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -EPERM;
	text[n] = '\0';
	const char *row = strstr(text, "\nMax open files");
	if (!row)
		return -EPERM;
	row += strlen("\nMax open files");
	row += strspn(row, " ");
	*out = strncmp(row, "unlimited", 9) == 0 ? RLIM_INFINITY : strtoull(row, NULL, 10);
	return 0;
}

int open_room(struct job *j)
{
	char path[40];
	struct stat st;
	rlim_t limit;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)j->notif.pid);
	if (files_limit((pid_t)j->notif.pid, &limit) < 0 || stat(path, &st) < 0)
		return 0;
	return (rlim_t)st.st_size >= limit ? -EMFILE : 0;
}
