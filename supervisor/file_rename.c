/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rename, renameat, renameat2.
 *
 * MUST: a rename gives nothing that its new name would allow and the old one did not (to be seen, too), to
 * the object itself and to what lies below it; and brings nothing below a directory to a name at which it could not have been made.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/constant.h"
#include "rules/cleanup.h"
#include "supervisor/bound_names.h"
#include "supervisor/file.h"
#include "supervisor/former.h"
#include "supervisor/gains.h"
#include "supervisor/making.h"
#include "supervisor/resolve.h"
#include "supervisor/rows_file.h"
#include "supervisor/session.h"
#include "supervisor/worker.h"

#define TREE_ENTRIES 200000 /* beyond this many entries a directory is not renamed as a whole (EXDEV: programs copy) */
#define TREE_DEPTH 128
#define NAME_ROOM (2 * 4096)
#define PATIENCE 256        /* entries after which another worker takes over reception */

/* A walk through a directory that would move. */
struct tree {
	struct job *j;
	char *from; /* NAME_ROOM bytes each */
	char *to;
	struct span top; /* the new name of the directory itself */
	unsigned seen;
	bool again;      /* it was decided on: what speaks against it now has it decided anew */
	bool alarmed;    /* one alarm tells of the move */
};

#define TOLD 2 /* the walk is over: the rules refuse a name, and the call has a target more that says so */

/* A rename leaves the times of what lies below alone: so does a look at it, where the owner looks. */
static int open_quietly(int dir, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	int fd = openat(dir, name, flags | O_NOATIME);

	return fd < 0 && errno == EPERM ? openat(dir, name, flags) : fd;
}

static int tree_walk(struct tree *w, int dir, size_t from_len, size_t to_len, unsigned depth);

/*
 * NAME is a directory that usher may not list, or not search: its owner makes it readable again behind the move, and who may search it needs no list. What is gone holds
 * nothing; nor does what no rule means, where looking is all that rules speak of.
 */
static int unread(const struct job *j, struct span name)
{
	const struct session *s = j->session;

	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || s->files_free)
		return 0;
	return s->uses_free && !policy_bounds_below(s->policy, OP_STAT, name) ? 0 : -EACCES;
}

/* OPS on the entry NAME are the call's, too: so the rule that speaks of them decides, and is in the record. 0 or -EACCES: no room. */
static int tell(struct job *j, struct span name, op_set ops, const struct stat *st)
{
	struct text kept = job_copy(j, name.bytes, name.len);
	struct target *t = kept.off ? job_target(j, ops & OPS_NET ? OBJECT_UNIX : OBJECT_FILE, ops) : NULL;

	if (!t)
		return -EACCES;
	if (ops & OPS_NET)
		t->inet.proto = PROTO_UNIX;
	t->name = kept;
	target_knows(t, st);
	return 0;
}

static int refuse(struct tree *w, struct span name, op_set ops, const struct stat *st)
{
	if (w->again)
		return PERFORM_AGAIN;
	w->j->unasked = true;
	return tell(w->j, name, ops, st) < 0 ? -EACCES : TOLD;
}

/* What would be asked about, or led elsewhere, is copied by the programs that meet EXDEV: then each new name is decided on. */
static int comes_there(struct tree *w, struct span from, struct span to, const struct stat *st)
{
	bool alarm;
	enum verdict_kind made = gains_name(w->j, from, to, w->top, st, &alarm);

	if (made == VERDICT_ASK || made == VERDICT_REWRITE)
		return -EXDEV;
	if (made != VERDICT_ALLOW)
		return refuse(w, to, OP_CREATE, st);
	if (!alarm || w->again || w->alarmed)
		return 0;
	w->alarmed = true;
	return tell(w->j, to, OP_CREATE, st);
}

static bool is_own(const struct job *j, int dir, const char *name, const struct stat *st)
{
	return S_ISSOCK(st->st_mode) && bound_names_at(j->session->bound_names, dir, name);
}

/* Whether the move would change what is allowed. OWN as is_own(). */
static int tree_names(struct tree *w, size_t from_len, size_t to_len, const struct stat *st, bool own)
{
	struct span from = { w->from, (uint32_t)from_len }, to = { w->to, (uint32_t)to_len };
	op_set more = gains(w->j, from, to, st, own);

	if (!more)
		return comes_there(w, from, to, st);
	return refuse(w, from, more & OPS_NET ? more & OPS_NET : more, st);
}

