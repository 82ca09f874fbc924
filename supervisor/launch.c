/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/pages.h"
#include "supervisor/ahead.h"
#include "supervisor/cover.h"
#include "supervisor/filter.h"
#include "supervisor/floor.h"
#include "supervisor/harden.h"
#include "supervisor/isolate.h"
#include "supervisor/limits.h"
#include "supervisor/path_search.h"
#include "supervisor/privileges.h"
#include "supervisor/rescue.h"

#define PATIENCE_MS 100

/* As fork(), but the descriptor table stays shared. */
static pid_t fork_sharing_files(void)
{
	return (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
}

static _Noreturn void fail(int status, const char *step)
{
	(void)report_send(status, REPORT_FAILED, errno, step);
	_exit(125);
}

/* Takes a descriptor table of its own that holds 0, 1, 2 and what is in KEEP (ascending, above 2). */
static int keep_only(const int *keep, size_t n)
{
	unsigned from = 3;

	/* The call that unshares is not one that the filter stops: nobody receives yet. */
	if (close_range(~0U, ~0U, CLOSE_RANGE_UNSHARE) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned)keep[i] > from && close_range(from, (unsigned)keep[i] - 1, 0) < 0)
			return -1;
		from = (unsigned)keep[i] + 1;
	}
	return close_range(from, ~0U, 0);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Handlers end with the exec; what usher itself was started to ignore stays ignored. */
static void restore_signals(const struct launch_options *o)
{
	if (o->ignore_children)
		(void)signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &o->mask, NULL);
}

static void restore_limits(const struct launch_options *o)
{
	const struct rlimit none = { 0, 0 };

	(void)setrlimit(RLIMIT_NOFILE, &o->files);
	/* A core dump is a file written by the kernel, past every rule. */
	(void)setrlimit(RLIMIT_CORE, &none);
}

static int take_terminal(int terminal)
{
	if (setpgid(0, 0) < 0 || tcsetpgrp(terminal, getpgrp()) < 0)
		return -1;
	for (int fd = 0; fd < 3; fd++) {
		if (isatty(fd) && dup2(terminal, fd) < 0)
			return -1;
	}
	return 0;
}

/* Built here, where usher has not: it makes the journal meanwhile. */
static void install_filter(const struct launch_options *o, int status, int *listener)
{
	const char *why = "build the seccomp filter";
	struct sock_fprog program;
	int rc = o->program ? 0 : filter_build(&o->filter, &program, &why);

	if (rc < 0) {
		errno = -rc;
		fail(status, why);
	}
	if (filter_install(o->program ? o->program : &program, listener) < 0)
		fail(status, "install the seccomp filter");
}

/*
 * Returns only when that failed. The program's own PATH counts, as with env(1); where rules leave access(2) alone directories without it are
 * passed over, as each would be an exec to answer. execvpe() searches the PATH of environ, which is not what the program gets. Not from
 * the heap: a thread of usher may have held its lock when this process was forked.
 */
static void run_program(const struct launch_options *o)
{
	environ = (char **)(uintptr_t)o->envp;
	const char *all = getenv("PATH"), *path = o->filter.trap_stat ? all : path_search(all, o->argv[0]);
	const size_t size = path ? strlen(path) + sizeof("PATH=") : 0;
	char *search = path != all ? pages_new(size) : NULL;
	char *only[] = { search, NULL };

	if (search) {
		(void)snprintf(search, size, "PATH=%s", path);
		environ = only;
	}
	execvpe(o->argv[0], o->argv, (char *const *)(uintptr_t)o->envp);
}

static void tie(pid_t guardian, int status)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != guardian)
		fail(status, "tie the command to its guardian");
}

