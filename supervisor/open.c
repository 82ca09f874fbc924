/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open, openat, openat2, creat.
 *
 * MUST:
 *  - nothing is created or truncated before the verdict; what a name was decided to be (new or existing) is
 *    what the performer insists on;
 *  - a tentative name is opened so that any link makes it fail, and decided again in full then;
 *  - usher's own terminal, /proc and O_NONBLOCK never reach the caller in place of its own.
 */
#include "supervisor/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/policy.h"
#include "rules/cleanup.h"
#include "supervisor/creds.h"
#include "supervisor/file.h"
#include "supervisor/fs.h"
#include "supervisor/gains.h"
#include "supervisor/kernel.h"
#include "supervisor/making.h"
#include "supervisor/procs.h"
#include "supervisor/resolve.h"
#include "supervisor/resolve_name.h"
#include "supervisor/rows_file.h"
#include "supervisor/session.h"
#include "supervisor/terminals.h"
#include "supervisor/worker.h"

/* What is there afterwards is a regular file, and nobody's but the caller's yet. */
static bool makes_new(const struct job *j)
{
	return open_creates(j) && (j->word[OPEN_FLAGS] & O_EXCL);
}

/* What access to the content is asked for. Mode 3 needs both, as in the kernel. */
static op_set access_ops(const struct job *j)
{
	uint64_t flags = j->word[OPEN_FLAGS], acc = flags & O_ACCMODE;
	op_set ops = 0;

	if (acc != O_WRONLY)
		ops |= OP_READ;
	if (acc != O_RDONLY || (flags & O_TRUNC))
		ops |= OP_MODIFY;
	return ops;
}

/* A new file has no content to be modified; reading what one has just created is still reading. */
static op_set new_ops(const struct job *j)
{
	return OP_CREATE | (op_set)(access_ops(j) & OP_READ);
}

static op_set ops_before(const struct job *j)
{
	if (open_temporary(j))
		return OP_CREATE;
	if (!open_creates(j))
		return access_ops(j);
	return j->word[OPEN_FLAGS] & O_EXCL ? new_ops(j) : OP_CREATE | access_ops(j);
}

/* A path descriptor grants nothing but a look: it needs stat, where some rule speaks of it. */
static int resolve_path_only(struct job *j)
{
	if (!(policy_ops(j->session->policy) & OP_STAT))
		return 0;
	struct target *t;
	struct look l = { (int)j->word[OPEN_DIRFD], j->path[0], 0, j->word[OPEN_RESOLVE] };

	if (j->word[OPEN_FLAGS] & O_NOFOLLOW)
		l.flags |= LOOK_NOFOLLOW;
	if (j->word[OPEN_FLAGS] & O_DIRECTORY)
		l.flags |= LOOK_DIRECTORY;
	if (file_may_rewrite(j))
		l.flags |= LOOK_MISSING | LOOK_ABSENT;
	int rc = resolve(j, &l, OP_STAT, &t);
	return rc == 0 && !t->exists && !file_rewritten(j) ? -ENOENT : rc;
}

/* RC of a walk by hand after ENOTDIR, to FD: EISDIR where the last link has a slash behind the name that it says, and leads to a file. */
static int to_file(int rc, int fd)
{
	return rc == -ENOTDIR && fd >= 0 ? -EISDIR : -ENOTDIR;
}

static int leads_to_file(struct job *j, struct look l)
{
	struct target *t;

	job_drop_targets(j);
	l.flags = (l.flags & LOOK_NOFOLLOW) | LOOK_STEPS;
	int rc = resolve(j, &l, ops_before(j), &t);
	return to_file(rc, j->n_targets ? j->target[0].fd : -1);
}

