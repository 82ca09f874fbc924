/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: async-signal-safe calls only (the process is a fork of usher); no lock, no heap. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/guardian.h"

#define GRACE_MS 500
#define ARG_START 48 /* fields of /proc/PID/stat, from 1 */
#define ARG_END 49

/* Where the kernel finds this process's arguments; 0 when it does not tell. */
static size_t arguments(char **start)
{
	char text[1024];
	int fd CLEANUP_FD = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uintptr_t from = 0, to = 0;

	if (n <= 0)
		return 0;
	text[n] = '\0';
	char *at = strrchr(text, ')');
	for (int field = 2; at && field < ARG_END; field++) {
		at = strchr(at, ' ');
		if (!at)
			return 0;
		at++;
		if (field + 1 == ARG_START)
			from = (uintptr_t)strtoull(at, NULL, 10);
		if (field + 1 == ARG_END)
			to = (uintptr_t)strtoull(at, NULL, 10);
	}
	if (!from || to <= from)
		return 0;
	*start = (char *)from; /* NOLINT(performance-no-int-to-ptr) */
	return to - from;
}

void guardian_name(const char *name)
{
	char *at = NULL;
	size_t room = arguments(&at), n = strlen(name);

	(void)prctl(PR_SET_NAME, name);
	if (!room)
		return;
	memset(at, 0, room);
	memcpy(at, name, n < room ? n : room - 1);
}

/* Reaps whatever ended. Returns false when no child is left. */
static bool reap(pid_t guardian, bool *gone, int *status)
{
	for (;;) {
		int st;
		pid_t pid = waitpid(-1, &st, WNOHANG);
		if (pid == 0)
			return true;
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return errno != ECHILD;
		if (pid != guardian)
			continue;
		*gone = true;
		*status = !WIFEXITED(st) || WEXITSTATUS(st) != 0;
	}
}

void keeper_main(pid_t guardian, int control)
{
	pid_t self = getpid();
	unsigned round = 0, deaf = 0;
	bool killing = false;
	int status = 0;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	int children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	killing = children < 0; /* without it nothing tells of children that end */

	(void)setsid();
	while (reap(guardian, &killing, &status)) {
		/* Orders are the guardian's to read; that usher has gone shows without asking for anything. */
		struct pollfd fds[] = { { children, POLLIN, 0 }, { control, 0, 0 } };
		struct signalfd_siginfo si;

		int n = poll(fds, killing ? 1 : 2, killing ? guardian_kill_round(self, round++) : -1);
		if (n > 0 && !killing && fds[1].revents) {
			/* The guardian sees it too and is left its work: whoever killed usher may be about to kill this process. */
			killing = true;
			(void)poll(fds, 1, GRACE_MS);
		}
		deaf = n < 0 && errno != EINTR ? deaf + 1 : 0;
		killing |= deaf >= GUARDIAN_DEAF;
		while (read(children, &si, sizeof(si)) > 0)
			;
	}
	_exit(status);
}
