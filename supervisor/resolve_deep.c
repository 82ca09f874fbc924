/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of directories deeper than PATH_MAX, which the kernel does not give as a whole.
 *
 * MUST: a name that was read upwards is believed only when it leads, without links, from the top that the kernel named down to
 * the very directory. Otherwise there is no name, and what needs one is refused.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/resolve_internal.h"

#define DEEP_ROOM (3 * PATH_MAX)
#define CHUNK (PATH_MAX - NAME_MAX - 2)
#define ENTRIES 100000 /* more in one directory are not searched */

static bool same_object(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int open_directory(int at, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	long fd = syscall(SYS_openat2, at, path, &how, sizeof(how));

	return fd < 0 ? -ENAMETOOLONG : (int)fd;
}

/* The name of directory ST in directory DIR. */
static int entry_name(int dir, const struct stat *st, char out[NAME_MAX + 1])
{
	struct dirent *e;
	struct stat found;
	int rc = -ENAMETOOLONG;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		if (fd >= 0)
			close(fd);
		return rc;
	}
	for (unsigned n = 0; rc < 0 && n < ENTRIES && (e = readdir(d)); n++) {
		if (e->d_ino != st->st_ino || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(d), e->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 && same_object(&found, st))
			rc = snprintf(out, NAME_MAX + 1, "%s", e->d_name);
	}
	closedir(d);
	return rc;
}

/* The kernel's name of FD into OUT (PATH_MAX bytes); its length, or -ENAMETOOLONG. */
static int short_name(int fd, char *out)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, out, PATH_MAX);
	return n <= 0 || n == PATH_MAX || out[0] != '/' ? -ENAMETOOLONG : (int)n;
}

/* Whether REST, below TOP, leads to ST. REST is taken apart. */
static int leads_down(int top, char *rest, const struct stat *st)
{
	int at CLEANUP_FD = fcntl(top, F_DUPFD_CLOEXEC, 3);
	struct stat found;

	while (at >= 0 && *rest) {
		size_t len = strlen(rest), cut = len;
		if (len > CHUNK) {
			for (cut = CHUNK; cut && rest[cut] != '/'; cut--)
				;
		}
		char was = rest[cut];
		rest[cut] = '\0';
		int next = open_directory(at, rest);
		rest[cut] = was;
		close(at);
		at = next;
		rest += was ? cut + 1 : cut;
	}
	return at >= 0 && fstat(at, &found) == 0 && same_object(&found, st) ? 0 : -ENAMETOOLONG;
}

/* Goes up from FD until the kernel has a name; what is below it is written before END. The top is held in *TOP. */
static int climb(int fd, char *start, char **end, int *top, char *head)
{
	char name[NAME_MAX + 1];
	struct stat st;
	int cur CLEANUP_FD = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int n = -ENAMETOOLONG;

	while (n < 0) {
		if (cur < 0 || fstat(cur, &st) < 0)
			return -ENAMETOOLONG;
		int up = open_directory(cur, "..");
		int len = up < 0 ? up : entry_name(up, &st, name);
		if (up >= 0) {
			close(cur);
			cur = up;
		}
		if (len < 0 || *end - start < len + 1 + PATH_MAX)
			return -ENAMETOOLONG;
		*end -= len;
		memcpy(*end, name, (size_t)len);
		*--*end = '/';
		n = short_name(cur, head);
	}
	*top = steal_fd(&cur);
	return n;
}

int resolve_deep_name(struct job *j, int fd, struct text *out)
{
	char head[PATH_MAX];
	struct stat st;
	int top CLEANUP_FD = -1;
	struct text t = job_alloc(j, DEEP_ROOM);
	char *start = job_text(j, t);

	if (!start)
		return -ENOMEM;
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return -ENAMETOOLONG;
	char *end = start + DEEP_ROOM;
	*end = '\0';
	int n = climb(fd, start, &end, &top, head);
	if (n < 0)
		return n;
	size_t below = strlen(end);
	int rc = leads_down(top, end + 1, &st);
	if (rc < 0)
		return rc;
	if (n == 1)
		n = 0;
	memmove(start + n, end, below);
	memcpy(start, head, (size_t)n);
	job_trim(j, &t, (size_t)n + below);
	*out = t;
	return 0;
}
