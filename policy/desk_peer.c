/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a process of the watched tree is refused, however its ancestors come and
 * go meanwhile: the line of parents is read twice with the same result while a pidfd proves
 * that the peer lives. Everything usher started descends from usher (its guardian adopts orphans). So is another usher, by which the tree of
 * another session would answer.
 */
#include "policy/desk_peer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define DEPTH 256
#define TRIES 20
#define LISTENER "anon_inode:seccomp notify"

struct ancestor {
	pid_t pid;
	pid_t parent;
	unsigned long long born; /* start time, in the kernel's ticks */
};

/* Fields 4 and 22 of /proc/PID/stat; the name before them may hold anything but the last ')'. */
static bool read_ancestor(pid_t pid, struct ancestor *out)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *at = strrchr(text, ')');
	*out = (struct ancestor){ .pid = pid };
	return at && sscanf(at + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			    &out->parent, &out->born) == 2;
}

/* The line of parents from PID up. Returns their number, or -1 when it broke off. */
static int read_line(pid_t pid, struct ancestor line[DEPTH])
{
	for (int n = 0; n < DEPTH; n++) {
		if (!read_ancestor(pid, &line[n]))
			return -1;
		pid = line[n].parent;
		if (pid == 0)
			return n + 1;
	}
	return -1;
}

static bool is_alive(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	return poll(&p, 1, 0) == 0;
}

/* 1: descends from SELF; 0: does not; -1: cannot be told. */
static int descends(pid_t pid, int pidfd, pid_t self)
{
	struct ancestor one[DEPTH] = { 0 }, two[DEPTH] = { 0 };
	for (int try = 0; try < TRIES; try++) {
		int n = read_line(pid, one);
		if (!is_alive(pidfd))
			return -1;
		if (n < 0 || read_line(pid, two) != n || memcmp(one, two, (size_t)n * sizeof(one[0])) != 0)
			continue;
		for (int i = 0; i < n; i++) {
			if (one[i].pid == self)
				return 1;
		}
		return is_alive(pidfd) ? 0 : -1;
	}
	return -1;
}

/* Whether a process, whose directory of descriptors is PATH, shows its memory to others of its user: no usher does (proc(5), suid_dumpable). */
static bool is_dumpable(const char *path, uid_t uid)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid == uid;
}

/*
 * Whether PEER is an usher, which connects for a process of its own tree: it holds a seccomp listener, and keeps its descriptors from others of its
 * user. Who cannot be looked into is taken for one, but for root's: what root lets a tree do is more than an answer. From a user namespace nobody outside
 * can be.
 */
static bool stands_for_another(const struct ucred *peer)
{
	char path[64], to[32];
	if (peer->uid != geteuid())
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd", peer->pid);
	DIR *d = opendir(path);
	bool listens = false, unseen = !d;
	for (const struct dirent *e; !listens && !unseen && (e = readdir(d));) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to));
		unseen = n < 0 && errno != ENOENT && errno != EINVAL;
		listens = n == sizeof(LISTENER) - 1 && memcmp(to, LISTENER, sizeof(LISTENER) - 1) == 0;
	}
	if (d)
		closedir(d);
	return listens || (unseen && !is_dumpable(path, peer->uid));
}

static int peer_pidfd(int fd, pid_t pid)
{
#ifdef SO_PEERPIDFD
	int pidfd = -1;
	socklen_t len = sizeof(pidfd);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
		return pidfd;
#endif
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int desk_peer_check(int fd, pid_t *pid, uid_t *uid)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || cred.pid < 0)
		return -EACCES;
	if (cred.uid != geteuid() && cred.uid != 0)
		return -EACCES;
	*pid = cred.pid;
	*uid = cred.uid;
	if (cred.pid == 0) /* of another pid namespace: nobody can be looked up by that */
		return -EACCES;
	int pidfd CLEANUP_FD = peer_pidfd(fd, cred.pid);
	if (pidfd < 0 || descends(cred.pid, pidfd, getpid()) != 0 || stands_for_another(&cred) || !is_alive(pidfd))
		return -EACCES;
	return 0;
}
