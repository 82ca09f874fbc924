/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: async-signal-safe calls only (the process is a fork of usher); no lock, no heap. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/guardian.h"

#define MAX_SCAN 65536
#define FULL_EVERY 16
#define HURRY 50000 /* rounds without a pause: who forks in a loop is beaten by nothing else */
#define PATIENCE (HURRY + 5000) /* ten seconds later: what is left waits in the kernel, for a file system, and ends when that answers */
#define PASSES 8
#define PID_LIMIT (4 * 1024 * 1024) /* the kernel's own */

struct relation {
	pid_t pid;
	pid_t parent;
};

/* Too large for a stack; each who kills has its own. */
struct space {
	struct relation all[MAX_SCAN];
	uint64_t below[(PID_LIMIT + 63) / 64]; /* by pid: descends from the process that kills */
};

static struct space spaces[KILLERS];

static bool is_below(const struct space *s, pid_t pid)
{
	return s->below[pid / 64] >> (pid % 64) & 1;
}

static void set_below(struct space *s, pid_t pid)
{
	s->below[pid / 64] |= UINT64_C(1) << (pid % 64);
}

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	*at = '\0';
	return at;
}

/* V in decimal, within BUF. */
static char *decimal(char buf[16], pid_t v)
{
	char *at = buf + 15;

	*at = '\0';
	for (; v > 0; v /= 10)
		*--at = (char)('0' + v % 10);
	return at;
}

/* The parent of the process in directory NAME of /proc, or -1. The name in its stat may hold anything but the last ')'. */
static pid_t parent_of(const char *name)
{
	char path[64], text[512];

	put_text(put_text(put_text(path, "/proc/"), name), "/stat");
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	char *end = strrchr(text, ')');
	if (!end || strlen(end) < 5)
		return -1;
	return (pid_t)strtol(end + 4, NULL, 10);
}

struct dirent64_raw {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

static size_t scan(struct space *s)
{
	int fd CLEANUP_FD = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[16384];
	size_t n = 0;

	for (;;) {
		long got = fd < 0 ? -1 : syscall(SYS_getdents64, fd, buf, sizeof(buf));
		if (got <= 0)
			return n;
		for (long at = 0; at < got && n < MAX_SCAN;) {
			struct dirent64_raw *d = (void *)(buf + at);
			at += d->d_reclen;
			if (d->d_name[0] < '1' || d->d_name[0] > '9')
				continue;
			pid_t pid = (pid_t)strtol(d->d_name, NULL, 10), parent = parent_of(d->d_name);
			if (pid < PID_LIMIT && parent > 0 && parent < PID_LIMIT)
				s->all[n++] = (struct relation){ pid, parent };
		}
	}
}

/* Numbers grow from parent to child but for where they start again: a pass or two. */
static void mark(struct space *s, size_t n, pid_t self)
{
	memset(s->below, 0, sizeof(s->below));
	set_below(s, self);
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (is_below(s, s->all[i].pid) || !is_below(s, s->all[i].parent))
				continue;
			set_below(s, s->all[i].pid);
			more = true;
		}
	}
}

/* A number that was read some time ago may be somebody else's by now, unless it is a child of ours that was not reaped. */
static void end_held(const struct relation *r)
{
	const struct rlimit none = { 0, 0 };
	char name[16];
	int fd CLEANUP_FD = (int)syscall(SYS_pidfd_open, r->pid, 0);

	if (fd < 0 || parent_of(decimal(name, r->pid)) != r->parent)
		return;
	(void)prlimit(r->pid, RLIMIT_NPROC, &none, NULL);
	(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
}

/* Everybody below, parents first: who has lost its parent meanwhile is found by the next round. */
static void kill_all(struct space *s, pid_t self)
{
	size_t n = scan(s);

	mark(s, n, self);
	for (size_t i = 0; i < n; i++) {
		if (is_below(s, s->all[i].pid) && s->all[i].pid != self)
			end_held(&s->all[i]);
	}
}

static void kill_listed(int fd)
{
	const struct rlimit none = { 0, 0 };
	char text[4096];
	ssize_t got;
	pid_t pid = 0;

	while ((got = read(fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid > 1) {
				kill(pid, SIGKILL);
				(void)prlimit(pid, RLIMIT_NPROC, &none, NULL);
			}
			pid = 0;
		}
	}
}

/*
 * Our own children, as fast as they can be read: who forks and exits in a loop is gone before a scan of /proc is through,
 * but each of its children is ours at once.
 */
static void kill_children(pid_t self)
{
	char path[96], name[16];

	put_text(put_text(put_text(path, "/proc/self/task/"), decimal(name, self)), "/children");
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC);
	for (int pass = 0; fd >= 0 && pass < PASSES; pass++) {
		kill_listed(fd);
		(void)lseek(fd, 0, SEEK_SET);
	}
}

int guardian_kill_round(enum killer who, unsigned round)
{
	const pid_t self = getpid();

	if (round % FULL_EVERY == 0)
		kill_all(&spaces[who], self);
	else
		kill_children(self);
	if (round < HURRY)
		return 0;
	return round < PATIENCE ? 2 : 50;
}
