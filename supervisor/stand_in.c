/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/stand_in.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/limits.h"

#define PERIOD_MS 100

static void let_go(const struct session *s)
{
	(void)close(s->control);
	(void)close(s->status);
	(void)close(s->listener);
}

static _Noreturn void stand_in_main(const struct session *s)
{
	sigset_t all;

	let_go(s);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != s->usher)
		_exit(1);
	while (!limits_over(s->limits))
		(void)poll(NULL, 0, PERIOD_MS);
	/* Until usher ends this process: the first may come before it has stopped. */
	for (;;) {
		(void)kill(s->usher, SIGCONT);
		(void)poll(NULL, 0, PERIOD_MS);
	}
}

pid_t stand_in_start(const struct session *s)
{
	if (!limits_measured(s->limits))
		return 0;
	pid_t pid = limits_fork(s->limits);
	if (pid == 0)
		stand_in_main(s);
	return pid < 0 ? -errno : pid;
}

void stand_in_end(pid_t stand_in)
{
	if (stand_in <= 0)
		return;
	(void)kill(stand_in, SIGKILL);
	while (waitpid(stand_in, NULL, 0) < 0 && errno == EINTR)
		;
}
