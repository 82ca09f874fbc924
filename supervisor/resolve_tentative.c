/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name as bytes, for names that mean the same object when no component is a link.
 *
 * MUST: what is returned is opened with RESOLVE_NO_SYMLINKS under exactly this name, so that
 * a wrong guess about links can make it fail but never make it another object.
 */
#include "supervisor/resolve_tentative.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/place.h"
#include "supervisor/procs.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"

size_t tentative_merged(const char *path, size_t len, char *to, size_t *skip)
{
	static const char *const merged[] = { "/lib", "/lib64", "/bin", "/sbin", "/lib32", "/libx32" };

	if (len < 5 || (path[1] != 'l' && path[1] != 'b' && path[1] != 's'))
		return 0;
	for (size_t i = 0; i < sizeof(merged) / sizeof(merged[0]); i++) {
		size_t n = strlen(merged[i]);
		if (len <= n || path[n] != '/' || memcmp(path, merged[i], n) != 0)
			continue;
		ssize_t got = readlink(merged[i], to + 1, TENTATIVE_PREFIX - 1);
		if (got <= 0 || got == TENTATIVE_PREFIX - 1 || to[1] == '/' || to[1] == '.')
			return 0;
		to[0] = '/';
		*skip = n;
		return (size_t)got + 1;
	}
	return 0;
}

/* Copies PATH to TO with a well-known prefix that is a link replaced by what it means to the caller. */
static size_t expand(struct job *j, const char *path, size_t len, char *to)
{
	size_t skip = 0, n = 0;

	if (len > 11 && memcmp(path, "/proc/self/", 11) == 0) {
		n = (size_t)snprintf(to, TENTATIVE_PREFIX, "/proc/%d", (int)proc_pid(j->proc));
		skip = 10;
	} else if (path[0] == '/') {
		n = tentative_merged(path, len, to, &skip);
	}
	memcpy(to + n, path + skip, len - skip);
	return n + len - skip;
}

/* Whether a folded absolute name means something else to the caller than to usher, or may not be opened on its name alone. */
static bool needs_walk(struct job *j, const char *name, size_t len)
{
	const char *rest;
	size_t rest_len;

	if (len == 8 && memcmp(name, "/dev/tty", 8) == 0)
		return true;
	pid_t pid = name_proc(name, len, &rest, &rest_len);
	return pid > 0 && pid != proc_pid(j->proc);
}

/*
 * A name below a working directory that the worker does not stand in as an absolute one: what is decided on is what is opened,
 * wherever the directory goes. 1 or 0.
 */
static int below_cwd(struct job *j, struct text folded, struct target *t)
{
	struct text cwd, name;

	if (!fs_cwd_name(j, &cwd) || name_below(job_text(j, cwd), cwd.len, "/proc", 5))
		return 0;
	name = join_name(j, cwd, job_text(j, folded), folded.len);
	if (!name.off || name.len >= PATH_MAX || needs_walk(j, job_text(j, name), name.len))
		return 0;
	t->name = name;
	t->below = cwd;
	t->tentative = true;
	return 1;
}

/* A name below the working directory or a descriptor: opened from there. */
static int below_base(struct job *j, const struct look *l, struct text folded, struct target *t)
{
	struct base base;

	base.fd = l->dirfd == AT_FDCWD ? place_stand(j, &base.name) : -1;
	base.lent = base.fd >= 0;
	if (!base.lent && l->dirfd == AT_FDCWD && below_cwd(j, folded, t))
		return 1;
	int rc = base.lent ? 0 : fs_base(j, l->dirfd, &base);
	if (rc < 0)
		return rc;
	t->lent = base.lent;
	t->dir = base.fd;
	t->leaf = folded;
	t->name = join_name(j, base.name, job_text(j, folded), folded.len);
	if (!t->name.off)
		return -ENOMEM;
	if (name_below(job_text(j, base.name), base.name.len, "/proc", 5) ||
	    needs_walk(j, job_text(j, t->name), t->name.len))
		return 0;
	t->tentative = true;
	return 1;
}

int tentative(struct job *j, const struct look *l, struct target *t)
{
	const char *path = job_text(j, l->path);
	size_t len = l->path.len, n;

	if ((l->flags & (LOOK_TENTATIVE | LOOK_LINKS)) != LOOK_TENTATIVE || j->full || !len ||
	    (l->resolve & ~(uint64_t)(RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)) ||
	    atomic_load_explicit(&j->session->roots_moved, memory_order_acquire))
		return 0;
	/*
	 * The slash of opendir("d/") says what the open insists on anyway; a link in its place fails, and is followed in full then. With O_NOFOLLOW the
	 * slash says more: that a link is followed all the same.
	 */
	while ((l->flags & LOOK_DIRECTORY) && !(l->flags & LOOK_NOFOLLOW) && len > 1 && path[len - 1] == '/')
		len--;
	struct text folded = job_alloc(j, len + TENTATIVE_PREFIX);
	char *to = job_text(j, folded);
	if (!to)
		return -ENOMEM;
	/* A caller that forbids links means the name itself. */
	if (l->resolve) {
		memcpy(to, path, len);
		n = len;
	} else {
		n = expand(j, path, len, to);
	}
	bool plain = name_fold(to, n, to, &n);
	job_trim(j, &folded, plain ? n : 0);
	if (!plain)
		return 0;
	if (to[0] != '/')
		return below_base(j, l, folded, t);
	t->name = folded;
	t->tentative = !needs_walk(j, to, n);
	return t->tentative;
}