static int tree_entry(struct tree *w, int dir, const char *name, size_t from_len, size_t to_len, unsigned depth)
{
	struct stat st;
	size_t n = strlen(name);

	if (++w->seen > TREE_ENTRIES || depth >= TREE_DEPTH || from_len + n + 2 > NAME_ROOM || to_len + n + 2 > NAME_ROOM)
		return -EXDEV;
	if (w->seen == PATIENCE)
		worker_blocking(w->j->worker);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return unread(w->j, (struct span){ w->from, (uint32_t)from_len });
	w->from[from_len] = w->to[to_len] = '/';
	memcpy(w->from + from_len + 1, name, n + 1);
	memcpy(w->to + to_len + 1, name, n + 1);
	from_len += n + 1;
	to_len += n + 1;
	int rc = tree_names(w, from_len, to_len, &st, is_own(w->j, dir, name, &st));
	if (rc != 0 || !S_ISDIR(st.st_mode))
		return rc;
	int below = open_quietly(dir, name);
	return below < 0 ? unread(w->j, (struct span){ w->from, (uint32_t)from_len }) : tree_walk(w, below, from_len, to_len, depth + 1);
}

static struct dirent *next_entry(DIR *d)
{
	errno = 0;
	return readdir(d);
}

/* Takes DIR. */
static int tree_walk(struct tree *w, int dir, size_t from_len, size_t to_len, unsigned depth)
{
	DIR *d = fdopendir(dir);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		close(dir);
		return -ENOMEM;
	}
	while (rc == 0 && (e = next_entry(d))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = tree_entry(w, dir, e->d_name, from_len, to_len, depth);
	}
	if (rc == 0 && errno) /* not its end: what follows was not seen */
		rc = unread(w->j, (struct span){ w->from, (uint32_t)from_len });
	closedir(d);
	return rc;
}

/*
 * Whether something below directory FROM would gain by the move, or come where it may not. 0 (TOLD as well), -EACCES, or -EXDEV when there is too much
 * to tell or to ask; AGAIN, where the call was decided on already: PERFORM_AGAIN for what the rules refuse now.
 */
static int check_below(struct job *j, const struct target *from, const struct target *to, bool again)
{
	struct span a = job_span(j, from->name), b = job_span(j, to->name);
	char *names CLEANUP_FREE = malloc(2 * NAME_ROOM);

	if (!names || a.len >= NAME_ROOM || b.len >= NAME_ROOM)
		return -ENOMEM;
	struct tree w = { .j = j, .from = names, .to = names + NAME_ROOM, .top = b, .again = again };
	memcpy(w.from, a.bytes, a.len);
	memcpy(w.to, b.bytes, b.len);
	char *leaf = job_text(j, from->leaf);
	size_t len = from->leaf.len;
	bool slash = from->want_dir && len > 1;
	if (slash)
		leaf[len - 1] = '\0';
	int dir = open_quietly(from->dir, leaf);
	if (slash)
		leaf[len - 1] = '/';
	return dir < 0 ? unread(j, a) : tree_walk(&w, dir, a.len, b.len, 0);
}

/* What FROM's entry, which fstat(2) describes as ST, gains by the name of TO. */
static op_set gained(struct job *j, const struct target *from, const struct target *to, const struct stat *st)
{
	return gains(j, job_span(j, from->name), job_span(j, to->name), st, is_own(j, from->dir, job_text(j, from->leaf), st));
}

/* FROM takes the name of TO: what that adds is needed at FROM as well. */
static int moves(struct job *j, struct target *from, const struct target *to)
{
	struct stat st = target_known(from);

	op_set more = gained(j, from, to, &st);
	from->ops |= more & (op_set)~OPS_NET;
	if (file_led(j, (uint32_t)(from - j->target))) /* what moves lies there: rename_redirect() looks at it, and at all below */
		return 0;
	if (S_ISDIR(from->mode)) {
		int rc = check_below(j, from, to, false);
		return rc == TOLD ? 0 : rc;
	}
	return more & OPS_NET ? gains_unreached(j, from) : 0;
}

/* Whether the path ends in no name of its own: ".", "..", or nothing but slashes. */
static bool nameless(struct span path)
{
	while (path.len && path.bytes[path.len - 1] == '/')
		path.len--;
	uint32_t at = path.len;
	while (at && path.bytes[at - 1] != '/')
		at--;
	uint32_t n = path.len - at;
	return n == 0 || (n <= 2 && path.bytes[at] == '.' && path.bytes[path.len - 1] == '.');
}

