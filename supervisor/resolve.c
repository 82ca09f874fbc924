/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three ways to an object, from cheap to thorough:
 *  - tentative: the name folded as bytes. Nothing is held; the performer opens it so that a link on the way fails.
 *  - by the kernel: an O_PATH descriptor of the object or of its parent, named from the descriptor.
 *  - by hand, a component at a time: what touches /proc (where usher and the caller see different things) and
 *    names that do not exist yet.
 *
 * MUST: every way gives the name of what is held, or a tentative one; no way follows a /proc
 * magic link but walk_by_hand(), which knows whose process it belongs to.
 */
#include "supervisor/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/creds.h"
#include "supervisor/making.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/resolve_name.h"
#include "supervisor/resolve_tentative.h"
#include "supervisor/session.h"
#include "supervisor/terminals.h"

/* The caller's own RESOLVE_* that the kernel honours best, on the caller's own words; on /proc the walk by hand does. */
#define RESOLVE_SCOPED (RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_NO_XDEV)

/* So often a name may go up out of a directory that is only where a rule leads: a link among them can say the same name again. */
#define MAX_UPS 40

int look_open(struct job *j, int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
	struct creds saved;
	int tries = 0;
	long fd;

	int rc = creds_enter(j, CREDS_FS, &saved);
	if (rc < 0)
		return rc;
	/* EAGAIN: something was renamed while ".." was walked inside a scope */
	do
		fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && !(resolve & RESOLVE_CACHED) && ++tries < 64);
	rc = fd < 0 ? -errno : (int)fd;
	creds_leave(&saved);
	return rc;
}

struct text join_name(struct job *j, struct text dir, const char *leaf, size_t len)
{
	bool slash = dir.len != 1 || job_text(j, dir)[0] != '/';
	struct text t = job_alloc(j, dir.len + slash + len);
	char *at = job_text(j, t);

	if (!at)
		return t;
	memcpy(at, job_text(j, dir), dir.len);
	if (slash)
		at[dir.len] = '/';
	memcpy(at + dir.len + slash, leaf, len);
	return t;
}

int set_leaf(struct job *j, struct target *t, struct text dir, const char *leaf, size_t len, bool slash)
{
	t->name = len ? join_name(j, dir, leaf, len) : dir;
	t->leaf = job_alloc(j, len + slash);
	t->want_dir = slash;
	if (!t->name.off || !t->leaf.off)
		return -ENOMEM;
	memcpy(job_text(j, t->leaf), leaf, len);
	if (slash)
		job_text(j, t->leaf)[len] = '/';
	return 0;
}

static void take_identity(const struct job *j, struct target *t, const struct stat *st)
{
	t->own = terminals_own(j->session->terminals, st);
	target_knows(t, st);
}

static void unhold(struct target *t)
{
	target_release(t);
	t->exists = false;
}

/* The entry T->leaf of T->dir: whether it exists, and its identity. 0 (also when it is not there) or a negative errno. */
static int look_entry(struct job *j, struct target *t)
{
	struct stat st;
	struct creds saved;
	char *leaf = job_text(j, t->leaf);
	bool slash = t->want_dir && t->leaf.len > 1;

	int rc = creds_enter(j, CREDS_FS, &saved);
	if (rc < 0)
		return rc;
	/* Without its slash: a link would be followed. */
	if (slash)
		leaf[t->leaf.len - 1] = '\0';
	rc = fstatat(t->dir, leaf, &st, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
	if (slash)
		leaf[t->leaf.len - 1] = '/';
	creds_leave(&saved);
	t->exists = rc == 0;
	if (t->exists)
		take_identity(j, t, &st);
	return rc == -ENOENT ? 0 : rc;
}

static void start_done(struct start *s)
{
	fs_base_done(&s->base);
	if (s->root >= 0)
		close(s->root);
}

/* In a root of its own, a relative name is walked from that root, so that ".." cannot leave it. */
static int start_in_root(struct job *j, struct start *s)
{
	struct target root = { .fd = s->root, .dir = -1 };
	int rc = resolve_describe(j, &root);

	if (rc < 0)
		return rc;
	s->fd = s->root;
	s->resolve |= RESOLVE_IN_ROOT;
	if (s->path[0] == '/')
		return 0;
	const char *base = job_text(j, s->base.name);
	if (!name_below(base, s->base.name.len, job_text(j, root.name), root.name.len))
		return resolve_guarded(j); /* natively it is led outside */
	size_t above = root.name.len == 1 ? 0 : root.name.len;
	struct text below = job_copy(j, base + above, s->base.name.len - above);
	struct text all = below.off ? join_name(j, below, s->path, s->len) : below;
	if (!all.off)
		return -ENOMEM;
	s->path = job_text(j, all);
	s->len = all.len;
	return 0;
}

static int start(struct job *j, const struct look *l, struct start *s)
{
	bool scoped = l->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT);

	*s = (struct start){ .base.fd = -1, .root = -1, .fd = AT_FDCWD, .path = job_text(j, l->path),
			     .len = l->path.len, .resolve = l->resolve };
	/* What would leave the scope is refused before anything is looked at. */
	if (s->path[0] == '/' && (l->resolve & RESOLVE_BENEATH))
		return -EXDEV;
	int rc = fs_root(j, &s->root);
	if (rc == 0 && (s->path[0] != '/' || scoped)) {
		bool named = l->dirfd == AT_FDCWD && (l->flags & LOOK_PARENT) && !l->resolve && s->root < 0;

		rc = named ? fs_base_named(j, &s->base) : fs_base(j, l->dirfd, &s->base);
		s->fd = s->base.fd;
	}
	if (rc == 0 && s->root >= 0 && !scoped)
		rc = start_in_root(j, s);
	if (rc < 0)
		start_done(s);
	return rc;
}

