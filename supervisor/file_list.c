/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getdents under stat rules: entries that stat is denied on are left out.
 *
 * The read is made on the caller's own open directory, so that its position moves as it would natively.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/file.h"
#include "supervisor/memory.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"
#include "supervisor/session.h"

#define LIST_MAX 32768u
#define RECLEN_AT 16
#define NAME_AT_OLD 18
#define NAME_AT_64 19

int getdents_resolve(struct job *j)
{
	struct target *t;

	return file_descriptor(j, (int)j->arg[0], OP_STAT, &t);
}

/* Whether the entry NAME of the listed directory may be seen. */
static bool visible(struct job *j, const char *dir, uint32_t dir_len, const char *name)
{
	char full[4096 + 256 + 2];
	struct call call;
	struct verdict v = { 0 };
	size_t n = strlen(name);

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	if (dir_len + n + 2 > sizeof(full))
		return false;
	memcpy(full, dir, dir_len);
	if (dir_len != 1)
		full[dir_len++] = '/';
	memcpy(full + dir_len, name, n + 1);
	job_call(j, &call);
	call.n_objects = 1;
	call.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_STAT, .name = { full, (uint32_t)(dir_len + n) } };
	policy_decide(j->session->policy, &call, &v);
	return v.kind != VERDICT_DENY && v.kind != VERDICT_KILL;
}

/* Moves what may be seen to the front; returns its length. */
static size_t filter_entries(struct job *j, char *list, size_t len, size_t name_at)
{
	size_t at = 0, out = 0;

	while (at + name_at < len) {
		unsigned short reclen;
		memcpy(&reclen, list + at + RECLEN_AT, sizeof(reclen));
		if (!reclen || at + reclen > len)
			break;
		if (visible(j, job_text(j, j->target[0].name), j->target[0].name.len, list + at + name_at)) {
			memmove(list + out, list + at, reclen);
			out += reclen;
		}
		at += reclen;
	}
	return out;
}

static int list(struct job *j, long nr, size_t name_at)
{
	unsigned room = (unsigned)j->arg[2] < LIST_MAX ? (unsigned)j->arg[2] : LIST_MAX;
	char *buf CLEANUP_FREE = malloc(LIST_MAX);
	int fd CLEANUP_FD = caller_fd(j, (int)j->arg[0]);
	size_t kept = 0;
	long n;

	if (fd < 0)
		return job_error(j, fd);
	if (!buf)
		return job_error(j, -ENOMEM);
	off_t before = lseek(fd, 0, SEEK_CUR);
	/* A run of hidden entries must not look like the end. */
	do {
		n = syscall(nr, fd, buf, room);
		if (n < 0)
			return job_error(j, -errno);
		kept = filter_entries(j, buf, (size_t)n, name_at);
	} while (n > 0 && kept == 0);
	int rc = memory_give(j, j->arg[1], buf, kept);
	if (rc == 0)
		return job_value(j, (int64_t)kept);
	/* What the caller did not get is still to be read. */
	if (before >= 0)
		(void)lseek(fd, before, SEEK_SET);
	return rc == -ESRCH ? job_gone(j) : job_error(j, rc);
}

int getdents64_perform(struct job *j)
{
	return list(j, SYS_getdents64, NAME_AT_64);
}

#ifdef SYS_getdents
int getdents_perform(struct job *j)
{
	return list(j, SYS_getdents, NAME_AT_OLD);
}
#endif
