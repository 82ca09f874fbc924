/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: async-signal-safe calls only (the process is a fork of usher); no lock, no heap. */
#include "supervisor/guardian.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/rescue.h"

#define MAX_SCAN 16384

void report_send(int fd, enum report_kind kind, int value, const char *step)
{
	struct report r = { .kind = kind, .value = value };
	size_t n = step ? strlen(step) : 0;
	ssize_t done;

	if (n >= sizeof(r.step))
		n = sizeof(r.step) - 1;
	if (n)
		memcpy(r.step, step, n);
	do
		done = write(fd, &r, sizeof(r));
	while (done < 0 && errno == EINTR);
}

struct relation {
	pid_t pid;
	pid_t parent;
	bool below; /* descends from the guardian */
};

static char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	*at = '\0';
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

static size_t scan(struct relation *all, size_t cap)
{
	int fd CLEANUP_FD = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[16384];
	size_t n = 0;

	for (;;) {
		long got = fd < 0 ? -1 : syscall(SYS_getdents64, fd, buf, sizeof(buf));
		if (got <= 0)
			return n;
		for (long at = 0; at < got && n < cap;) {
			struct dirent64_raw *d = (void *)(buf + at);
			at += d->d_reclen;
			if (d->d_name[0] < '1' || d->d_name[0] > '9')
				continue;
			pid_t parent = parent_of(d->d_name);
			if (parent > 0)
				all[n++] = (struct relation){ (pid_t)strtol(d->d_name, NULL, 10), parent, false };
		}
	}
}

static void mark(struct relation *all, size_t n, pid_t self)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (all[i].below)
				continue;
			bool child = all[i].parent == self;
			for (size_t k = 0; !child && k < n; k++)
				child = all[k].below && all[k].pid == all[i].parent;
			all[i].below = child;
			more |= child;
		}
	}
}

/* One round: nobody below may fork any more, then everybody dies. */
void guardian_kill_round(pid_t self)
{
	static struct relation all[MAX_SCAN]; /* too large for a stack; this process has one thread and one use for it */
	const struct rlimit none = { 0, 0 };
	size_t n = scan(all, MAX_SCAN);

	mark(all, n, self);
	for (size_t i = 0; i < n; i++) {
		if (all[i].below)
			(void)prlimit(all[i].pid, RLIMIT_NPROC, &none, NULL);
	}
	for (size_t i = 0; i < n; i++) {
		if (all[i].below)
			kill(all[i].pid, SIGKILL);
	}
}

/* Reaps whatever ended and reports on the command. Returns false when no child is left. */
static bool reap(pid_t command, int status)
{
	for (;;) {
		int st;
		pid_t pid = waitpid(-1, &st, WNOHANG | WUNTRACED | WCONTINUED);
		if (pid == 0)
			return true;
		if (pid < 0)
			return errno == EINTR;
		if (pid != command)
			continue;
		if (WIFSTOPPED(st))
			report_send(status, REPORT_STOPPED, WSTOPSIG(st), NULL);
		else if (WIFCONTINUED(st))
			report_send(status, REPORT_CONTINUED, 0, NULL);
		else
			report_send(status, REPORT_EXITED, st, NULL);
	}
}

static bool ordered_to_kill(int control, const struct rescue *rescue)
{
	char order;
	ssize_t n = read(control, &order, 1);

	if (n == 0 && rescue)
		rescue_terminal(rescue);
	return n == 0 || (n > 0 && order == GUARDIAN_KILL);
}

void guardian_main(pid_t command, int control, int status, const struct rescue *rescue)
{
	pid_t self = getpid();
	bool killing = false;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	int children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	while (reap(command, status)) {
		struct pollfd fds[] = { { children, POLLIN, 0 }, { killing ? -1 : control, POLLIN, 0 } };
		struct signalfd_siginfo si;

		if (killing)
			guardian_kill_round(self);
		int n = poll(fds, 2, killing ? 2 : -1);
		if (n > 0 && fds[0].revents)
			while (read(children, &si, sizeof(si)) > 0)
				;
		if (n > 0 && fds[1].revents && ordered_to_kill(control, rescue))
			killing = true;
	}
	_exit(0);
}
