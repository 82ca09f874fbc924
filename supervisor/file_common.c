/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/fs.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

bool file_may_rewrite(const struct job *j)
{
	const struct ruleset *layer;

	for (size_t i = 0; (layer = policy_layer(j->session->policy, i)); i++) {
		if (ruleset_can(layer, VERDICT_REWRITE))
			return true;
	}
	return false;
}

bool file_rewritten(struct job *j)
{
	struct call call;
	struct verdict v = { 0 };

	if (!file_may_rewrite(j))
		return false;
	job_call(j, &call);
	policy_decide(j->session->policy, &call, &v);
	return v.kind == VERDICT_REWRITE;
}

bool file_led(struct job *j, uint32_t index)
{
	struct call call;
	struct verdict v = { 0 };

	job_call_alone(j, index, &call);
	policy_decide(j->session->policy, &call, &v);
	return v.kind == VERDICT_REWRITE;
}

bool file_hidden(struct job *j, uint32_t index)
{
	struct call call;
	struct verdict v = { 0 };

	if (!(policy_ops(j->session->policy) & OP_STAT))
		return false;
	job_call_alone(j, index, &call);
	call.object[0].ops = OP_STAT;
	policy_decide(j->session->policy, &call, &v);
	return v.kind != VERDICT_ALLOW;
}

/* Where the call was asked about as a whole, what was asked about this object is answered. */
static bool stays(const struct job *j, const struct verdict *v)
{
	return v->kind == VERDICT_ALLOW || (v->kind == VERDICT_ASK && j->answered && j->verdict.kind == VERDICT_ALLOW);
}

static int redirect_one(struct job *j, uint32_t index, int (*redirect)(struct job *j, uint32_t index, const struct object *to))
{
	char name[PATH_MAX];
	struct call call;
	struct verdict v = { 0 };
	struct object to = { 0 };
	size_t len;

	job_call_alone(j, index, &call);
	policy_decide(j->session->policy, &call, &v);
	if (stays(j, &v))
		return j->target[index].dir < 0 && j->target[index].fd < 0 ? -ENOENT : 0;
	if (v.kind != VERDICT_REWRITE)
		return -EPERM;
	int rc = rule_rewrite(v.rule, &call.object[0], name, &len, &to);
	if (rc < 0)
		return rc;
	to.name = (struct span){ name, (uint32_t)len };
	j->led_by = v.rule;
	j->target[index].asked = j->target[index].name;
	return redirect(j, index, &to);
}

int file_redirect_others(struct job *j, uint32_t index, int (*redirect)(struct job *j, uint32_t index, const struct object *to))
{
	for (uint32_t i = 0; i < j->n_targets; i++) {
		int rc = i == index ? 0 : redirect_one(j, i, redirect);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A name that is too long is as good as missing where the kernel looks at directories before entries. */
static bool held_too_long(struct job *j, int rc, struct target **out)
{
	struct target *last = j->n_targets ? &j->target[j->n_targets - 1] : NULL;

	if (rc != -ENAMETOOLONG || !last || last->dir < 0)
		return false;
	*out = last;
	return true;
}

int file_missing(int dir)
{
	struct statvfs fs;

	return fstatvfs(dir, &fs) == 0 && (fs.f_flag & ST_RDONLY) ? -EROFS : -ENOENT;
}

int file_entry(struct job *j, int dirfd, unsigned path, op_set ops, enum entry_want want, struct target **out)
{
	struct look l = { .dirfd = dirfd, .path = j->path[path], .flags = LOOK_PARENT };

	if (path == 1 && j->late)
		return j->late;
	if (file_may_rewrite(j))
		l.flags |= LOOK_ABSENT;
	else if (!j->full && (want == ENTRY_NEW || (want == ENTRY_THERE && !j->session->identity)))
		l.flags |= LOOK_BLIND; /* where it is allowed the kernel says itself whether it is there */
	int rc = resolve(j, &l, ops, out);
	if (want == ENTRY_EITHER && held_too_long(j, rc, out))
		return 0;
	if (want == ENTRY_THERE && held_too_long(j, rc, out) && file_missing((*out)->dir) == -EROFS)
		return -EROFS;
	if (rc < 0)
		return rc;
	if ((*out)->dir < 0 && !file_rewritten(j))
		return -ENOENT;
	if ((*out)->tentative)
		return 0;
	if (want == ENTRY_THERE && !(*out)->exists)
		return file_rewritten(j) ? 0 : file_missing((*out)->dir);
	if (want == ENTRY_NEW && (*out)->exists) /* whoever may not know of it hears of the verdict first, and of it only where that allows */
		return file_rewritten(j) || file_hidden(j, (uint32_t)(*out - j->target)) ? 0 : -EEXIST;
	return 0;
}

int file_object(struct job *j, int dirfd, unsigned path, unsigned flags, op_set ops, struct target **out)
{
	struct look l = { .dirfd = dirfd, .path = j->path[path], .flags = flags };

	if (file_may_rewrite(j))
		l.flags |= LOOK_MISSING | LOOK_ABSENT;
	int rc = resolve(j, &l, ops, out);
	if (rc == 0 && !(*out)->exists && !file_rewritten(j))
		return -ENOENT;
	return rc;
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

/* O_PATH is EBADF in the kernel then, where it is allowed; else it is found here. */
int file_opened(struct job *j, int fd, op_set ops, struct target **out)
{
	cleanup_fd(&j->sock);
	j->sock = -1;
	if (j->full)
		return file_descriptor(j, fd, ops, out);
	j->sock = caller_fd(j, fd);
	if (j->sock < 0)
		return j->sock;
	struct target *t = job_target(j, OBJECT_FILE, ops);
	if (!t)
		return -ENOMEM;
	*out = t;
	t->tentative = true;
	t->fd = j->sock;
	int rc = resolve_describe(j, t);
	t->fd = -1;
	return rc;
}

int file_again(struct job *j, int fd)
{
	struct stat st;

	j->sock = caller_fd(j, fd);
	if (j->sock < 0)
		return j->sock;
	return fstat(j->sock, &st) < 0 || st.st_dev != j->target[0].dev || st.st_ino != j->target[0].ino ? -EBADF : 0;
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

void file_removed_directory(struct job *j, uint64_t ino)
{
	if (j->worker && j->reply.kind == REPLY_VALUE)
		pool_removed(j->worker, ino);
}

const char *file_proc_path(int fd, char out[FILE_PROC_PATH])
{
	snprintf(out, FILE_PROC_PATH, "/proc/self/fd/%d", fd);
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
	return resolve_redirect(j, t, to->name, t->nofollow || S_ISLNK(t->mode) ? LOOK_NOFOLLOW : 0);
}

int entries_redirect(struct job *j, uint32_t index, const struct object *to)
{
	int rc = entry_redirect(j, index, to);

	return rc < 0 ? rc : file_redirect_others(j, index, entry_redirect);
}

int file_seen(struct job *j, int dirfd, unsigned look)
{
	struct look l = { .dirfd = dirfd, .path = j->path[0], .flags = look | LOOK_MISSING | LOOK_ABSENT };
	struct target *t;

	if (!file_may_rewrite(j))
		return file_object(j, dirfd, 0, look, OP_STAT, &t);
	int rc = resolve(j, &l, OP_READ, &t);
	if (rc == 0 && file_rewritten(j))
		rc = file_redirect_others(j, UINT32_MAX, object_redirect);
	if (rc < 0)
		return rc;
	t->ops = OP_STAT;
	return t->exists ? 0 : -ENOENT;
}