int open_resolve(struct job *j)
{
	uint64_t flags = j->word[OPEN_FLAGS];
	bool exclusive = makes_new(j);
	struct look l = { (int)j->word[OPEN_DIRFD], j->path[0], LOOK_TENTATIVE, j->word[OPEN_RESOLVE] };
	struct split sp;
	struct target *t;

	if (flags & O_PATH)
		return resolve_path_only(j);
	if ((flags & O_NOFOLLOW) || exclusive)
		l.flags |= LOOK_NOFOLLOW;
	if (flags & O_DIRECTORY)
		l.flags |= LOOK_DIRECTORY;
	if (file_may_rewrite(j))
		l.flags |= LOOK_MISSING | LOOK_ABSENT;
	else if (open_creates(j))
		l.flags |= LOOK_MISSING;
	name_split(job_text(j, l.path), l.path.len, &sp);
	/* O_CREAT with a slash behind the name is EISDIR once the directory is found. */
	if (open_creates(j) && sp.slash && !sp.dots)
		l.flags |= LOOK_PARENT;
	int rc = resolve(j, &l, ops_before(j), &t);
	if (rc == -ENOTDIR && open_creates(j))
		return leads_to_file(j, l);
	if (rc < 0 || t->tentative)
		return rc;
	if (l.flags & LOOK_PARENT) {
		rc = t->dir < 0 ? resolve_led_above(j, t) : 0;
		return rc < 0 ? rc : -EISDIR;
	}
	if (exclusive && t->exists) {
		if (file_rewritten(j))
			return 0;
		if (!file_hidden(j, 0))
			return -EEXIST;
		t->ops = new_ops(j); /* as if it were not there: perform knows that it is */
		return 0;
	}
	if (!t->exists && (!open_creates(j) || t->dir < 0))
		return file_rewritten(j) ? 0 : -ENOENT;
	if (open_creates(j))
		t->ops = t->exists ? access_ops(j) : new_ops(j);
	/* A pipe or socket that the tree has: opened again it is the same one, and no rule can name it. */
	if (t->magic && t->kind == OBJECT_MEMFD && !S_ISREG(t->mode))
		t->ops = OP_STAT;
	return 0;
}

int open_check(struct job *j)
{
	j->word[OPEN_DIRFD] = (uint64_t)AT_FDCWD;
	return open_flags(j, j->arg[1], j->arg[2], 0, false);
}

int openat_check(struct job *j)
{
	j->word[OPEN_DIRFD] = j->arg[0];
	return open_flags(j, j->arg[2], j->arg[3], 0, false);
}

int creat_check(struct job *j)
{
	j->word[OPEN_DIRFD] = (uint64_t)AT_FDCWD;
	return open_flags(j, O_CREAT | O_WRONLY | O_TRUNC, j->arg[1], 0, false);
}

int openat2_check(struct job *j)
{
	j->word[OPEN_DIRFD] = j->arg[0];
	return open_how_copy(j, j->arg[2], j->arg[3]);
}

int open_inject(struct job *j, int fd)
{
	if (fd < 0)
		return job_error(j, fd);
	return job_inject(j, fd, (uint32_t)j->word[OPEN_FLAGS] & O_CLOEXEC);
}

/* What is neither a file nor a directory. */
int open_inject_special(struct job *j, int fd, const struct stat *st)
{
	return fd >= 0 && open_takes_terminal(j, fd, st) ? open_take_terminal(j, fd) : open_inject(j, fd);
}

/* The kernel refuses what is no directory before it opens it; neither a directory nor a new file makes anybody wait. */
static uint64_t without_waiting(const struct job *j)
{
	return (j->word[OPEN_FLAGS] & O_DIRECTORY) || makes_new(j) ? 0 : O_NONBLOCK;
}

int open_named(struct job *j, int dir, const char *name, uint64_t more, uint64_t resolve_flags)
{
	uint64_t flags = j->word[OPEN_FLAGS] | more | O_CLOEXEC | O_NOCTTY | without_waiting(j);
	struct open_how how = { flags, j->word[OPEN_MODE], resolve_flags };
	struct creds saved;

	if (open_creates(j) || open_temporary(j)) {
		int rc = fs_take_umask(j);
		if (rc < 0)
			return rc;
	}
	int rc = creds_enter(j, CREDS_FS, &saved);
	if (rc < 0)
		return rc;
	long fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
	rc = fd < 0 ? -errno : (int)fd;
	creds_leave(&saved);
	return rc;
}

/* The same, where it may make T's name. -EAGAIN: that is another by now. */
static int open_making(struct job *j, const struct target *t, int dir, const char *name, uint64_t more)
{
	const uint64_t plain = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

	if (!open_creates(j))
		return open_named(j, dir, name, more, plain);
	int rc = making_begin(j, t);
	if (rc)
		return rc < 0 ? rc : -EAGAIN;
	rc = open_named(j, dir, name, more, plain);
	making_end(j);
	return rc;
}