static bool other_device(const struct target *from, const struct target *to)
{
	struct stat a, b;

	return from->dir >= 0 && to->dir >= 0 && fstat(from->dir, &a) == 0 && fstat(to->dir, &b) == 0 && a.st_dev != b.st_dev;
}

/* Whether the two lie on different mounts: no entry moves from one to the other then (EXDEV). Two devices alone may be subvolumes of one file system. */
static bool other_mount(const struct target *from, const struct target *to)
{
	uint64_t a = other_device(from, to) ? mount_of(from->dir) : 0, b = a ? mount_of(to->dir) : 0;

	return a && b && a != b;
}

/* The kernel looks at where the directories lie and how the paths end before it looks for the entries. */
static int impossible(const struct job *j, unsigned flags)
{
	if (other_device(&j->target[0], &j->target[1]))
		return -EXDEV;
	if (nameless(job_span(j, j->path[0])))
		return -EBUSY;
	if (nameless(job_span(j, j->path[1])))
		return flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	return 0;
}

/* An entry is missing. */
static int missing(const struct job *j, unsigned flags)
{
	int rc = impossible(j, flags);

	if (rc < 0)
		return rc;
	if (file_missing(j->target[0].dir) == -EROFS)
		return -EROFS;
	const struct target *gone = &j->target[j->target[0].exists];
	return gone->leaf.len > (uint32_t)NAME_MAX + gone->want_dir ? -ENAMETOOLONG : -ENOENT;
}

static int resolve_rename(struct job *j, int olddir, int newdir, unsigned flags)
{
	bool exchange = flags & RENAME_EXCHANGE;
	struct target *from, *to;

	j->said = flags;
	j->word[FILE_FLAGS] = flags;
	int rc = file_entry(j, olddir, 0, OP_DELETE, ENTRY_EITHER, &from);
	if (rc < 0)
		return rc;
	rc = file_entry(j, newdir, 1, OP_CREATE, ENTRY_EITHER, &to);
	if (rc < 0)
		return rc;
	/* Both directories come first in the kernel, then the entries. */
	if ((!from->exists || (exchange && !to->exists)) && !file_rewritten(j))
		return missing(j, flags);
	if ((file_hidden(j, 0) || (exchange && file_hidden(j, 1))) && !file_rewritten(j)) /* as of one that is not there */
		rc = impossible(j, flags);
	if (rc < 0)
		return rc;
	if (to->exists)
		to->ops |= OP_DELETE;
	to->makes = makes_of(from->mode);
	if (flags & (RENAME_EXCHANGE | RENAME_WHITEOUT)) { /* something has the old name afterwards, too */
		from->ops |= OP_CREATE;
		from->makes = exchange ? makes_of(to->mode) : MAKES_NODE;
	}
	/* The kernel refuses it: a look at all that lies below is not needed. */
	if ((nameless(job_span(j, j->path[0])) || nameless(job_span(j, j->path[1])) || other_mount(from, to)) && !file_rewritten(j))
		return 0;
	rc = moves(j, from, to);
	return rc == 0 && exchange ? moves(j, to, from) : rc;
}

int rename_resolve(struct job *j)
{
	return resolve_rename(j, AT_FDCWD, AT_FDCWD, 0);
}

int renameat_resolve(struct job *j)
{
	return resolve_rename(j, (int)j->arg[0], (int)j->arg[2], 0);
}

int renameat2_check(struct job *j)
{
	uint64_t flags = j->arg[4];

	if (flags & ~(uint64_t)(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT))
		return -EINVAL;
	return (flags & RENAME_EXCHANGE) && (flags & (RENAME_NOREPLACE | RENAME_WHITEOUT)) ? -EINVAL : 0;
}

int renameat2_resolve(struct job *j)
{
	return resolve_rename(j, (int)j->arg[0], (int)j->arg[2], (unsigned)j->arg[4]);
}

