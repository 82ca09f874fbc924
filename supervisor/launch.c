/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/launch_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/ahead.h"
#include "supervisor/harden.h"
#include "supervisor/hidden.h"
#include "supervisor/rescue.h"
#include "supervisor/sock_diag.h"

#define PATIENCE_MS 100
#define GUARDIAN_STACK ((size_t)128 * 1024)

/* Where the kernel finds the arguments: one after another, up to the end of the command's last one. */
static void take_name(const struct launch_options *o)
{
	char *const *last = o->argv;

	while (last[0] && last[1])
		last++;
	guardian_name(program_invocation_name, last[0] ? last[0] + strlen(last[0]) + 1 : NULL);
}

/* All that the keeper and the guardian know; the command's part is within it, as they share the memory. */
struct family {
	const struct launch_options *o;
	struct hidden *hidden;
	pid_t keeper;
	int control, status;
	struct beside guardian;
	struct command command;
	bool alone; /* the guardian may have been, and have ended since */
};

/*
 * With the command's program in a memory of its own: what it was told is not for the two to keep, they are called what they are, and who may not
 * look into usher may not look into them. The two have one line of arguments.
 */
static bool alone(void *arg)
{
	struct family *f = arg;

	if (f->alone)
		return true;
	if (!beside_left(&f->command.place))
		return false;
	f->alone = true;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		launch_fail(f->status, "hide the guardian's memory"); /* the keeper ends the tree */
	take_name(f->o);
	hidden_set(f->hidden);
	environ = NULL; /* the command's */
	beside_free(&f->command.place);
	ahead_forget(f->o->ahead);
	return true;
}

static int guardian_start(void *arg)
{
	struct family *f = arg;
	const struct launch_options *o = f->o;
	const int status = f->status;
	const pid_t self = getpid();

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		launch_fail(status, "become the reaper");
	if (o->terminal >= 0 && (setsid() < 0 || ioctl(o->terminal, TIOCSCTTY, 0) < 0))
		launch_fail(status, "make a session on the terminal");
	f->command = (struct command){ .given = o, .guardian = self, .status = status };
	pid_t command = command_start(&f->command);
	if (command < 0)
		launch_fail(status, "fork the command");
	/*
	 * Behind the command, which stays in usher's session: a job whose shell ends has here a parent of another session, as it has in init, and
	 * the kernel takes its group for orphaned (SIGHUP and SIGCONT where it is stopped, EIO instead of SIGTTIN). On a terminal of its own the
	 * command's group, which is not usher's there, needs the guardian's session to be stopped by Ctrl-Z.
	 */
	if (o->terminal < 0)
		(void)setsid();
	int keep[3] = { f->control, status };
	size_t n = 2;
	if (o->rescue)
		keep[n++] = o->rescue->tty;
	if (launch_keep_only(keep, n) < 0)
		launch_fail(status, "close the guardian's descriptors");
	if (harden_child() < 0)
		launch_fail(status, "confine the guardian");
	/* Only now: until here usher's table was ours too, and usher may close what is not its own after this report. */
	if (report_send(status, REPORT_GUARDIAN, self, NULL) < 0 || report_send(status, REPORT_COMMAND, command, NULL) < 0)
		_exit(125);
	(void)prctl(PR_SET_NAME, "guardian");
	guardian_main(&(struct guardian){ command, f->keeper, f->control, status, o->rescue, alone, f });
}

/*
 * What it has started ends before the keeper does: as long as they share usher's descriptor table, they would take what usher opens next in the
 * place of what it closed for their own (the command waits on such descriptors).
 */
static _Noreturn void keeper_fail(pid_t guardian, int status, const char *step)
{
	sigset_t all;

	(void)report_send(status, REPORT_FAILED, errno, step);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	(void)kill(guardian, SIGKILL); /* which ends the command: it is tied to it */
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	_exit(125);
}

static _Noreturn void keeper_start(const struct launch_options *o, struct hidden *hidden, pid_t usher, int control, int status)
{
	struct family f = { .o = o, .hidden = hidden, .keeper = getpid(), .control = control, .status = status };
	int keep[] = { control, status };

	together_apart(o->together);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		launch_fail(status, "become the second reaper");
	pid_t guardian = beside_start(&f.guardian, GUARDIAN_STACK, guardian_start, &f);
	if (guardian < 0)
		launch_fail(status, "fork the guardian");
	if (launch_keep_only(keep, 2) < 0)
		keeper_fail(guardian, status, "close the keeper's descriptors");
	if (harden_child() < 0)
		keeper_fail(guardian, status, "confine the keeper");
	if (report_send(status, REPORT_KEEPER, 0, NULL) < 0)
		keeper_fail(guardian, status, "report");
	close(status);
	(void)prctl(PR_SET_NAME, "doorkeeper");
	if (beside_left(&f.guardian))
		(void)alone(&f);
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
		else if (report->kind == REPORT_ASKER)
			sock_diag_use(s->diag, report->value);
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

int launch_drop(struct session *s, struct ahead *ahead, const struct launch_ends *ends)
{
	int ended = 0;

	ahead_give_up(ahead);
	while (waitpid(s->keeper, &ended, 0) < 0 && errno == EINTR)
		continue;
	close_ends(ends);
	close(steal_fd(&s->status));
	close(steal_fd(&s->control));
	return WIFSIGNALED(ended) ? -ECHILD : 0; /* who kills the keeper has not ended the others */
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

	if (!s->hidden && !(s->hidden = hidden_new()))
		return -ENOMEM;
	hidden_again(s->hidden);
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
	int rc = prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || (s->keeper = beside_fork()) < 0 ? -errno : 0;
	if (rc == 0 && s->keeper == 0)
		keeper_start(o, s->hidden, usher, orders, theirs);
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
