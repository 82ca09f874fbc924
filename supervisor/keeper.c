/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: async-signal-safe calls only (the process is a fork of usher); no lock, no heap; nothing is decided by errno (beside.h). */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/guardian.h"

#define GRACE_MS 900

void guardian_name(char *from, const char *to)
{
	static const char name[] = "guardian";
	const size_t room = to > from ? (size_t)(to - from) : 0, n = sizeof(name) - 1;

	if (!room)
		return;
	memset(from, 0, room);
	memcpy(from, name, n < room ? n : room - 1);
}

/* Reaps whatever ended. Returns false when no child is left: all that a wait that does not wait fails with. */
static bool reap(pid_t guardian, bool *gone, int *status)
{
	for (;;) {
		int st;
		pid_t pid = waitpid(-1, &st, WNOHANG);
		if (pid == 0)
			return true;
		if (pid < 0)
			return false;
		if (pid != guardian)
			continue;
		*gone = true;
		*status = !WIFEXITED(st) || WEXITSTATUS(st) != 0;
	}
}

/* A descriptor that tells of SIG, which is blocked; -1: none is to be had. */
static int tells_of(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void keeper_main(pid_t guardian, pid_t usher, int control)
{
	unsigned round = 0, deaf = 0;
	int status = 0;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* As the guardian's: a command that somebody stopped before its exec still holds usher's end of the orders. */
	bool killing = prctl(PR_SET_PDEATHSIG, SIGUSR1) < 0 || getppid() != usher;
	/* Two: the end of usher must not cut short what the guardian is given. */
	int children = tells_of(SIGCHLD), gone = tells_of(SIGUSR1);
	killing |= children < 0 || gone < 0; /* without them nothing tells of ends */

	(void)setsid();
	while (reap(guardian, &killing, &status)) {
		/* Orders are the guardian's to read; that usher has gone shows without asking for anything. */
		struct pollfd fds[] = { { children, POLLIN, 0 }, { control, 0, 0 }, { gone, POLLIN, 0 } };
		struct signalfd_siginfo si[2]; /* to the thread and to the process */

		int n = poll(fds, killing ? 1 : 3, killing ? guardian_kill_round(KILLER_KEEPER, round++) : -1);
		if (n > 0 && !killing && (fds[1].revents || getppid() != usher)) {
			/* The guardian sees it too and is left its work: whoever killed usher may be about to kill this process. */
			killing = true;
			(void)poll(fds, 1, GRACE_MS);
		}
		deaf = n < 0 ? deaf + 1 : 0; /* no signal interrupts it: all are blocked */
		killing |= deaf >= GUARDIAN_DEAF;
		/* Whoever sent it: it only wakes. */
		if (fds[0].revents)
			(void)!read(children, si, sizeof(si));
		if (fds[2].revents)
			(void)!read(gone, si, sizeof(si));
	}
	_exit(status);
}
