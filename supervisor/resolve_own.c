/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc shows a process of itself.
 *
 * A process that has changed its user without an exec (seteuid, a daemon that gave up root) belongs to root in /proc. The kernel lets it
 * use its own descriptors and maps there all the same, since it is itself; a thread of usher's is not, whatever credentials it has taken.
 *
 * MUST: true only for the caller's own thread group, and never for more than the kernel gives that one.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"

static bool descriptors(const char *rest, size_t len)
{
	if (len > 5 && memcmp(rest, "task/", 5) == 0) {
		const char *slash = memchr(rest + 5, '/', len - 5);
		if (!slash)
			return false;
		len -= (size_t)(slash + 1 - rest);
		rest = slash + 1;
	}
	return (len == 2 && memcmp(rest, "fd", 2) == 0) || (len == 6 && memcmp(rest, "fdinfo", 6) == 0);
}

bool resolve_own_process(struct job *j, int fd, enum own_kind kind)
{
	char number[16], name[PATH_MAX];
	const char *rest;
	size_t len;
	struct stat st;

	if (!j->session->privileged || fstat(fd, &st) < 0 || st.st_dev != j->session->proc_dev)
		return false;
	snprintf(number, sizeof(number), "%d", fd);
	ssize_t n = readlinkat(j->session->self_fds, number, name, sizeof(name));
	if (n <= 0 || name_proc(name, (size_t)n, &rest, &len) != proc_pid(j->proc))
		return false;
	return descriptors(rest, len) || (kind == OWN_READABLE && S_ISREG(st.st_mode) && (st.st_mode & 0444) == 0444);
}
