/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk by hand.
 *
 * MUST: every component is opened from the held one before it, never through a link that was not read here;
 * /proc/self and /proc/thread-self are the caller's; a magic link is followed only for a process of the
 * tree, and what it leads to is then named and decided on like anything else; the caller's own RESOLVE_* hold here as in the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "supervisor/compat.h"
#include "supervisor/creds.h"
#include "supervisor/procs.h"
#include "supervisor/resolve_internal.h"
#include "supervisor/resolve_name.h"
#include "supervisor/session.h"
#include "supervisor/sticky.h"

#define MAX_LINKS 40
#define PENDING (2 * PATH_MAX)

struct steps {
	struct job *j;
	const struct look *look;
	int root;       /* held: where an absolute name starts and ".." ends */
	dev_t root_dev;
	ino_t root_ino;
	int cur;        /* held: the directory reached */
	uint64_t mount; /* where the walk began */
	int links;
	bool climbed;   /* by a ".." that the caller's scope depends on, where directories can be renamed meanwhile */
	char *pending;  /* what is left to walk, PENDING bytes */
	size_t len;
	/* the component at hand */
	char comp[NAME_MAX + 2]; /* room for one that is too long: whether the kernel says so, or that nobody may search here, is its own affair */
	size_t comp_len;
	bool last;
	bool slash;     /* slashes follow it */
	bool by_path;   /* it is one of the caller's descriptors, with neither read nor write */
};

/* Takes the next component off what is pending. 1: there is one; 0: none left. */
static int next(struct steps *w)
{
	size_t at = 0, n;

	while (at < w->len && w->pending[at] == '/')
		at++;
	for (n = 0; at + n < w->len && w->pending[at + n] != '/'; n++)
		;
	if (!n)
		return 0;
	w->comp_len = n > NAME_MAX ? NAME_MAX + 1 : n;
	memcpy(w->comp, w->pending + at, w->comp_len);
	w->comp[w->comp_len] = '\0';
	size_t rest = at + n;
	w->slash = rest < w->len;
	while (rest < w->len && w->pending[rest] == '/')
		rest++;
	w->last = rest == w->len;
	/* Keep one slash: an absolute rest is not meant, but a final slash must be remembered. */
	w->len -= rest;
	memmove(w->pending, w->pending + rest, w->len);
	return 1;
}

static void move_to(struct steps *w, int fd)
{
	close(w->cur);
	w->cur = fd;
}

uint64_t mount_of(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 && (st.stx_mask & STATX_MNT_ID) ? st.stx_mnt_id : 0;
}

/* The caller wants to stay on the mount that it began on, and FD lies on another. */
static bool crosses(const struct steps *w, int fd)
{
	return (w->look->resolve & RESOLVE_NO_XDEV) && (!w->mount || mount_of(fd) != w->mount);
}

/* Puts TEXT, the content of a link, before what is left. An absolute one starts at the root again. */
static int put_before(struct steps *w, const char *text, size_t n)
{
	bool slash = !w->last || w->slash;

	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if (!n)
		return -ENOENT;
	if (n + slash + w->len >= PENDING)
		return -ENAMETOOLONG;
	memmove(w->pending + n + slash, w->pending, w->len);
	memcpy(w->pending, text, n);
	if (slash)
		w->pending[n] = '/';
	w->len += n + slash;
	if (text[0] != '/')
		return 0;
	if ((w->look->resolve & RESOLVE_BENEATH) || crosses(w, w->root))
		return -EXDEV;
	int root = fcntl(w->root, F_DUPFD_CLOEXEC, 3);
	if (root < 0)
		return -errno;
	move_to(w, root);
	return 0;
}

static bool is_root(const struct steps *w)
{
	struct stat st;

	return fstat(w->cur, &st) == 0 && st.st_dev == w->root_dev && st.st_ino == w->root_ino;
}

