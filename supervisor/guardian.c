/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: async-signal-safe calls only (the process is a fork of usher); no lock, no heap; nothing is decided by errno (beside.h). No signal
 * interrupts a call: all are blocked.
 */
#include "supervisor/guardian.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/rescue.h"

#define WRITES 4 /* a signal may interrupt the command's */
#define LAST_TRIES 40
#define LAST_TRIES_MS 20

static int report_write(int fd, const struct report *r)
{
	for (int i = 0; i < WRITES; i++) {
		if (write(fd, r, sizeof(*r)) == (ssize_t)sizeof(*r))
			return 0;
	}
	return -EPIPE;
}

int report_send(int fd, enum report_kind kind, int value, const char *step)
{
	struct report r = { .kind = kind, .value = value };
	size_t n = step ? strlen(step) : 0;

	if (n >= sizeof(r.step))
		n = sizeof(r.step) - 1;
	if (n)
		memcpy(r.step, step, n);
	return report_write(fd, &r);
}

static int64_t milliseconds(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000 + t.tv_usec / 1000;
}

static int report_exit(int fd, int status, const struct rusage *used)
{
	const struct report r = { .kind = REPORT_EXITED, .value = status, .user_ms = milliseconds(used->ru_utime),
				  .system_ms = milliseconds(used->ru_stime), .peak_kb = used->ru_maxrss };

	return report_write(fd, &r);
}

/*
 * Who asks its parent to trace it (PTRACE_TRACEME, as programs do that want no debugger) is the guardian's, and stands at its next signal. It goes
 * on with that. A SIGTRAP is left out: the kernel sends one behind an exec.
 */
static bool let_go(pid_t pid, int sig)
{
	return ptrace(PTRACE_DETACH, pid, 0, sig == SIGTRAP ? 0 : sig) == 0;
}

/* Reaps whatever ended and reports on the command. Returns false when no child is left; *LOST: usher does not hear of it any more. */
static bool reap(pid_t command, int status, bool *lost)
{
	for (;;) {
		int st;
		struct rusage used;
		pid_t pid = wait4(-1, &st, WNOHANG | WUNTRACED | WCONTINUED, &used);
		if (pid == 0)
			return true;
		if (pid < 0)
			return false;
		if (WIFSTOPPED(st) && let_go(pid, WSTOPSIG(st)))
			continue;
		if (pid != command)
			continue;
		if (WIFSTOPPED(st))
			(void)report_send(status, REPORT_STOPPED, WSTOPSIG(st), NULL);
		else if (WIFCONTINUED(st))
			(void)report_send(status, REPORT_CONTINUED, 0, NULL);
		else if (report_exit(status, st, &used) < 0)
			*lost = true;
	}
}

/* Takes an order, or the end of usher, which may have left a terminal behind. Returns false when the tree is to end. */
static bool obey(const struct guardian *g, bool *told, bool *lost)
{
	char order;
	ssize_t n = read(g->control, &order, 1);

	*lost |= n == 0;
	*told |= n == 1 && order == GUARDIAN_ALONE;
	return n == 1 && order == GUARDIAN_ALONE;
}

struct saving {
	bool done;
	struct rescued so_far;
};

static void save_terminal(struct saving *s, const struct rescue *rescue, bool lost)
{
	if (lost && !s->done)
		s->done = !rescue || rescue_terminal(rescue, &s->so_far);
}

/* With the tree gone there is time, less than the keeper gives. */
static void save_at_last(struct saving *s, const struct rescue *rescue, bool lost)
{
	save_terminal(s, rescue, lost);
	for (unsigned tries = 0; lost && !s->done && tries < LAST_TRIES; tries++) {
		(void)poll(NULL, 0, LAST_TRIES_MS);
		save_terminal(s, rescue, lost);
	}
}

/*
 * The command may have ended because usher was killed, whose descriptors the kernel closes one after another: the last report may have been
 * taken, and the end of the orders not be seen yet.
 */
static bool usher_ends(int control, const struct rescue *rescue)
{
	struct pollfd fd = { control, POLLIN, 0 };

	return (poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP)) || (rescue && rescue_overdue(rescue));
}

void guardian_main(const struct guardian *g)
{
	unsigned round = 0, deaf = 0;
	bool lost = false;
	struct saving saving = { 0 };
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Blocked: it only wakes the loop, whoever sent it. That the keeper has gone is seen by the parent's number. */
	bool killing = prctl(PR_SET_PDEATHSIG, SIGUSR1) < 0 || getppid() != g->keeper;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGUSR1);
	int children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	/* Without it nothing tells of children that end. */
	killing |= children < 0;
	bool alone = !g->alone || g->alone(g->family), told = false;

	while (reap(g->command, g->status, &lost)) {
		struct signalfd_siginfo si[4]; /* two signals, each to the thread and to the process */

		save_terminal(&saving, g->rescue, lost);
		killing |= lost;
		struct pollfd fds[] = { { children, POLLIN, 0 }, { killing ? -1 : g->control, POLLIN, 0 } };
		int n = poll(fds, 2, killing ? guardian_kill_round(KILLER_GUARDIAN, round++) : -1);
		if (n > 0 && fds[0].revents)
			(void)!read(children, si, sizeof(si));
		if (n > 0 && fds[1].revents && !obey(g, &told, &lost))
			killing = true;
		if (told && !alone)
			alone = g->alone(g->family);
		deaf = n < 0 ? deaf + 1 : 0;
		save_terminal(&saving, g->rescue, lost);
		killing |= getppid() != g->keeper || deaf >= GUARDIAN_DEAF;
	}
	save_at_last(&saving, g->rescue, lost || usher_ends(g->control, g->rescue));
	/* usher does not wait for the kernel to take this process apart. */
	(void)report_send(g->status, REPORT_EMPTY, getppid() != g->keeper, NULL);
	_exit(0);
}
