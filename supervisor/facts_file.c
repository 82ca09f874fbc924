/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is there now, for people: the objects of a call, how a name leads to them, and what a rename would change.
 *
 * MUST: contents are read through the held object and only of regular files, never through a name; a name is followed
 * with readlink() alone.
 */
#include "supervisor/facts_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define LINKS_MAX 12

static const char *type_word(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symbolic link";
	case S_IFSOCK:
		return "socket";
	case S_IFIFO:
		return "pipe";
	default:
		return "device";
	}
}

int fact_hold(const struct job *j, const struct target *t)
{
	char leaf[NAME_MAX + 1];
	struct stat st;

	if (t->fd >= 0)
		return fcntl(t->fd, F_DUPFD_CLOEXEC, 3);
	if (!t->exists || t->dir < 0 || !t->leaf.off || t->leaf.len >= sizeof(leaf))
		return -1;
	struct span name = job_span(j, t->leaf);
	memcpy(leaf, name.bytes, name.len);
	leaf[name.len] = '\0';
	int fd CLEANUP_FD = openat(t->dir, leaf, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != t->dev || st.st_ino != t->ino)
		return -1;
	return steal_fd(&fd);
}

int fact_now(const struct job *j, const struct target *t, char *out, size_t cap)
{
	struct stat st;
	char when[32];
	struct tm tm;
	int fd CLEANUP_FD = fact_hold(j, t);

	if (!t->exists)
		return snprintf(out, cap, "does not exist");
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (!localtime_r(&st.st_mtime, &tm) || !strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm))
		return 0;
	return snprintf(out, cap, "%s, %" PRId64 " bytes, mode %04o, owner %u, changed %s", type_word(st.st_mode),
			(int64_t)st.st_size, (unsigned)st.st_mode & 07777, (unsigned)st.st_uid, when);
}

ssize_t fact_read(int object, char *out, size_t cap)
{
	char path[64];
	struct stat st;

	if (object < 0 || fstat(object, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", object);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -1 : pread(fd, out, cap, 0);
}

/* The first part of PATH (as thread TID sees it) that is a link: its length, and TO what it holds. 0: there is none. */
static size_t first_link(pid_t tid, const char *path, char to[PATH_MAX])
{
	char name[PATH_MAX + 64];

	for (size_t end = 1; path[end - 1]; end++) {
		if (path[end] && path[end] != '/')
			continue;
		if ((size_t)snprintf(name, sizeof(name), "/proc/%d/root%.*s", (int)tid, (int)end, path) >= sizeof(name))
			return 0;
		ssize_t n = readlink(name, to, PATH_MAX - 1);
		if (n > 0) {
			to[n] = '\0';
			return end;
		}
		if (errno == ENOENT || errno == EACCES)
			return 0;
	}
	return 0;
}

/* PATH with its first END bytes, a link to TO, replaced. False when it gets too long. */
static bool follow(char path[PATH_MAX], size_t end, const char *to)
{
	char next[PATH_MAX];
	size_t dir = end;

	while (dir > 0 && path[dir - 1] != '/')
		dir--;
	int n = to[0] == '/' ? snprintf(next, sizeof(next), "%s%s", to, path + end) :
			       snprintf(next, sizeof(next), "%.*s%s%s", (int)dir, path, to, path + end);
	if (n < 0 || (size_t)n >= sizeof(next))
		return false;
	memcpy(path, next, (size_t)n + 1);
	return true;
}

size_t fact_links(pid_t tid, const char *cwd, struct span named, char *out, size_t cap)
{
	char path[PATH_MAX], to[PATH_MAX];
	size_t used = 0, end;

	if (!named.len || (named.bytes[0] != '/' && !cwd))
		return 0;
	int n = named.bytes[0] == '/' ? snprintf(path, sizeof(path), "%.*s", (int)named.len, named.bytes) :
					snprintf(path, sizeof(path), "%s/%.*s", cwd, (int)named.len, named.bytes);
	if (n < 0 || (size_t)n >= sizeof(path))
		return 0;
	for (int links = 0; links < LINKS_MAX && (end = first_link(tid, path, to)) > 0; links++) {
		n = snprintf(out + used, cap - used, "%s%.*s -> %s", used ? ", " : "", (int)end, path, to);
		if (n < 0 || (size_t)n >= cap - used || !follow(path, end, to))
			break;
		used += (size_t)n;
	}
	return used;
}
