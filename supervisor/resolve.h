/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a name as the program said it to the object it means, with the caller's
 * own root, working directory, descriptors, /proc/self and terminal.
 *
 * MUST: a name that a decision is made on is the name of a descriptor held from then
 * on, or tentative: then the performer opens it so that any symbolic link makes it fail.
 */
#ifndef USHER_SUPERVISOR_RESOLVE_H
#define USHER_SUPERVISOR_RESOLVE_H

#include "supervisor/job.h"

enum look_flags {
	LOOK_NOFOLLOW = 1 << 0,  /* a symbolic link as last component is itself the object */
	LOOK_MISSING = 1 << 1,   /* the object need not exist: target->exists tells, dir and leaf are held then */
	LOOK_PARENT = 1 << 2,    /* the entry itself is meant (unlink, mkdir, ...): dir and leaf are always held and the last component
				    is not followed; exists, dev, ino, nlink and mode say what is there now, fd stays -1 */
	LOOK_EMPTY = 1 << 3,     /* AT_EMPTY_PATH: an empty path is the descriptor itself */
	LOOK_BLIND = 1 << 7,     /* with LOOK_PARENT: the entry is not looked at; the target is tentative */
	LOOK_TENTATIVE = 1 << 4, /* a lexical name will do unless job->full */
	LOOK_DIRECTORY = 1 << 5, /* ENOTDIR unless a directory */
	LOOK_STEPS = 1 << 8,     /* component by component: where that fails, the target is what it failed at the end of */
	LOOK_NO_LINKS = 1 << 9,  /* ELOOP where a symbolic link is met: for names that have no caller's RESOLVE_NO_SYMLINKS */
	LOOK_SAID = 1 << 10,     /* the kernel looks it up by the name as it was said: ENOENT where it is there, and found by another one alone (target->up) */
	LOOK_LINKS = 1 << 11,    /* set by resolve(): a link was on the way the last time, and is looked for at once */
	LOOK_ABSENT = 1 << 6,    /* nor need its directory exist: the target has a name then and nothing else, dir and fd are -1 */
};

struct look {
	int dirfd;        /* the caller's number, or AT_FDCWD */
	struct text path; /* as copied */
	unsigned flags;
	uint64_t resolve; /* the caller's own RESOLVE_* (openat2), 0 otherwise */
};

/*
 * Resolves L into a new target with OPS. Returns 0 with *out set, or a negative errno as natively (a target that
 * was added stays with its name filled in as far as known, for the record). An existing object without LOOK_PARENT: fd is
 * an O_PATH descriptor of it, name its canonical name; dev, ino, nlink and mode are set. A deleted file goes by the name it
 * had, nlink is 0. memfds, and pipes, sockets and the like reached through a /proc link of the tree, are OBJECT_MEMFD.
 */
int resolve(struct job *j, const struct look *l, op_set ops, struct target **out);

/* Whether the directory that T, of which resolve() found nothing but a name, lies in is there where rules lead it. 0 or a negative errno. */
int resolve_led_above(struct job *j, const struct target *t);

/* The object behind descriptor FD of the caller (AT_FDCWD: its working directory), as a new target (fd is an O_PATH descriptor). -EBADF as natively. */
int resolve_fd(struct job *j, int fd, op_set ops, struct target **out);

/*
 * Points T at the absolute name NAME (a rewrite's goal): resolved anew with FLAGS (LOOK_TENTATIVE is ignored); T
 * keeps its named and ops. Used by redirect functions. Returns 0 or a negative errno.
 */
int resolve_redirect(struct job *j, struct target *t, struct span name, unsigned flags);

/*
 * Fills kind, name, identity and mode of T from T->fd. -EACCES when it lies in /proc below a process
 * outside the tree and is not public; -ENAMETOOLONG when deeper than PATH_MAX.
 */
int resolve_describe(struct job *j, struct target *t);

/*
 * Whether FD is something in the caller's own directory of /proc that the kernel shows a process of itself whatever its users are, and
 * others (usher with the caller's credentials) only where they may trace it. OWN_FD: fd and map_files, whose mode counts for nothing;
 * OWN_WRITABLE: those, and a thread's name (comm); OWN_DESCRIPTORS: fd and fdinfo, directories it may search and list; OWN_READABLE: those,
 * map_files, and what everybody's mode lets read (maps); OWN_FILE: any file, of which the mode and the caller's powers still say who may.
 */
enum own_kind { OWN_FD, OWN_WRITABLE, OWN_DESCRIPTORS, OWN_READABLE, OWN_FILE };
bool resolve_own_process(struct job *j, int fd, enum own_kind kind);

/* Whether FD, of which fstat(2) says ST, lies on a procfs: usher's own or another that is mounted anywhere. */
bool on_procfs(const struct job *j, int fd, const struct stat *st);

/* The mount that FD lies on; 0 where the kernel does not say. */
uint64_t mount_of(int fd);

/* Opens the object held by FD again with FLAGS, through /proc/self/fd; a descriptor or a negative errno. */
int resolve_reopen(int fd, int flags);

#endif