/* The path as a canonical name, right if opening it meets no link. */
static bool plain_name(struct job *j, const struct start *s, struct text *out)
{
	size_t n = 0, skip = 0;

	if (s->root >= 0 || j->full || s->resolve)
		return false;
	struct text t = job_alloc(j, s->len + TENTATIVE_PREFIX);
	char *to = job_text(j, t);
	if (!to)
		return false;
	if (s->path[0] == '/')
		n = tentative_merged(s->path, s->len, to, &skip);
	memcpy(to + n, s->path + skip, s->len - skip);
	bool plain = name_fold(to, n + s->len - skip, to, &n);
	job_trim(j, &t, plain ? n : 0);
	if (!plain)
		return false;
	*out = to[0] == '/' ? t : join_name(j, s->base.name, to, n);
	return out->off && !name_below(job_text(j, *out), out->len, "/proc", 5);
}

/* What was taken for the canonical name is none: no record may show it as the object. */
static int not_plain(struct target *t)
{
	t->name = (struct text){ 0, 0 };
	return 0;
}

/*
 * Without links, where that is how the path is: this spares asking the kernel for the name. 1: done; 0: not so; or a negative errno. What is missing where no
 * link was met is missing for the caller, too: whoever searches $PATH execs such names.
 */
static int look_plain(struct job *j, const struct look *l, const struct start *s, uint64_t flags, struct target *t)
{
	bool missing_is_told = !(l->flags & (LOOK_MISSING | LOOK_ABSENT));
	struct stat st;

	if ((l->flags & LOOK_LINKS) || !plain_name(j, s, &t->name))
		return 0;
	t->fd = look_open(j, s->fd, s->path[0] == '/' ? job_text(j, t->name) : s->path, flags, RESOLVE_NO_SYMLINKS);
	if (t->fd == -ELOOP)
		link_learn(&j->session->links, link_key(s->path, s->len));
	if (t->fd == -ELOOP || (t->fd == -ENOENT && !missing_is_told))
		return not_plain(t);
	if (t->fd < 0)
		return t->fd;
	if (fstat(t->fd, &st) < 0)
		return -errno;
	bool strayed = s->path[0] != '/' && making_moved(j);
	if (strayed || on_procfs(j, t->fd, &st) || S_ISLNK(st.st_mode)) {
		unhold(t);
		return not_plain(t);
	}
	take_identity(j, t, &st);
	t->kind = OBJECT_FILE;
	t->looked = true;
	j->looked = st;
	return 1;
}

/* Something new inside the caller's own scope. A link that leads nowhere is not followed there: ELOOP. */
static int look_scoped_new(struct job *j, const struct start *s, struct target *t)
{
	struct split sp;
	struct target dir = { .fd = -1, .dir = -1, .ops = OP_STAT };

	name_split(s->path, s->len, &sp);
	struct text part = sp.dir ? job_copy(j, s->path, sp.dir) : job_copy(j, ".", 1);
	if (!part.off)
		return -ENOMEM;
	t->dir = look_open(j, s->fd, job_text(j, part), O_PATH | O_DIRECTORY, s->resolve | RESOLVE_NO_MAGICLINKS);
	if (t->dir < 0)
		return t->dir;
	dir.fd = t->dir;
	int rc = resolve_describe(j, &dir);
	if (rc == 0)
		rc = set_leaf(j, t, dir.name, s->path + sp.leaf, sp.len, sp.slash);
	if (rc == 0)
		rc = look_entry(j, t);
	if (rc < 0 || !t->exists)
		return rc;
	if (!resolve_hides(j, t))
		return -ELOOP;
	t->exists = false; /* a hidden one is as good as not there: making it says more only where that is allowed */
	return 0;
}

