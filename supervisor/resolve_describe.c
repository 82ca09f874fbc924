/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is behind a descriptor: name and identity.
 *
 * MUST: a name is the kernel's own for a held descriptor; the ending " (deleted)" is
 * believed only when the object has lost that name; /proc of foreign processes stays closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "audit/put.h"
#include "rules/cleanup.h"
#include "supervisor/former.h"
#include "supervisor/procs.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"
#include "supervisor/terminals.h"

#define DELETED " (deleted)"
#define DELETED_LEN (sizeof(DELETED) - 1)
#define UNREACHABLE "(unreachable)"

bool on_procfs(const struct job *j, int fd, const struct stat *st)
{
	struct statfs fs;

	if (st->st_dev == j->session->proc_dev)
		return true;
	/* Another procfs has a device number of its own, always an unnamed one, and blocks of the same size, which other kinds seldom have. */
	if (major(st->st_dev) != 0 || st->st_blksize != j->session->proc_block)
		return false;
	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int descriptor_name(struct job *j, int fd, struct text *out)
{
	char number[24];
	struct text t = job_alloc(j, PATH_MAX);

	if (!t.off)
		return -ENOMEM;
	*put_number(number, (uint64_t)fd) = '\0';
	/* From the held directory: the way there costs as much as the reading. */
	ssize_t n = readlinkat(j->session->self_fds, number, job_text(j, t), PATH_MAX);
	int error = errno;
	job_trim(j, &t, n < 0 ? 0 : (size_t)n);
	if (n == PATH_MAX || (n < 0 && error == ENAMETOOLONG))
		return resolve_deep_name(j, fd, out);
	if (n < 0)
		return -error;
	*out = t;
	return 0;
}

/* Whether the name, taken as it stands, leads to the object. */
static bool name_leads_to(const char *name, const struct stat *st)
{
	struct stat other;

	return lstat(name, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static int name_nameless(struct job *j, struct target *t, const struct stat *st)
{
	char *name = job_text(j, t->name);
	bool ends = t->name.len > DELETED_LEN &&
		    memcmp(name + t->name.len - DELETED_LEN, DELETED, DELETED_LEN) == 0;

	if (name[0] != '/') {
		t->kind = OBJECT_MEMFD;
		return 0;
	}
	if (!ends || name_leads_to(name, st))
		return 0;
	if (st->st_nlink == 0 && memcmp(name, "/memfd:", 7) == 0) {
		t->kind = OBJECT_MEMFD;
		memmove(name, name + 1, t->name.len);
		t->name.len -= 1;
	}
	/* A deleted file goes by the name it had. */
	t->name.len -= (uint32_t)DELETED_LEN;
	name[t->name.len] = '\0';
	t->deleted = true;
	return t->kind == OBJECT_FILE ? former_name(j, t, st) : 0;
}

int resolve_guarded(struct job *j)
{
	j->guarded = true;
	return -EACCES;
}

/*
 * NAME lies on a procfs that is mounted elsewhere, a chroot's or a container's, whose process numbers may be another namespace's: open, as rules
 * say, is only reading of what is no process's (the guard's rules on settings name /proc). A mount of a part of it, whose top does not show, is closed.
 */
static int check_other_proc(struct job *j, const struct target *t, struct span name)
{
	struct text top = job_copy(j, name.bytes, name.len);
	char *at = job_text(j, top);
	size_t end = name.len;
	struct stat st;

	if (!at || t->dev == j->session->proc_dev || (t->ops & OPS_WRITE))
		return resolve_guarded(j);
	while (end > 1) {
		at[end] = '\0';
		if (lstat(at, &st) == 0 && st.st_dev == t->dev && st.st_ino == PROC_ROOT_INO)
			break;
		while (end > 1 && at[--end] != '/')
			continue;
	}
	if (end <= 1)
		return resolve_guarded(j);
	bool process = end + 1 < name.len && name.bytes[end + 1] >= '0' && name.bytes[end + 1] <= '9';
	return process ? resolve_guarded(j) : 0;
}

static int check_proc(struct job *j, const struct target *t)
{
	const char *rest;
	size_t len;
	struct span name = job_span(j, t->name);

	if (!name_below(name.bytes, name.len, "/proc", 5))
		return check_other_proc(j, t, name);
	bool writing = t->ops & OPS_WRITE;
	pid_t pid = name_proc(name.bytes, name.len, &rest, &len);
	if (pid < 0 || pid == proc_pid(j->proc))
		return 0;
	if (!procs_inside(j->session->procs, pid))
		return name_proc_public(rest, len) && !writing ? 0 : resolve_guarded(j);
	if (!j->session->unalike || name_proc_outer(rest, len, writing) || procs_shares(j->session->procs, pid, j->proc))
		return 0;
	return resolve_guarded(j);
}

int resolve_describe(struct job *j, struct target *t)
{
	struct stat st;

	return fstat(t->fd, &st) < 0 ? -errno : resolve_describe_as(j, t, &st);
}

int resolve_describe_as(struct job *j, struct target *t, const struct stat *st)
{
	t->kind = OBJECT_FILE;
	target_knows(t, st);
	t->own = terminals_own(j->session->terminals, st);
	int rc = descriptor_name(j, t->fd, &t->name);
	if (rc < 0)
		return rc;
	if (!t->name.len || strncmp(job_text(j, t->name), UNREACHABLE, sizeof(UNREACHABLE) - 1) == 0)
		return -EACCES;
	rc = name_nameless(j, t, st);
	if (rc < 0)
		return rc;
	return t->kind == OBJECT_FILE && on_procfs(j, t->fd, st) ? check_proc(j, t) : 0;
}

int resolve_reopen(int fd, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int got = open(path, (flags & ~(O_NOFOLLOW | O_CREAT)) | O_CLOEXEC);
	return got < 0 ? -errno : got;
}

/* The working directory itself: no right to search it is needed. */
static int resolve_cwd(struct job *j, op_set ops, struct target **out)
{
	struct base base;
	int rc = fs_base(j, AT_FDCWD, &base);

	if (rc < 0)
		return rc;
	struct target *t = job_target(j, OBJECT_FILE, ops);
	if (!t) {
		fs_base_done(&base);
		return -ENOMEM;
	}
	t->fd = base.lent ? fcntl(base.fd, F_DUPFD_CLOEXEC, 3) : base.fd;
	if (t->fd < 0)
		return -errno;
	*out = t;
	return resolve_describe(j, t);
}

int resolve_by_path(struct job *j, const struct target *t)
{
	bool nameless = t->kind == OBJECT_MEMFD || !t->nlink;

	return j->session->apart && nameless && (t->ops & ~(op_set)OP_STAT) ? resolve_guarded(j) : 0;
}

int resolve_fd(struct job *j, int fd, op_set ops, struct target **out)
{
	if (fd == AT_FDCWD)
		return resolve_cwd(j, ops, out);
	int own CLEANUP_FD = caller_fd(j, fd);

	if (own < 0)
		return own;
	struct target *t = job_target(j, OBJECT_FILE, ops);
	if (!t)
		return -ENOMEM;
	/* A path descriptor instead: a second reference to the open file itself would be noticed. */
	t->fd = resolve_reopen(own, O_PATH);
	if (t->fd < 0)
		return t->fd;
	*out = t;
	int rc = resolve_describe(j, t);
	bool by_path = rc == 0 && j->session->apart && (fcntl(own, F_GETFL) & O_PATH);
	return by_path ? resolve_by_path(j, t) : rc;
}

bool resolve_hides(const struct job *j, const struct target *t)
{
	struct target seen = *t;
	struct verdict v = { 0 };
	struct call call;

	if (!(policy_ops(j->session->policy) & OP_STAT))
		return false;
	seen.ops = OP_STAT;
	job_call_about(j, &seen, &call);
	policy_decide(j->session->policy, &call, &v);
	return v.kind == VERDICT_DENY || v.kind == VERDICT_KILL;
}

int resolve_hidden(struct job *j, int fd)
{
	struct target t = { .fd = fd, .dir = -1, .ops = OP_STAT };

	if (!(policy_ops(j->session->policy) & OP_STAT))
		return 0;
	int rc = resolve_describe(j, &t);
	return rc < 0 ? rc : resolve_hides(j, &t);
}
