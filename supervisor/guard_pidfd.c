/* SPDX-License-Identifier: Apache-2.0 */
/* A signal through a pidfd: a sibling thread could put another pidfd in its place, so usher sends it through its own duplicate. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/kernel.h"
#include "supervisor/memory.h"
#include "supervisor/net_ids.h"
#include "supervisor/proc_text.h"
#include "supervisor/procs.h"
#include "supervisor/rows_guard.h"
#include "supervisor/session.h"

#define TO_GROUP 4 /* PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9 */
/* PIDFD_SELF_THREAD and PIDFD_SELF_THREAD_GROUP, Linux 6.14: no descriptors, and usher's would be usher itself */
#define SELF_THREAD (-10000)
#define SELF_PROCESS (-10001)

/* The process a pidfd stands for: its number, -EBADF when it is no pidfd, -ESRCH when the process is gone. */
static int pidfd_pid(int pidfd)
{
	char name[64], text[512];

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", pidfd);
	const char *line = file_text(name, text, sizeof(text)) ? strstr(text, "\nPid:") : NULL;
	if (!line)
		return -EBADF;
	int pid = atoi(line + 5);
	return pid > 0 ? pid : -ESRCH;
}

/* The process that the caller names, by a descriptor of usher's own. */
static int named(struct job *j, int fd)
{
	if (fd != SELF_THREAD && fd != SELF_PROCESS)
		return caller_fd(j, fd);
	if (syscall(__NR_pidfd_send_signal, fd, 0, NULL, 0) < 0)
		return -EBADF; /* this kernel does not know it */
	int got = fd == SELF_THREAD ? (int)syscall(SYS_pidfd_open, (pid_t)j->notif.pid, PIDFD_THREAD)
				    : (int)syscall(SYS_pidfd_open, proc_pid(j->proc), 0);
	return got < 0 ? -errno : got;
}

int guard_pidfd(struct job *j)
{
	siginfo_t info;

	if (j->arg[2]) {
		int rc = memory_read((pid_t)j->notif.pid, j->arg[2], &info, sizeof(info));
		if (rc < 0)
			return rc;
		j->data[0] = job_copy(j, &info, sizeof(info));
		if (!j->data[0].off)
			return -ENOMEM;
	}
	j->sock = named(j, (int)j->arg[0]);
	if (j->sock < 0)
		return j->sock;
	int pid = pidfd_pid(j->sock);
	if (pid == -EBADF)
		return pid;
	if (pid > 0 && !procs_inside(j->session->procs, pid))
		return -EPERM;
	if (pid < 0 && j->arg[3] & TO_GROUP)
		return -EPERM; /* the group outlives its leader, and whose it was nobody can say any more */
	return 0;
}

/* As the caller: it may signal whom it may by its own ids and powers, and not whom usher may. */
int guard_pidfd_perform(struct job *j)
{
	struct net_ids mine;
	siginfo_t info;

	if (j->data[0].off)
		memcpy(&info, job_text(j, j->data[0]), sizeof(info));
	int rc = net_ids_enter(j, &mine);
	if (rc < 0)
		return job_error(j, rc);
	long sent = syscall(__NR_pidfd_send_signal, j->sock, (int)j->arg[1], j->data[0].off ? &info : NULL, (unsigned)j->arg[3]);
	net_ids_leave(&mine); /* leaves errno as it was */
	return job_result(j, sent);
}