static int describe_looked(struct job *j, struct target *t, const struct stat *st)
{
	t->looked = true;
	j->looked = *st;
	return resolve_describe_as(j, t, st);
}

/* The object itself. The walk by hand may come to another end than the kernel did where magic links or /proc/self are met. */
static int look_object(struct job *j, const struct look *l, const struct start *s, struct target *t)
{
	struct stat st;
	struct look here = *l;
	uint64_t flags = O_PATH | (l->flags & LOOK_NOFOLLOW ? O_NOFOLLOW : 0) |
			 (l->flags & LOOK_DIRECTORY ? O_DIRECTORY : 0);

	int rc = look_plain(j, l, s, flags, t);
	if (rc)
		return rc < 0 ? rc : 0;
	t->fd = look_open(j, s->fd, s->path, flags, s->resolve | RESOLVE_NO_MAGICLINKS);
	if (l->resolve & RESOLVE_SCOPED) {
		if (t->fd == -ENOENT && (l->flags & LOOK_MISSING))
			return look_scoped_new(j, s, t);
		here.flags &= ~(unsigned)(LOOK_MISSING | LOOK_ABSENT);
	}
	if (t->fd < 0 && t->fd != -ELOOP && t->fd != -ENOENT && (t->fd != -EACCES || !j->session->privileged))
		return t->fd;
	if (t->fd >= 0 && fstat(t->fd, &st) < 0)
		return -errno;
	if (t->fd >= 0 && !on_procfs(j, t->fd, &st))
		return describe_looked(j, t, &st);
	unhold(t);
	return walk_by_hand(j, &here, s, t);
}

/* The directory of an entry is not the end of a name: a link to it is one on the way, which the kernel follows where it would not follow the last (sticky.h). */
static int look_through(struct job *j, const struct look *l, const struct start *s, struct target *t)
{
	struct text on = join_name(j, job_copy(j, s->path, s->len), ".", 1);
	struct start here = *s;

	if (!on.off)
		return -ENOMEM;
	here.path = job_text(j, on);
	here.len = on.len;
	unhold(t);
	return look_object(j, l, &here, t);
}

/* The entry itself: its directory is held and the last component never followed. */
static int look_parent(struct job *j, const struct look *want, struct start *s, struct target *t)
{
	struct split sp;
	struct target dir = { .fd = -1, .dir = -1, .ops = OP_STAT };
	int rc = 0;

	name_split(s->path, s->len, &sp);
	struct text part = sp.dir ? job_copy(j, s->path, sp.dir) : job_copy(j, ".", 1);
	if (!part.off)
		return -ENOMEM;
	if (!sp.dir && s->root < 0) { /* the path is not needed any more */
		dir.name = s->base.name;
		t->lent = s->base.lent;
		t->dir = fs_base_take(&s->base);
	} else {
		struct look l = { .flags = LOOK_DIRECTORY, .resolve = s->resolve & ~(uint64_t)RESOLVE_IN_ROOT };
		struct start here = *s;
		here.path = job_text(j, part);
		here.len = part.len;
		rc = look_object(j, &l, &here, &dir);
		if (rc == -EACCES)
			rc = look_through(j, &l, &here, &dir);
		int held CLEANUP_FD = dir.fd;
		cleanup_fd(&dir.dir);
		if (rc < 0)
			return rc;
		t->dir = steal_fd(&held);
	}
	rc = set_leaf(j, t, dir.name, s->path + sp.leaf, sp.len, sp.slash);
	t->tentative = want->flags & LOOK_BLIND;
	return rc < 0 || t->tentative ? rc : look_entry(j, t);
}

/*
 * A name whose directory is not there, where a rule may lead it elsewhere. -ENOENT where it came to be meanwhile, and with t->up set where it is to be looked
 * up by that.
 */
static int look_absent(struct job *j, const struct look *l, const struct start *s, struct target *t)
{
	struct look here = *l;

	unhold(t);
	if (s->resolve)
		return -ENOENT;
	here.flags = LOOK_MISSING | LOOK_NOFOLLOW | LOOK_ABSENT | (l->flags & LOOK_PARENT);
	int rc = walk_by_hand(j, &here, s, t);
	return rc == 0 && (t->exists || t->dir >= 0) ? -ENOENT : rc;
}

