/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/outside.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/harden.h"
#include "supervisor/run.h"
#include "supervisor/supervise.h"

struct message {
	int stop; /* else the end */
	int status, by_signal;
};

void outside_tell(int link, int status, int by_signal)
{
	const struct message m = { .status = status, .by_signal = by_signal };

	if (link >= 0)
		(void)send(link, &m, sizeof(m), MSG_NOSIGNAL);
}

void outside_stop(int link)
{
	const struct message m = { .stop = 1 };
	char on;

	if (send(link, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m))
		while (recv(link, &on, 1, 0) < 0 && errno == EINTR)
			;
}

/* Both stop; whoever continues this one continues the other. */
static void stop(int inside, int link)
{
	(void)kill(inside, SIGSTOP);
	(void)kill(getpid(), SIGSTOP);
	(void)kill(inside, SIGCONT);
	(void)send(link, "", 1, MSG_NOSIGNAL);
}

/* A terminal's signals reach usher inside by themselves: it is of this process's group. */
static void pass_on(int signals, int inside)
{
	struct signalfd_siginfo si;

	while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_code != SI_KERNEL || si.ssi_signo == SIGCONT)
			(void)kill(inside, (int)si.ssi_signo);
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
	fputs("usher: usher was killed in its namespace, and all that was in it\n", stderr);
	return RUN_FAILED;
}

int outside_main(int inside, int link, int *by_signal)
{
	struct message m = { .stop = 1 };
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
		struct pollfd fds[] = { { link, POLLIN, 0 }, { signals, POLLIN, 0 } };
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			pass_on(signals, inside);
		if (!fds[0].revents)
			continue;
		ssize_t n = recv(link, &m, sizeof(m), 0);
		if (n != (ssize_t)sizeof(m))
			break;
		told = !m.stop;
		if (m.stop)
			stop(inside, link);
	}
	return bury(inside, told, &m, by_signal);
}
