/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/vfork_stop.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "supervisor/proc_text.h"
#include "supervisor/procs_kernel.h"

struct standing {
	char state;
	int parent;
	int group;
};

static bool standing_of(pid_t pid, struct standing *out)
{
	char text[PROC_STAT];
	const char *behind = proc_stat(pid, text);

	return behind && sscanf(behind, ") %c %d %d", &out->state, &out->parent, &out->group) == 3;
}

/* Stopped in memory that is its parent's, who waits for it in the kernel. */
static bool holds_up(pid_t pid, pid_t group)
{
	struct standing child, parent;

	return standing_of(pid, &child) && child.state == 'T' && child.group == group && standing_of(child.parent, &parent) &&
	       parent.state == 'D' && thread_same_memory(pid, child.parent);
}

bool vfork_stop_end(pid_t group)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	bool any = false;

	while (d && (e = readdir(d))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (pid > 0 && holds_up(pid, group) && kill(pid, SIGCONT) == 0)
			any = true;
	}
	if (d)
		closedir(d);
	return any;
}