/* Files and directories: takes off the O_NONBLOCK that was only ours. */
int open_restore_flags(const struct job *j, int fd)
{
	int flags = (int)j->word[OPEN_FLAGS];

	if (fd >= 0 && !(flags & O_NONBLOCK) && without_waiting(j))
		(void)fcntl(fd, F_SETFL, flags);
	return fd;
}

/* Whether an object on /proc may be opened under a tentative name: the caller's own, or no process's. */
static bool own_proc(struct job *j, const struct target *t)
{
	const char *rest;
	size_t len;
	struct span name = job_span(j, t->name);

	pid_t pid = name_proc(name.bytes, name.len, &rest, &len);
	return name_below(name.bytes, name.len, "/proc", 5) && (pid < 0 || pid == proc_pid(j->proc));
}

/* With the object's identity known, rules that pin one may say something else. Nothing has happened to the object yet. */
static bool still_allowed(struct job *j, struct target *t, const struct stat *st)
{
	struct call call;
	struct verdict verdict = { 0 };

	if (!j->session->identity)
		return true;
	target_knows(t, st);
	t->own = terminals_own(j->session->terminals, st);
	/* Of a file that is not pinned its identity says nothing new. */
	if (!S_ISCHR(st->st_mode) && !S_ISBLK(st->st_mode) && !policy_pins_object(j->session->policy, st->st_dev, st->st_ino))
		return true;
	job_call(j, &call);
	policy_decide(j->session->policy, &call, &verdict);
	return verdict.kind == VERDICT_ALLOW;
}

/* The name was made of the working directory's. That directory may be reached without search permission on the way, or have moved. */
static bool cwd_is_elsewhere(struct job *j, const struct target *t, int error)
{
	return t->below.off && (error == -EACCES || !fs_cwd_holds(j, job_text(j, t->below)));
}

/*
 * Opening a FIFO lets who waits at its other end go on, and that cannot be taken back. Where there are FIFOs the tentative open looks first: the open
 * of the held object waits as a reader would, and sees a caller that has ended meanwhile.
 */
static bool holds_fifo(struct job *j, int dir, const char *name)
{
	struct stat st;
	uint64_t flags = j->word[OPEN_FLAGS];

	if (!atomic_load_explicit(&j->session->fifos, memory_order_relaxed) || !without_waiting(j))
		return false;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISFIFO(st.st_mode))
		return false;
	return (!(flags & O_NONBLOCK) && (flags & O_ACCMODE) == O_RDONLY) || !open_at_fifo(j, &st);
}

/* What O_TRUNC does, by the caller's rights: whoever has not CAP_FSETID takes the setuid bit off. */
static int empty(struct job *j, int fd)
{
	struct creds saved;
	int rc = creds_enter(j, CREDS_FS, &saved);

	if (rc < 0)
		return rc;
	rc = ftruncate(fd, 0) < 0 ? -errno : 0;
	creds_leave(&saved);
	return rc;
}

/* Whether this very open, with O_CREAT, has made FD's file. Linux 6.12 tells; before, the caller had to insist on it. */
static bool made_by_this(const struct job *j, int fd)
{
	return makes_new(j) || fcntl(fd, F_CREATED_QUERY) == 1;
}

/* The record says of an open with O_CREAT whether there was something: nobody could tell afterwards. */
static void tell_made(const struct job *j, bool made)
{
	if (made && j->verdict.log != LOG_NONE)
		record_bool(&j->worker->evidence, "made", true);
}

/* Opened from a held directory, which may have moved since it was named: only then can it be what lies elsewhere. What makes a name has seen to that. */
static bool may_stray(const struct job *j, const struct target *t)
{
	return t->dir >= 0 && !open_creates(j) && !j->session->files_free;
}

