/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/fs.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"

int file_entry(struct job *j, int dirfd, unsigned path, op_set ops, enum entry_want want, struct target **out)
{
	struct look l = { .dirfd = dirfd, .path = j->path[path], .flags = LOOK_PARENT };
	int rc = resolve(j, &l, ops, out);

	if (rc < 0)
		return rc;
	if (want == ENTRY_THERE && !(*out)->exists)
		return -ENOENT;
	if (want == ENTRY_NEW && (*out)->exists)
		return -EEXIST;
	return 0;
}

int file_object(struct job *j, int dirfd, unsigned path, unsigned flags, op_set ops, struct target **out)
{
	struct look l = { .dirfd = dirfd, .path = j->path[path], .flags = flags };

	return resolve(j, &l, ops, out);
}

int file_descriptor(struct job *j, int fd, op_set ops, struct target **out)
{
	int own CLEANUP_FD = caller_fd(j, fd);

	if (own < 0)
		return own;
	int flags = fcntl(own, F_GETFL);
	if (flags < 0 || (flags & O_PATH))
		return -EBADF;
	struct target *t = job_target(j, OBJECT_FILE, ops);
	if (!t)
		return -ENOMEM;
	t->fd = resolve_reopen(own, O_PATH);
	if (t->fd < 0)
		return t->fd;
	*out = t;
	return resolve_describe(j, t);
}

int file_act(struct job *j, bool creates, long (*act)(struct job *j))
{
	struct creds saved;
	int rc = creates ? fs_take_umask(j) : 0;

	if (rc == 0)
		rc = creds_enter(j, CREDS_FS, &saved);
	if (rc < 0)
		return job_error(j, rc);
	long got = act(j);
	creds_leave(&saved);
	return job_result(j, got);
}

const char *file_proc_path(int fd, char out[PROC_PATH])
{
	snprintf(out, PROC_PATH, "/proc/self/fd/%d", fd);
	return out;
}

int entry_redirect(struct job *j, uint32_t index, const struct object *to)
{
	return resolve_redirect(j, &j->target[index], to->name, LOOK_PARENT);
}

int object_redirect(struct job *j, uint32_t index, const struct object *to)
{
	struct target *t = &j->target[index];

	/* A link that was meant itself is replaced by whatever has the other name, itself. */
	return resolve_redirect(j, t, to->name, S_ISLNK(t->mode) ? LOOK_NOFOLLOW : 0);
}