static int step_up(struct steps *w)
{
	struct stat st;

	if (is_root(w))
		return w->look->resolve & RESOLVE_BENEATH ? -EXDEV : 0;
	if ((w->look->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT)) && (fstat(w->cur, &st) < 0 || !on_procfs(w->j, w->cur, &st)))
		w->climbed = true;
	int fd CLEANUP_FD = look_open(w->j, w->cur, "..", O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return fd;
	if (crosses(w, fd))
		return -EXDEV;
	move_to(w, steal_fd(&fd));
	return 0;
}

/* /proc/self and /proc/thread-self, as the caller would read them. Returns the length, 0 when COMP is neither. */
static int read_self(struct steps *w, const struct stat *dir, char *out, size_t cap)
{
	pid_t pid = proc_pid(w->j->proc);

	if (dir->st_ino != PROC_ROOT_INO)
		return 0;
	if (strcmp(w->comp, "self") == 0)
		return snprintf(out, cap, "%d", (int)pid);
	if (strcmp(w->comp, "thread-self") == 0)
		return snprintf(out, cap, "%d/task/%d", (int)pid, (int)w->j->notif.pid);
	return 0;
}

enum { NOBODYS = 0, ANOTHERS, OWN };

/* Whose process directory w->cur lies in: no process's, another process's of the tree, the caller's own; or a negative errno. */
static int cur_process(struct steps *w)
{
	struct target dir = { .fd = w->cur, .dir = -1, .ops = OP_STAT };
	const char *rest;
	size_t len;

	int rc = resolve_describe(w->j, &dir);
	if (rc < 0)
		return rc;
	pid_t pid = name_proc(job_text(w->j, dir.name), dir.name.len, &rest, &len);
	if (pid < 0)
		return NOBODYS;
	if (pid == proc_pid(w->j->proc))
		return OWN;
	/* Links below net/ and the like are plain ones, but all that a process directory has at its top are magic. */
	return procs_inside(w->j->session->procs, pid) ? ANOTHERS : resolve_guarded(w->j);
}

/* Follows the magic link COMP of w->cur, in WHOSE directory, to its object. The kernel lets a process follow its own always, those of others where it may trace them. */
static int follow_magic(struct steps *w, int whose, int *out)
{
	struct creds saved;

	if (w->look->resolve & RESOLVE_CACHED) /* the kernel never has these at hand */
		return -EAGAIN;
	if (w->look->resolve & (RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS))
		return -ELOOP;
	if (w->look->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT))
		return -EXDEV;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	int rc = whose == OWN ? 0 : creds_enter(w->j, CREDS_FS, &saved);
	if (rc < 0)
		return rc;
	int fd = openat(w->cur, w->comp, O_PATH | O_CLOEXEC);
	rc = fd < 0 ? -errno : 0;
	if (whose != OWN)
		creds_leave(&saved);
	*out = fd;
	return rc;
}

/* LINK lies on a mount that follows none (nosymfollow). */
static bool never_followed(int link)
{
	struct statvfs fs;

	return fstatvfs(link, &fs) == 0 && (fs.f_flag & ST_NOSYMFOLLOW);
}

/* LINK is not to be followed: a hidden one is not even there. */
static int refuse_link(struct steps *w, int link)
{
	int rc = resolve_hidden(w->j, link);

	return rc < 0 ? rc : rc ? -ENOENT : -ELOOP;
}

/* A link at COMP, held by LINK. Returns 1 when *out is an object to go on from, 0 when the pending name was changed. */
static int follow(struct steps *w, int link, int *out)
{
	char text[PATH_MAX];
	struct stat dir, st;

	if ((w->look->resolve & RESOLVE_NO_SYMLINKS) || never_followed(link))
		return refuse_link(w, link);
	if (fstat(w->cur, &dir) < 0)
		return -errno;
	if (on_procfs(w->j, w->cur, &dir)) {
		int n = read_self(w, &dir, text, sizeof(text));
		if (n > 0)
			return put_before(w, text, (size_t)n);
		int whose = cur_process(w);
		if (whose < 0)
			return whose;
		if (whose != NOBODYS) {
			/* Of a descriptor's link the permissions are what it is open for (proc_fd_instantiate() in the kernel); other links have all. */
			w->by_path = fstat(link, &st) == 0 && !(st.st_mode & (S_IRUSR | S_IWUSR));
			int rc = follow_magic(w, whose, out);
			return rc < 0 ? rc : 1;
		}
	}
	ssize_t n = readlinkat(link, "", text, sizeof(text));
	if (n < 0 || fstat(link, &st) < 0)
		return -errno;
	int rc = w->last ? sticky_link(w->j, &dir, &st) : 0; /* a link on the way is followed everywhere */
	return rc < 0 ? rc : put_before(w, text, (size_t)n);
}

