/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/harden.h"
#include "supervisor/limits.h"
#include "supervisor/outside_peer.h"
#include "supervisor/run.h"
#include "supervisor/supervise.h"
#include "supervisor/voice.h"

#define PERIOD_MS 100

enum word { THE_END, STOP_BOTH, STOP_OUTSIDE, GO_ON };

struct message {
	enum word word;
	int sig; /* to stop by */
	bool group; /* all of usher's process group */
	int status, by_signal;
};

void outside_tell(int link, int status, int by_signal)
{
	const struct message m = { .word = THE_END, .status = status, .by_signal = by_signal };

	if (link >= 0)
		(void)send(link, &m, sizeof(m), MSG_NOSIGNAL);
}

static bool tell(int link, const struct message *m)
{
	return send(link, m, sizeof(*m), MSG_NOSIGNAL) == (ssize_t)sizeof(*m);
}

/* Until the process outside goes on. When a limit has ended the tree it is told, again and again: the first word may come before it has stopped. */
static void await_measured(int link, struct limits *limits)
{
	const struct message go_on = { .word = GO_ON };
	struct pollfd fd = { link, POLLIN, 0 };

	while (poll(&fd, 1, PERIOD_MS) <= 0) {
		if (limits_reached(limits))
			(void)send(link, &go_on, sizeof(go_on), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static void drop(int sig)
{
	const struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	(void)sigtimedwait(&set, NULL, &now);
}

bool outside_stop(int link, int sig, bool group, struct limits *limits)
{
	bool measured = limits_measured(limits);
	const struct message m = { .word = measured ? STOP_OUTSIDE : STOP_BOTH, .sig = sig, .group = group };
	char stopped = 0;

	if (!tell(link, &m))
		return false;
	if (measured)
		await_measured(link, limits);
	while (recv(link, &stopped, 1, 0) < 0 && errno == EINTR)
		;
	if (group)
		drop(sig); /* this process is one of the group */
	if (!stopped)
		drop(SIGCONT); /* what let it go on again after a stop that was none outside says nothing to the command */
	return stopped;
}

/* Both stop; whoever continues this one continues the other. */
static bool stop_both(int inside, const struct message *m)
{
	(void)kill(inside, SIGSTOP);
	bool stopped = supervise_stop(m->sig, m->group);
	(void)kill(inside, SIGCONT);
	return stopped;
}

/* A word from inside continues this process while it is stopped: it has no child that could (those would be inside), and may make none. */
static bool hear_stopped(int link, bool on)
{
	int flags = fcntl(link, F_GETFL);

	return flags >= 0 && fcntl(link, F_SETSIG, SIGCONT) == 0 && fcntl(link, F_SETOWN, getpid()) == 0 &&
	       fcntl(link, F_SETFL, on ? flags | O_ASYNC : flags & ~O_ASYNC) == 0;
}

static bool stop_outside(int link, const struct message *m)
{
	bool stopped = hear_stopped(link, true) && supervise_stop(m->sig, m->group);

	(void)hear_stopped(link, false);
	return stopped;
}

static void stop(int inside, int link, const struct message *m)
{
	const char stopped = m->word == STOP_OUTSIDE ? stop_outside(link, m) : stop_both(inside, m);

	(void)send(link, &stopped, 1, MSG_NOSIGNAL);
}

/* A terminal's signals reach usher inside by themselves: it is of this process's group, which it tells itself of keys that it has read. A hang-up is told to the session's leader alone. */
static bool for_inside(const struct signalfd_siginfo *si, int inside)
{
	if (si->ssi_code == SI_USER && (int)si->ssi_pid == inside)
		return false;
	return si->ssi_code != SI_KERNEL || si->ssi_signo == SIGCONT || (si->ssi_signo == SIGHUP && getsid(0) == getpid());
}

static void pass_on(int signals, int inside)
{
	struct signalfd_siginfo si;

	while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			supervise_reap(inside);
		else if (for_inside(&si, inside))
			supervise_pass_on(inside, &si);
	}
}

/* What is left when usher said nothing: it was killed. */
static int bury(int inside, bool told, struct message *m, int *by_signal)
{
	while (waitpid(inside, NULL, 0) < 0 && errno == EINTR)
		;
	*by_signal = m->by_signal;
	if (told)
		return m->status;
	struct voice *voice = voice_new(STDERR_FILENO);
	voice_say(voice, "usher: usher was killed in its namespace, and all that was in it\n");
	(void)voice_finish(voice, VOICE_PATIENCE_MS);
	return RUN_FAILED;
}

int outside_main(int inside, int link, int peers, int *by_signal)
{
	struct message m = { .word = GO_ON };
	sigset_t before;
	int signals;
	bool told = false;

	(void)signal(SIGCHLD, SIG_DFL);
	if (harden_start() < 0 || supervise_block(&before, &signals) < 0 || harden_child() < 0) {
		(void)kill(inside, SIGKILL);
		return bury(inside, false, &m, by_signal);
	}
	(void)prctl(PR_SET_NAME, "usher-outside");
	while (!told) {
		struct pollfd fds[] = { { link, POLLIN, 0 }, { signals, POLLIN, 0 }, { peers, POLLIN, 0 } };
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			pass_on(signals, inside);
		if (fds[2].revents & POLLIN)
			outside_peer_answer(peers);
		else if (fds[2].revents)
			peers = -1;
		if (!fds[0].revents)
			continue;
		ssize_t n = recv(link, &m, sizeof(m), 0);
		if (n != (ssize_t)sizeof(m))
			break;
		told = m.word == THE_END;
		if (m.word == STOP_BOTH || m.word == STOP_OUTSIDE)
			stop(inside, link, &m);
	}
	return bury(inside, told, &m, by_signal);
}