/* Decides about what FROM's entry is now: led elsewhere, or exchanged or filled by others since the look. */
static int moves_now(struct job *j, struct target *from, const struct target *to)
{
	struct stat st;

	if (fstatat(from->dir, job_text(j, from->leaf), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* the kernel's to refuse */
	target_knows(from, &st);
	if (gained(j, from, to, &st) & ~from->ops)
		return PERFORM_AGAIN;
	return S_ISDIR(st.st_mode) ? check_below(j, from, to, true) : 0;
}

static int both_move_now(struct job *j)
{
	struct target *from = &j->target[0], *to = &j->target[1];

	if (other_mount(from, to))
		return 0;
	int rc = moves_now(j, from, to);
	return rc == 0 && (j->word[FILE_FLAGS] & RENAME_EXCHANGE) ? moves_now(j, to, from) : rc;
}

/* Whether what moves may get its new name, if it is not of the kind any more that was decided on. */
static bool same_kinds(struct job *j)
{
	struct target *from = &j->target[0], *to = &j->target[1];

	return gains_as_kind(j, from, to) && (!(j->word[FILE_FLAGS] & RENAME_EXCHANGE) || gains_as_kind(j, to, from));
}

/* What moves lies elsewhere than was asked for. Operations that the rule leads there as well were decided with the call. */
int rename_redirect(struct job *j, uint32_t index, const struct object *to)
{
	struct span asked = job_span(j, j->target[1].name);
	int rc = entries_redirect(j, index, to);

	if (rc == 0 && j->target[1].exists)
		rc = gains_led(j, &j->target[1], asked, OP_DELETE);
	if (rc == 0)
		rc = both_move_now(j);
	if (rc == 0 && !same_kinds(j))
		rc = -EACCES;
	if (rc != PERFORM_AGAIN && rc != -EACCES)
		return rc;
	j->verdict.kind = VERDICT_DENY;
	return -EACCES;
}

static long rename_with(struct job *j, unsigned flags)
{
	return syscall(SYS_renameat2, j->target[0].dir, job_text(j, j->target[0].leaf), j->target[1].dir,
		       job_text(j, j->target[1].leaf), flags);
}

static long do_rename(struct job *j)
{
	return rename_with(j, (unsigned)j->word[FILE_FLAGS]);
}

/* What has come there since the look is not removed unasked. EINVAL: the file system has no such renames, or the kernel refuses it anyway. */
static long do_rename_new(struct job *j)
{
	long rc = rename_with(j, (unsigned)j->word[FILE_FLAGS] | RENAME_NOREPLACE);

	return rc < 0 && errno == EINVAL ? do_rename(j) : rc;
}

/* Others have moved or made something since the look. 0: it is right still; PERFORM_AGAIN: it has to be decided on anew. */
static int look_again(struct job *j)
{
	if (!making_stands(j, &j->target[0]) || !making_stands(j, &j->target[1]))
		return PERFORM_AGAIN;
	int rc = both_move_now(j);
	return rc == 0 && !same_kinds(j) ? PERFORM_AGAIN : rc;
}

/* Whether nothing had the new name, so that nobody was asked whether it may be removed. */
static bool is_new(const struct job *j)
{
	bool told = j->word[FILE_FLAGS] & (RENAME_NOREPLACE | RENAME_EXCHANGE);

	return !told && !j->target[1].exists && !nameless(job_span(j, j->path[1]));
}

static void note_former(struct job *j, const struct target *from, const struct target *to)
{
	if (S_ISDIR(from->mode))
		former_note(j->session, job_span(j, from->name), job_span(j, to->name));
}

/*
 * Between look and move nothing may be moved or made below that was not looked at, nor may a directory above get another name: where rules do not allow
 * every file, one rename follows the other (as in the kernel on each file system), and one that others have overtaken since its look looks again.
 */
static int rename_alone(struct job *j)
{
	int rc = making_stop(j);

	if (rc < 0)
		return rc;
	if (!making_quiet(j))
		rc = look_again(j);
	if (rc == 0) {
		bool new = is_new(j);
		note_former(j, &j->target[0], &j->target[1]);
		if (j->word[FILE_FLAGS] & RENAME_EXCHANGE)
			note_former(j, &j->target[1], &j->target[0]);
		rc = file_act(j, false, new ? do_rename_new : do_rename);
		if (new && j->reply.value == -EEXIST)
			rc = PERFORM_AGAIN;
	}
	making_go(j, rc == 0 && j->reply.kind == REPLY_VALUE);
	return rc;
}

int rename_perform(struct job *j)
{
	int rc = j->session->files_free ? file_act(j, false, do_rename) : rename_alone(j);

	/* over an empty one */
	if (rc == 0 && S_ISDIR(j->target[0].mode) && j->target[1].exists && !(j->word[FILE_FLAGS] & RENAME_EXCHANGE))
		file_removed_directory(j, j->target[1].ino);
	return rc;
}
