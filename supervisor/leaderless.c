/* SPDX-License-Identifier: Apache-2.0 */
/* As long as somebody is left in it the group's number is given to no other process. */
#include "supervisor/leaderless.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/proc_text.h"
#include "supervisor/procs.h"
#include "supervisor/session.h"
#include "supervisor/thread_state.h"

#define FORKED_ONLY 0x40 /* PF_FORKNOEXEC: its parent may move it, too */

bool has_execed(pid_t pid)
{
	char text[PROC_STAT];
	unsigned flags;
	const char *behind = proc_stat(pid, text);

	return behind && sscanf(behind, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && !(flags & FORKED_ONLY);
}

/* Who has run a program is moved by itself alone; and while the caller waits, which has no other thread, no child of its own is moved. */
static bool stays(const struct job *j, pid_t pid)
{
	struct thread_state st, parent;
	int proc = j->session->self_proc;

	if (thread_state(proc, pid, &st) < 0 || st.state == THREAD_ZOMBIE)
		return false;
	if (has_execed(pid))
		return true;
	return st.parent == proc_pid(j->proc) && thread_state(proc, st.parent, &parent) == 0 && parent.threads == 1;
}

int leaderless_inside(struct job *j, pid_t group, pid_t *member)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int rc = d ? -ESRCH : -errno;

	*member = 0;
	while (d && rc != -EPERM && (e = readdir(d))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (pid <= 0 || getpgid(pid) != group)
			continue;
		rc = procs_inside(j->session->procs, pid) ? 0 : -EPERM;
		if (rc == 0 && !*member && stays(j, pid))
			*member = pid;
	}
	if (d)
		closedir(d);
	return rc;
}