/* The last component is not there: its directory is held. */
static int missing(struct steps *w, struct target *t)
{
	struct target dir = { .fd = w->cur, .dir = -1, .ops = OP_STAT };

	if (!(w->look->flags & LOOK_MISSING))
		return -ENOENT;
	int rc = resolve_describe(w->j, &dir);
	if (rc < 0)
		return rc;
	t->dir = fcntl(w->cur, F_DUPFD_CLOEXEC, 3);
	if (t->dir < 0)
		return -errno;
	t->exists = false;
	t->kind = OBJECT_FILE;
	return set_leaf(w->j, t, dir.name, w->comp, w->comp_len, w->slash);
}

/* THERE is not on the way, and what is left of the name goes up again. */
static int absent_up(struct steps *w, struct target *t, struct text there)
{
	unsigned flags = w->look->flags | (w->look->resolve & RESOLVE_NO_SYMLINKS ? LOOK_NO_LINKS : 0);
	size_t n = 0, up = name_up(w->pending, w->len);

	if (up == w->len)
		return -ENOENT;
	struct text below = job_copy(w->j, w->pending, name_without_ending(w->pending, up));
	struct text rest = job_copy(w->j, w->pending + up + 2, w->len - up - 2);
	char *to = job_text(w->j, below);

	if (!to || !rest.off || (below.len && !name_fold(to, below.len, to, &n)))
		return -ENOMEM;
	struct text name = n ? join_name(w->j, there, to, n) : there;
	return name.off ? resolve_up(w->j, t, name, rest, flags) : -ENOMEM;
}

/* A directory on the way is not there: what the name would be. */
static int absent(struct steps *w, struct target *t)
{
	struct target dir = { .fd = w->cur, .dir = -1, .ops = OP_STAT };
	size_t n;

	int rc = resolve_describe(w->j, &dir);
	if (rc < 0)
		return rc;
	struct text t1 = join_name(w->j, dir.name, w->comp, w->comp_len);
	struct text rest = job_copy(w->j, w->pending, name_without_ending(w->pending, w->len));
	char *below = job_text(w->j, rest);
	if (!t1.off || !below)
		return -ENOMEM;
	if (rest.len && !name_fold(below, rest.len, below, &n))
		return absent_up(w, t, t1);
	t->name = rest.len ? join_name(w->j, t1, below, n) : t1;
	t->leaf = rest.len ? job_copy(w->j, below, n) : job_copy(w->j, w->comp, w->comp_len);
	t->kind = OBJECT_FILE;
	t->exists = false;
	return t->name.off && t->leaf.off ? 0 : -ENOMEM;
}

static int arrive(struct steps *w, struct target *t, int fd, bool must_dir)
{
	t->fd = fd;
	if (w->climbed) /* only the kernel could tell that this did not lead out */
		return -EAGAIN;
	int rc = resolve_describe(w->j, t);
	if (rc == 0 && w->by_path)
		rc = resolve_by_path(w->j, t);
	if (rc == 0 && must_dir && !S_ISDIR(t->mode))
		rc = -ENOTDIR;
	return rc;
}

/* "." needs the right to search, as any other name does. */
static int stay(struct steps *w)
{
	int fd CLEANUP_FD = look_open(w->j, w->cur, ".", O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);

	return fd == -EACCES && resolve_own_process(w->j, w->cur, OWN_DESCRIPTORS) ? 0 : fd < 0 ? fd : 0;
}

