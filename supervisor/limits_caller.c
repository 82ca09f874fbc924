/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/limits_caller.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "supervisor/caller_signal.h"
#include "supervisor/job.h"
#include "supervisor/limits.h"
#include "supervisor/proc_text.h"

/* As /proc tells it: of a caller with another user prlimit() tells it only to who has CAP_SYS_RESOURCE. */
static rlim_t soft_by_name(pid_t tid, const char *line)
{
	char text[2048];
	unsigned long long limit;
	const char *at = proc_text(tid, "limits", text, sizeof(text)) ? strstr(text, line) : NULL;

	return at && sscanf(at + strlen(line), " %llu", &limit) == 1 ? limit : RLIM_INFINITY;
}

static rlim_t soft(const struct job *j, __rlimit_resource_t resource, const char *line)
{
	struct rlimit l;
	pid_t tid = (pid_t)j->notif.pid;

	return prlimit(tid, resource, NULL, &l) == 0 ? l.rlim_cur : soft_by_name(tid, line);
}

static rlim_t soft_size(const struct job *j)
{
	return soft(j, RLIMIT_FSIZE, "\nMax file size");
}

bool limits_allow_size(const struct job *j, uint64_t size)
{
	return size <= soft_size(j);
}

void limits_size_met(const struct job *j, uint64_t size)
{
	caller_signal(j, SIGXFSZ);
	if (soft_size(j) == limits_of(j->session->limits, LIMIT_FILESIZE))
		limits_met(j->session->limits, LIMIT_FILESIZE, size);
}

uint64_t limits_files(const struct job *j)
{
	return soft(j, RLIMIT_NOFILE, "\nMax open files");
}

void limits_no_number(const struct job *j)
{
	uint64_t most = limits_of(j->session->limits, LIMIT_FILES);

	if (most && limits_files(j) == most)
		limits_met(j->session->limits, LIMIT_FILES, most + 1);
}
