/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX message queues: names of the IPC namespace, decided on as the files of /dev/mqueue that they are, mounted or not.
 *
 * MUST: the kernel takes a name without a slash only; one with a slash fails there, whatever was decided.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/open.h"
#include "supervisor/rows_guard.h"

#define PREFIX "/dev/mqueue/"

static int name_target(struct job *j, op_set ops)
{
	struct target *t = job_target(j, OBJECT_FILE, ops);
	size_t len = j->path[0].len;
	struct text name = job_alloc(j, sizeof(PREFIX) - 1 + len);

	if (!t || !name.off)
		return -ENOMEM;
	memcpy(j->arena + name.off, PREFIX, sizeof(PREFIX) - 1);
	memcpy(j->arena + name.off + sizeof(PREFIX) - 1, j->arena + j->path[0].off, len);
	t->name = name;
	t->named = j->path[0];
	return 0;
}

int mq_open_resolve(struct job *j)
{
	int flags = (int)j->arg[1];
	op_set ops = (flags & O_ACCMODE) == O_RDONLY ? OP_READ : (flags & O_ACCMODE) == O_WRONLY ? OP_MODIFY : OP_READ | OP_MODIFY;

	j->said = (uint32_t)flags | (flags & O_CREAT ? (j->arg[2] & 07777) << SAYS_ABOVE : 0);
	if (j->arg[3]) {
		int rc = memory_copy(j, j->arg[3], sizeof(struct mq_attr), &j->data[0]);
		if (rc < 0)
			return rc;
	}
	return name_target(j, flags & O_CREAT ? ops | OP_CREATE : ops);
}

static long do_open(struct job *j)
{
	struct mq_attr attr;

	if (j->data[0].off)
		memcpy(&attr, job_text(j, j->data[0]), sizeof(attr));
	return syscall(__NR_mq_open, job_text(j, j->path[0]), (int)j->arg[1], (mode_t)j->arg[2], j->data[0].off ? &attr : NULL);
}

/* The kernel makes every queue's descriptor close-on-exec. */
int mq_open_perform(struct job *j)
{
	/* A path descriptor, which can do nothing with a queue, usher cannot give: no queue is made for one. */
	if ((int)j->arg[1] & O_PATH)
		return job_error(j, -EBADF);
	/* Nor without a number. */
	int rc = (int)j->arg[1] & O_CREAT ? open_room(j) : 0;

	if (rc < 0)
		return job_error(j, rc);
	rc = file_act(j, true, do_open);
	if (j->reply.kind != REPLY_VALUE)
		return rc;
	return job_inject(j, (int)j->reply.value, O_CLOEXEC);
}

int mq_unlink_resolve(struct job *j)
{
	return name_target(j, OP_DELETE);
}

static long do_unlink(struct job *j)
{
	return syscall(__NR_mq_unlink, job_text(j, j->path[0]));
}

int mq_unlink_perform(struct job *j)
{
	return file_act(j, false, do_unlink);
}
