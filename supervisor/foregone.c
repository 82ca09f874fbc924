/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A person is not asked for what the kernel refuses anyway: an entry that must be new and exists, a file or directory that
 * this user may not write, a raw socket for somebody without powers.
 *
 * MUST: a name that a rule on stat hides, or a call that would have done something, is never answered here.
 */
#include "supervisor/foregone.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "policy/policy.h"
#include "supervisor/kernel.h"
#include "supervisor/session.h"

/* Whether the caller may not know whether object number I is there. */
static bool hidden(const struct job *j, const struct call *call, uint32_t i)
{
	struct call stat = *call;
	struct verdict v;

	stat.n_objects = 1;
	stat.object[0] = call->object[i];
	stat.object[0].ops = OP_STAT;
	policy_decide(j->session->policy, &stat, &v);
	return v.kind != VERDICT_ALLOW;
}

static bool opens(const char *call)
{
	return strncmp(call, "open", 4) == 0;
}

/* Whether the entry that target T names must not be there yet. (Of mkdir, link and the like resolving has seen to that.) */
static bool must_be_new(const struct job *j, const char *call, const struct target *t)
{
	if (!(t->ops & OP_CREATE) || t->want_dir)
		return false;
	if (opens(call))
		return (j->said & O_CREAT) && (j->said & O_EXCL);
	return strncmp(call, "rename", 6) == 0 && (j->said & RENAME_NOREPLACE);
}

/* What the file's or directory's own permissions say to MODE (of access(2)); 0 also where it cannot be told. */
static int may(int fd, int mode)
{
	struct statvfs fs;

	if (fd < 0 || faccessat(fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0)
		return 0;
	if (errno != EACCES && errno != EROFS)
		return 0;
	int error = -errno;
	/* Of two reasons the kernel has its own order. */
	return error == -EACCES && (fstatvfs(fd, &fs) < 0 || (fs.f_flag & ST_RDONLY)) ? 0 : error;
}

static int may_open(const struct target *t)
{
	int mode = (t->ops & OP_READ ? R_OK : 0) | (t->ops & OP_MODIFY ? W_OK : 0);

	return mode && S_ISREG(t->mode) ? may(t->fd, mode) : 0;
}

/* Entries come and go in directories that the caller may write. */
static int may_enter(const char *call, const struct target *t)
{
	bool makes = (t->ops & OP_CREATE) && (!t->exists || strncmp(call, "rename", 6) == 0);
	bool removes = (t->ops & OP_DELETE) && t->exists;

	return makes || removes ? may(t->dir, W_OK | X_OK) : 0;
}

/* Raw and packet sockets take CAP_NET_RAW, which nobody in the tree has where usher itself has no powers. */
static int socket_refused(const struct job *j, const struct call *call)
{
	const struct span *name = &call->object[0].name;
	bool raw = (name->len > 4 && memcmp(name->bytes, "raw:", 4) == 0) || (name->len == 6 && memcmp(name->bytes, "packet", 6) == 0);

	return raw && !j->session->privileged ? -EPERM : 0;
}

static int target_refused(const struct job *j, const struct call *call, uint32_t i)
{
	const struct target *t = &j->target[i];

	if (t->kind != OBJECT_FILE || t->tentative || t->magic)
		return 0;
	if (t->exists && must_be_new(j, call->syscall, t))
		return hidden(j, call, i) ? 0 : -EEXIST;
	/* The caller has this thread's rights only as the same user; usher's own root never lets a caller seem refused. */
	if (j->uid != geteuid() || hidden(j, call, i))
		return 0;
	return opens(call->syscall) && t->exists ? may_open(t) : may_enter(call->syscall, t);
}

int foregone(struct job *j, const struct call *call)
{
	if (j->redirected || (call->object[0].ops & OP_EXEC))
		return 0;
	if (call->object[0].kind == OBJECT_SOCKET)
		return socket_refused(j, call);
	for (uint32_t i = 0; i < j->n_targets && i < call->n_objects; i++) {
		int rc = target_refused(j, call, i);
		if (rc < 0)
			return rc;
	}
	return 0;
}