/* One component. Returns 1 on arrival (T is filled), 0 to go on, or a negative errno. */
static int step(struct steps *w, struct target *t)
{
	struct stat st;

	w->by_path = false;
	if (strcmp(w->comp, ".") == 0)
		return stay(w);
	if (strcmp(w->comp, "..") == 0)
		return step_up(w);
	int fd CLEANUP_FD = look_open(w->j, w->cur, w->comp, O_PATH | O_NOFOLLOW, RESOLVE_NO_MAGICLINKS);
	if (fd == -EACCES && resolve_own_process(w->j, w->cur, OWN_DESCRIPTORS)) {
		fd = openat(w->cur, w->comp, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	if (fd == -ENOENT && w->comp_len > NAME_MAX)
		return -ENAMETOOLONG;
	if (fd == -ENOENT && (w->last || (w->look->flags & LOOK_ABSENT))) {
		int rc = w->last ? missing(w, t) : absent(w, t);
		return rc < 0 ? rc : 1;
	}
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode) && (!w->last || w->slash || !(w->look->flags & LOOK_NOFOLLOW))) {
		int object = -1;
		int rc = follow(w, fd, &object);
		if (rc <= 0)
			return rc;
		close(fd);
		fd = object;
		t->magic = true;
		if (fstat(fd, &st) < 0)
			return -errno;
	}
	if (crosses(w, fd))
		return -EXDEV;
	if (w->last) {
		int rc = arrive(w, t, steal_fd(&fd), w->slash || (w->look->flags & LOOK_DIRECTORY));
		return rc < 0 ? rc : 1;
	}
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	move_to(w, steal_fd(&fd));
	return 0;
}

/*
 * Goes to the directory of the last component at once, where no link is on the way there. Else nothing has changed: what there is to say
 * of a component is said at its own step.
 */
static void jump(struct steps *w)
{
	struct split sp;
	char dir[PATH_MAX];
	size_t n;

	name_split(w->pending, w->len, &sp);
	if (sp.dir >= sizeof(dir) || !name_fold(w->pending, sp.dir, dir, &n))
		return;
	const char *below = dir[0] == '/' ? dir + 1 : dir;
	int fd CLEANUP_FD = *below ? look_open(w->j, w->cur, below, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS) : -ENOENT;
	if (fd < 0 || crosses(w, fd))
		return;
	move_to(w, steal_fd(&fd));
	w->len -= sp.leaf;
	memmove(w->pending, w->pending + sp.leaf, w->len);
}

static int walk_all(struct steps *w, struct target *t)
{
	int rc, links = -1;

	for (;;) {
		if (w->links != links) /* the beginning, or a link has put another name there */
			jump(w);
		links = w->links;
		rc = next(w);
		if (rc <= 0)
			break;
		rc = step(w, t);
		if (rc)
			return rc < 0 ? rc : 0;
	}
	if (rc < 0)
		return rc;
	/* It ended in "/", "." or "..": the directory reached is the object. */
	int fd = fcntl(w->cur, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : arrive(w, t, fd, true);
}

int walk_by_hand(struct job *j, const struct look *l, const struct start *s, struct target *t)
{
	struct stat st;
	char *pending CLEANUP_FREE = malloc(PENDING);
	int top = l->resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT) ? s->fd : s->root;
	int root CLEANUP_FD = top >= 0 ? fcntl(top, F_DUPFD_CLOEXEC, 3) : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool relative = s->path[0] != '/' && s->fd >= 0;
	int cur = fcntl(relative ? s->fd : root, F_DUPFD_CLOEXEC, 3);
	struct steps w = { .j = j, .look = l, .root = root, .cur = cur, .pending = pending, .len = s->len };

	int rc = 0;
	if (!pending || root < 0 || cur < 0 || fstat(root, &st) < 0)
		rc = -ENOMEM;
	else if (s->len >= PENDING)
		rc = -ENAMETOOLONG;
	if (rc == 0) {
		memcpy(pending, s->path, s->len);
		w.root_dev = st.st_dev;
		w.root_ino = st.st_ino;
		if (l->resolve & RESOLVE_NO_XDEV)
			w.mount = mount_of(cur);
		rc = walk_all(&w, t);
	}
	if (w.cur >= 0)
		close(w.cur);
	return rc;
}