static int look_as_told(struct job *j, const struct look *l, struct start *s, struct target *t)
{
	if (l->flags & LOOK_PARENT)
		return look_parent(j, l, s, t);
	return l->flags & LOOK_STEPS ? walk_by_hand(j, l, s, t) : look_object(j, l, s, t);
}

/* As told, and where there is no such directory by what rules lead. */
static int look_led(struct job *j, const struct look *l, struct start *s, struct target *t)
{
	struct text up = { 0, 0 };

	for (int ups = 0; ups <= MAX_UPS; ups++) {
		t->up = (struct text){ 0, 0 };
		int rc = look_as_told(j, l, s, t);
		if (rc == -ENOENT && (l->flags & LOOK_ABSENT) && !t->up.off)
			rc = look_absent(j, l, s, t);
		if (rc != -ENOENT || !t->up.off) {
			t->up = up;
			return rc == 0 && t->exists && up.off && (l->flags & LOOK_SAID) ? -ENOENT : rc;
		}
		up = t->up;
		s->path = job_text(j, up);
		s->len = up.len;
		unhold(t);
	}
	return -ELOOP;
}

/* By the cheapest way that gives T's object. 0 or a negative errno. */
static int look(struct job *j, const struct look *l, struct target *t)
{
	struct start s;
	int rc = tentative(j, l, t);

	if (rc)
		return rc < 0 ? rc : 0;
	unhold(t);
	rc = start(j, l, &s);
	if (rc < 0)
		return rc;
	rc = look_led(j, l, &s, t);
	start_done(&s);
	return rc;
}

/* Whether T, as far as can be told, was found by the name that was said and through no link: a hint is wrong then. */
static bool found_plainly(struct job *j, const struct target *t)
{
	struct span name = job_span(j, t->name), named = job_span(j, t->named);
	size_t above = name.len - named.len;

	if (name.len < named.len || memcmp(name.bytes + above, named.bytes, named.len) != 0)
		return false;
	return named.bytes[0] == '/' ? !above : above && name.bytes[above - 1] == '/';
}

int resolve(struct job *j, const struct look *l, op_set ops, struct target **out)
{
	struct look here = *l;

	if (!l->path.len && (l->flags & LOOK_EMPTY))
		return resolve_fd(j, l->dirfd, ops, out);
	struct target *t = job_target(j, OBJECT_FILE, ops);
	if (!t)
		return -ENOMEM;
	t->named = l->path;
	if (!l->path.len)
		return -ENOENT;
	t->nofollow = (l->flags & LOOK_NOFOLLOW) && job_text(j, l->path)[l->path.len - 1] != '/';
	uint64_t key = link_key(job_text(j, l->path), l->path.len);
	bool hinted = link_hinted(&j->session->links, key);
	if (hinted)
		here.flags |= LOOK_LINKS;
	int rc = look(j, &here, t);
	if (hinted && (rc < 0 || found_plainly(j, t)))
		link_forget(&j->session->links, key);
	if (rc < 0)
		return rc;
	if (span_equal(job_span(j, t->name), job_span(j, t->named)))
		t->named = (struct text){ 0, 0 };
	*out = t;
	return 0;
}

int look_named(struct job *j, struct text name, unsigned flags, struct target *t)
{
	struct look l = { .dirfd = AT_FDCWD, .path = name, .flags = flags, .resolve = flags & LOOK_NO_LINKS ? RESOLVE_NO_SYMLINKS : 0 };
	struct start s = { .base.fd = -1, .root = -1, .fd = AT_FDCWD, .path = job_text(j, name), .len = name.len, .resolve = l.resolve };

	return look_as_told(j, &l, &s, t);
}

/* NAME, in whose place T was asked for, with the slash or "." behind it that T was asked with: what they want is wanted there. */
static struct text with_ending(struct job *j, const struct target *t, struct text name)
{
	struct span asked = job_span(j, t->named);
	size_t end = name_without_ending(asked.bytes, asked.len);

	if (!name.off || end == asked.len)
		return name;
	return join_name(j, name, ".", memchr(asked.bytes + end, '.', asked.len - end) != NULL);
}

int resolve_redirect(struct job *j, struct target *t, struct span name, unsigned flags)
{
	struct text led = job_copy(j, name.bytes, name.len);
	struct text all = with_ending(j, t, led);

	if (!all.off)
		return -ENOMEM;
	if (!name.len || name.bytes[0] != '/')
		return -ENOENT;
	unhold(t);
	t->tentative = false;
	t->magic = false;
	t->deleted = false;
	t->astray = NULL;
	int rc = look_named(j, all, flags, t);
	struct span there = job_span(j, t->name);
	if (rc == 0 && !span_equal(there, job_span(j, led)))
		t->astray = j->led_by;
	return rc;
}
