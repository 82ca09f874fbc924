/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truncate. ftruncate and fallocate are not mediated: they need a descriptor that was opened for writing.
 *
 * A file under a lease makes it wait until the lease is given up, or a signal comes.
 *
 * MUST: the caller's RLIMIT_FSIZE holds, not usher's: EFBIG, and SIGXFSZ to the calling thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/file.h"
#include "supervisor/limits_caller.h"
#include "supervisor/patience.h"
#include "supervisor/reply.h"
#include "supervisor/rows_file.h"

int truncate_check(struct job *j)
{
	return (int64_t)j->arg[1] < 0 ? -EINVAL : 0;
}

int truncate_resolve(struct job *j)
{
	struct target *t;

	j->word[FILE_A] = j->arg[1];
	j->said = j->arg[1];
	return file_object(j, AT_FDCWD, 0, 0, OP_MODIFY, &t);
}

/* Whether the file would grow beyond what the caller may write (inode_newsize_ok() in the kernel). */
static bool beyond_limit(const struct job *j)
{
	struct stat st;

	if (limits_allow_size(j, j->word[FILE_A]))
		return false;
	return fstat(j->target[0].fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size < j->word[FILE_A];
}

/* Under a lease: nothing has happened yet where that wait was interrupted. */
static long truncate_waiting(struct job *j)
{
	char path[FILE_PROC_PATH];
	long rc;

	file_proc_path(j->target[0].fd, path);
	patience_begin(j->worker);
	do
		rc = truncate(path, (off_t)j->word[FILE_A]);
	while (rc < 0 && errno == EINTR && !worker_interrupted(j->worker));
	int error = rc < 0 && errno == EINTR ? ERESTARTSYS : errno;
	patience_end(j->worker);
	errno = error;
	return rc;
}

static long do_truncate(struct job *j)
{
	if (!j->word[FILE_B])
		return truncate_waiting(j);
	/* who may not write is told that first */
	if (syscall(SYS_faccessat2, j->target[0].fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0)
		errno = EFBIG;
	return -1;
}

int truncate_perform(struct job *j)
{
	/* with usher's own credentials: those of the caller may not be enough to look at it, or to signal it */
	j->word[FILE_B] = beyond_limit(j);
	int rc = file_act(j, false, do_truncate);

	if (j->word[FILE_B] && j->reply.value == -EFBIG)
		limits_size_met(j, j->word[FILE_A]);
	return rc;
}
