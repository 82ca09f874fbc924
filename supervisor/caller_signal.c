/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/caller_signal.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/job.h"
#include "supervisor/kernel.h"
#include "supervisor/memory.h"

void caller_signal(const struct job *j, int signal)
{
	/* Held first and looked at then: a caller that is killed in between leaves its number to nobody. */
	int fd CLEANUP_FD = (int)syscall(SYS_pidfd_open, (pid_t)j->notif.pid, PIDFD_THREAD);

	if (!job_alive(j))
		return;
	if (fd >= 0)
		(void)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
	else
		(void)syscall(SYS_tkill, (pid_t)j->notif.pid, signal);
}
