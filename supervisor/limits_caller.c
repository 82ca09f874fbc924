/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/limits_caller.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/job.h"
#include "supervisor/limits.h"

/* Of a caller that usher may not ask, the limit of the rules: it started with no more. */
static rlim_t soft(const struct job *j, __rlimit_resource_t resource, enum limit_kind kind)
{
	struct rlimit l;

	if (prlimit((pid_t)j->notif.pid, resource, NULL, &l) == 0)
		return l.rlim_cur;
	uint64_t at_most = limits_of(j->session->limits, kind);
	return at_most ? at_most : RLIM_INFINITY;
}

bool limits_allow_size(const struct job *j, uint64_t size)
{
	rlim_t most = soft(j, RLIMIT_FSIZE, LIMIT_FILESIZE);

	if (most == RLIM_INFINITY || size <= most)
		return true;
	(void)syscall(SYS_tkill, (pid_t)j->notif.pid, SIGXFSZ);
	if (most == limits_of(j->session->limits, LIMIT_FILESIZE))
		limits_met(j->session->limits, LIMIT_FILESIZE, size);
	return false;
}

void limits_no_number(const struct job *j)
{
	uint64_t most = limits_of(j->session->limits, LIMIT_FILES);

	if (most && soft(j, RLIMIT_NOFILE, LIMIT_FILES) == most)
		limits_met(j->session->limits, LIMIT_FILES, most + 1);
}