static int perform_tentative(struct job *j, struct target *t)
{
	struct stat st;
	const char *name = job_text(j, t->dir < 0 ? t->name : t->leaf);
	int dir = t->dir < 0 ? AT_FDCWD : t->dir;
	uint64_t flags = j->word[OPEN_FLAGS];
	/* What is truncated must be known first, and be open for writing then: O_RDONLY and 3, which is for ioctl alone, are not. */
	bool strays = may_stray(j, t), truncates = (flags & O_TRUNC) && (j->session->identity || strays);
	bool writes = (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;

	if ((truncates && !writes) || (writes && j->session->parting) || holds_fifo(j, dir, name))
		return PERFORM_AGAIN;
	if (truncates)
		j->word[OPEN_FLAGS] &= ~(uint64_t)O_TRUNC;
	int fd CLEANUP_FD = open_making(j, t, dir, name, 0);
	j->word[OPEN_FLAGS] = flags;
	if (fd == -ELOOP)
		link_learn(&j->session->links, link_key(job_text(j, j->path[0]), j->path[0].len));
	if (fd == -ELOOP || fd == -ENXIO || fd == -EAGAIN || (fd == -EACCES && own_proc(j, t)) ||
	    (fd < 0 && cwd_is_elsewhere(j, t, fd)))
		return PERFORM_AGAIN;
	if (fd < 0)
		return job_error(j, fd);
	if (strays && making_moved(j))
		return PERFORM_AGAIN;
	if (makes_new(j) && !j->session->identity) {
		tell_made(j, true);
		return open_inject(j, steal_fd(&fd));
	}
	if (fstat(fd, &st) < 0)
		return job_error(j, -errno);
	if (on_procfs(j, fd, &st) && !own_proc(j, t))
		return PERFORM_AGAIN;
	if (open_own_tty(&st))
		return PERFORM_AGAIN;
	if (!open_temporary(j) && !still_allowed(j, t, &st))
		return PERFORM_AGAIN;
	bool made = open_creates(j) && S_ISREG(st.st_mode) && made_by_this(j, fd);
	int rc = truncates && S_ISREG(st.st_mode) && !made && !open_temporary(j) ? empty(j, fd) : 0;
	if (rc < 0)
		return job_error(j, rc);
	tell_made(j, made);
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return open_inject(j, open_restore_flags(j, steal_fd(&fd)));
	return open_inject_special(j, open_settle(j, steal_fd(&fd), &st), &st);
}

/* Something new was decided on: it must be new. */
static int perform_new(struct job *j, const struct target *t)
{
	int fd = open_making(j, t, t->dir, job_text(j, t->leaf), O_EXCL);

	if (fd == -EAGAIN || (fd == -EEXIST && !(j->word[OPEN_FLAGS] & O_EXCL)))
		return PERFORM_AGAIN;
	tell_made(j, fd >= 0);
	return open_inject(j, open_restore_flags(j, fd));
}

int open_perform(struct job *j)
{
	struct target *t = &j->target[0];

	if (j->word[OPEN_FLAGS] & O_PATH)
		return open_path(j);
	int rc = j->word[OPEN_FLAGS] & (O_CREAT | O_TRUNC | OPEN_TMPFILE) ? open_room(j) : 0;
	if (rc < 0)
		return job_error(j, rc);
	if (t->tentative)
		return perform_tentative(j, t);
	if (!t->exists)
		return open_creates(j) ? perform_new(j, t) : job_error(j, -ENOENT);
	if (makes_new(j))
		return job_error(j, -EEXIST);
	return open_existing(j, t);
}

int open_redirect(struct job *j, uint32_t index, const struct object *to)
{
	bool exclusive = makes_new(j);
	unsigned follows = (exclusive || (j->word[OPEN_FLAGS] & O_NOFOLLOW) ? LOOK_NOFOLLOW : 0) | (j->word[OPEN_RESOLVE] & RESOLVE_NO_SYMLINKS ? LOOK_NO_LINKS : 0);
	unsigned wants = (j->word[OPEN_FLAGS] & O_DIRECTORY ? LOOK_DIRECTORY : 0) | (open_creates(j) ? LOOK_MISSING : 0);
	struct target *t = &j->target[index];
	struct span asked = job_span(j, t->name);
	int rc = resolve_redirect(j, t, to->name, follows | wants);

	if (rc == -ENOTDIR && open_creates(j)) {
		rc = resolve_redirect(j, t, to->name, follows | LOOK_STEPS);
		return to_file(rc, t->fd);
	}
	/* What is made there may be there, and what was there may have to be made. */
	return rc == 0 && open_creates(j) && !exclusive ? gains_led(j, t, asked, t->exists ? access_ops(j) : new_ops(j)) : rc;
}