static _Noreturn void command_main(const struct launch_options *o, pid_t guardian, int status)
{
	int listener = -1;
	int keep[64];
	size_t n = 0;

	int rc = isolate_enter(o->isolation);
	if (rc < 0) {
		errno = -rc;
		fail(status, "enter the network namespace");
	}
	rc = cover_enter(o->cover);
	if (rc < 0) {
		errno = -rc;
		fail(status, "enter the mount namespace");
	}
	tie(guardian, status); /* again: a change of credentials has ended it */
	restore_limits(o);
	rc = limits_enter(o->limits);
	if (rc < 0) {
		errno = -rc;
		fail(status, "limit the command");
	}
	rc = o->network_stays ? privileges_leave_network() : 0;
	if (rc < 0) {
		errno = -rc;
		fail(status, "lay down CAP_NET_ADMIN");
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail(status, "set no_new_privs");
	if (o->floor >= 0 && floor_enter(o->floor) < 0)
		fail(status, "enter the Landlock domain");
	install_filter(o, status, &listener);
	keep[n++] = status;
	if (o->terminal >= 0)
		keep[n++] = o->terminal;
	for (size_t i = 0; i < o->n_keep && n < sizeof(keep) / sizeof(keep[0]); i++)
		keep[n++] = o->keep[i];
	qsort(keep, n, sizeof(keep[0]), by_number);
	if (keep_only(keep, n) < 0)
		fail(status, "close inherited descriptors");
	for (size_t i = 0; i < o->n_keep; i++) /* harden_start() has marked all that was inherited */
		(void)fcntl(o->keep[i], F_SETFD, 0);
	if (report_send(status, REPORT_LISTENER, listener, NULL) < 0)
		_exit(125); /* usher sees the end of all three */
	if (o->terminal >= 0 && take_terminal(o->terminal) < 0)
		fail(status, "take the terminal");
	if (o->terminal >= 3)
		close(o->terminal);
	restore_signals(o);
	run_program(o);
	int error = errno;
	(void)report_send(status, REPORT_EXEC_FAILED, error, NULL);
	_exit(error == ENOENT ? 127 : 126);
}

static _Noreturn void command_begin(const struct launch_options *given, pid_t guardian, int status)
{
	struct launch_options o = *given;

	tie(guardian, status);
	if (o.ahead && !ahead_await(o.ahead, &o))
		_exit(125);
	command_main(&o, guardian, status);
}

/* Where the kernel finds this process's arguments: one after another, up to the end of the command's last one. */
static void take_name(const struct launch_options *o, const char *name)
{
	char *const *last = o->argv;

	while (last[0] && last[1])
		last++;
	guardian_name(name, program_invocation_name, last[0] ? last[0] + strlen(last[0]) + 1 : NULL);
}

static _Noreturn void guardian_start(const struct launch_options *o, pid_t keeper, int control, int status)
{
	pid_t self = (pid_t)syscall(SYS_getpid);

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		fail(status, "become the reaper");
	if (o->terminal >= 0 && (setsid() < 0 || ioctl(o->terminal, TIOCSCTTY, 0) < 0))
		fail(status, "make a session on the terminal");
	pid_t command = fork_sharing_files();
	if (command < 0)
		fail(status, "fork the command");
	if (command == 0)
		command_begin(o, self, status);
	ahead_forget(o->ahead);
	int keep[3] = { control, status };
	size_t n = 2;
	if (o->rescue)
		keep[n++] = o->rescue->tty;
	qsort(keep, n, sizeof(keep[0]), by_number);
	if (keep_only(keep, n) < 0)
		fail(status, "close the guardian's descriptors");
	if (harden_child() < 0)
		fail(status, "confine the guardian");
	/* Only now: until here usher's table was ours too, and usher may close what is not its own after this report. */
	if (report_send(status, REPORT_GUARDIAN, self, NULL) < 0 || report_send(status, REPORT_COMMAND, command, NULL) < 0)
		_exit(125);
	take_name(o, "guardian");
	guardian_main(command, keeper, control, status, o->rescue);
}

static _Noreturn void keeper_start(const struct launch_options *o, pid_t usher, int control, int status)
{
	pid_t self = (pid_t)syscall(SYS_getpid);

	together_apart(o->together);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		fail(status, "become the second reaper");
	pid_t guardian = fork_sharing_files();
	if (guardian < 0)
		fail(status, "fork the guardian");
	if (guardian == 0)
		guardian_start(o, self, control, status);
	ahead_forget(o->ahead);
	int keep[] = { control < status ? control : status, control < status ? status : control };
	if (keep_only(keep, 2) < 0)
		fail(status, "close the keeper's descriptors");
	if (harden_child() < 0)
		fail(status, "confine the keeper");
	if (report_send(status, REPORT_KEEPER, 0, NULL) < 0)
		_exit(125);
	close(status);
	take_name(o, "doorkeeper");
	keeper_main(guardian, usher, control);
}

static int next_report(const struct session *s, struct report *report)
{
	ssize_t n;

	do
		n = read(s->status, report, sizeof(*report));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(*report);
}

int launch_report(struct session *s, struct report *report)
{
	if (!s->n_early)
		return next_report(s, report);
	*report = s->early[0];
	s->n_early--;
	memmove(s->early, s->early + 1, s->n_early * sizeof(s->early[0]));
	return 1;
}

/* A command that cannot be run may have ended before all the others are there. */
static void keep_early(struct session *s, const struct report *report)
{
	if (s->n_early < EARLY_REPORTS)
		s->early[s->n_early++] = *report;
}

/*
 * A report is there, or usher's own copy of the other end is the last one: that stays open as long as the table may be shared, so that
 * the end of the keeper, which outlives the others, is looked for as well.
 */
static int await_report(const struct session *s)
{
	struct pollfd fd = { s->status, POLLIN, 0 };

	for (;;) {
		siginfo_t ended = { 0 };
		int n = poll(&fd, 1, PATIENCE_MS);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (waitid(P_PID, (id_t)s->keeper, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 || ended.si_pid == 0)
			continue;
		return poll(&fd, 1, 0) > 0 ? 0 : -ECHILD;
	}
}

/* Until all have a descriptor table of their own, and the pids and the listener are known. */
static int await_start(struct session *s, struct report *report)
{
	bool keeper = false;

	memset(report, 0, sizeof(*report));
	s->command = -1;
	s->guardian = -1;
	s->listener = -1;
	while (s->command < 0 || s->listener < 0 || !keeper) {
		int rc = await_report(s);
		if (rc < 0)
			return rc;
		rc = next_report(s, report);
		if (rc <= 0)
			return rc < 0 ? rc : -ECHILD;
		if (report->kind == REPORT_COMMAND)
			s->command = report->value;
		else if (report->kind == REPORT_GUARDIAN)
			s->guardian = report->value;
		else if (report->kind == REPORT_KEEPER)
			keeper = true;
		else if (report->kind == REPORT_LISTENER)
			s->listener = report->value;
		else if (report->kind == REPORT_FAILED)
			return report->value > 0 ? -report->value : -EPERM;
		else
			keep_early(s, report);
	}
	return 0;
}

static void close_ends(const struct launch_ends *ends)
{
	close(ends->status);
	close(ends->orders);
}

void launch_drop(struct session *s, const struct ahead *ahead, const struct launch_ends *ends)
{
	ahead_give_up(ahead);
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		continue;
	close_ends(ends);
	close(steal_fd(&s->status));
	close(steal_fd(&s->control));
}

int launch_await(struct session *s, const struct launch_ends *ends, struct report *report)
{
	int rc = await_start(s, report);

	close_ends(ends);
	return rc;
}

int launch(struct session *s, const struct launch_options *o, struct launch_ends *ends)
{
	int pair[2], control[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	int ours CLEANUP_FD = pair[0], theirs = pair[1];
	if (pipe2(control, O_CLOEXEC) < 0) {
		close(theirs);
		return -errno;
	}
	int orders = control[0], order CLEANUP_FD = control[1];
	pid_t usher = getpid();
	/* usher is a reaper too: should the others be killed, the tree comes to usher and not to init. */
	int rc = prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || (s->keeper = fork_sharing_files()) < 0 ? -errno : 0;
	if (rc == 0 && s->keeper == 0)
		keeper_start(o, usher, orders, theirs);
	together_stay(o->together);
	if (rc < 0) {
		close(theirs);
		close(orders);
		return rc;
	}
	ends->status = theirs;
	ends->orders = orders;
	s->status = steal_fd(&ours);
	s->control = steal_fd(&order);
	return 0;
}
