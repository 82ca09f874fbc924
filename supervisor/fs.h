/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's view of the file system: working directory, root and umask, as the kernel has them for the calling thread. */
#ifndef USHER_SUPERVISOR_FS_H
#define USHER_SUPERVISOR_FS_H

#include "supervisor/job.h"

/* Where a relative name starts. */
struct base {
	int fd;           /* O_PATH descriptor, or the caller's own directory */
	bool lent;        /* fd is the worker's: see place.h */
	struct text name; /* canonical, in the job's arena */
};

/* The starting point of a path relative to DIRFD (AT_FDCWD: the working directory). 0, -EBADF, -ENOTDIR, or another negative errno. */
int fs_base(struct job *j, int dirfd, struct base *out);
void fs_base_done(struct base *b);
/* B's descriptor, which is not B's any more; where it was lent it still is the worker's. */
int fs_base_take(struct base *b);

/*
 * The name of the caller's working directory, as the kernel has it now, into the arena: nothing is held. 1: it leads to the
 * directory, as far as was seen within the last tenth of a second. 0: it may not (removed, hidden below a mount): use fs_base().
 * A rename in between can make it lead nowhere or elsewhere: what is opened below it is then what the name says.
 */
int fs_cwd_name(struct job *j, struct text *out);

/*
 * As fs_base() of the working directory, by the name it has now: half as long. For entries of it, whose name is what is decided; a rename
 * of the directory in between makes it the one that has the name then, as fs_cwd_name() says.
 */
int fs_base_named(struct job *j, struct base *out);

/* Whether NAME leads to the caller's working directory at this moment. */
bool fs_cwd_holds(struct job *j, const char *name);

/* The caller's umask, or a negative errno. */
int fs_umask(struct job *j);

/* Gives the worker's thread the caller's umask, before something is created. 0 or a negative errno. */
int fs_take_umask(struct job *j);

/* *out is an O_PATH descriptor of the caller's root when that is another than usher's own (yours to close), else -1. 0 or a negative errno. */
int fs_root(struct job *j, int *out);

#endif
