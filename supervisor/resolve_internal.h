/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the resolver only. */
#ifndef USHER_SUPERVISOR_RESOLVE_INTERNAL_H
#define USHER_SUPERVISOR_RESOLVE_INTERNAL_H

#include <linux/openat2.h>

#include "supervisor/fs.h"
#include "supervisor/resolve.h"

/* Where a look starts: the base of a relative name and the caller's own root, -1 when it is usher's. */
struct start {
	struct base base;
	int root;
	int fd;           /* what path is relative to, as openat2(2) takes it */
	const char *path;
	size_t len;
	uint64_t resolve;
};

/* openat2(2) with the caller's credentials; a descriptor (close-on-exec) or a negative errno. */
int look_open(struct job *j, int dirfd, const char *path, uint64_t flags, uint64_t resolve);

/* DIR/LEAF in the arena; absent when there is no room. */
struct text join_name(struct job *j, struct text dir, const char *leaf, size_t len);

/* T's parent is held in t->dir under the name DIR: sets leaf (with a slash behind when SLASH) and name. 0 or -ENOMEM. */
int set_leaf(struct job *j, struct target *t, struct text dir, const char *leaf, size_t len, bool slash);

#define PROC_ROOT_INO 1 /* of each procfs's top directory (include/linux/proc_ns.h) */

/*
 * The walk by hand, component by component: for whatever touches /proc, and for names that do not exist. Fills T
 * as resolve() says; returns 0 or a negative errno.
 */
int walk_by_hand(struct job *j, const struct look *l, const struct start *s, struct target *t);

/* Resolves the absolute NAME, in usher's own root with the caller's credentials, into T as resolve() says (LOOK_TENTATIVE is ignored). 0 or a negative errno. */
int look_named(struct job *j, struct text name, unsigned flags, struct target *t);

/*
 * The canonical name THERE is nobody's, and what T was asked for by goes up out of it: THERE/.., with REST behind. Where rules lead THERE to a directory, T->up is
 * the name to go on by: THERE's own parent; or, where a link leads on from there, what lies above the place that it leads to. FLAGS: whether an entry is
 * meant, and no object (LOOK_PARENT), and whether links are followed (LOOK_NO_LINKS). Returns -ENOENT with T->up set, or a negative errno.
 */
int resolve_up(struct job *j, struct target *t, struct text there, struct text rest, unsigned flags);

/* The name of directory FD, which is deeper than PATH_MAX, into the arena; -ENAMETOOLONG where it cannot be told. */
int resolve_deep_name(struct job *j, int fd, struct text *out);

/* Whether a rule on stat hides T, by its name and identity, from the caller. */
bool resolve_hides(const struct job *j, const struct target *t);

/* As resolve_hides(), 0 or 1, for the object of FD; or a negative errno. */
int resolve_hidden(struct job *j, int fd);

/* As resolve_describe(), for T->fd that fstat(2) says ST of. */
int resolve_describe_as(struct job *j, struct target *t, const struct stat *st);

/*
 * T was reached through a descriptor of the caller's that only names it (O_PATH). The kernel gives such ones of whatever another process has open, and usher
 * is not asked; where that process may have what this one must not, an object without a name is not opened through it. 0 or -EACCES.
 */
int resolve_by_path(struct job *j, const struct target *t);

/* Refuses what no rule can allow, for the record: returns -EACCES. */
int resolve_guarded(struct job *j);

#endif
