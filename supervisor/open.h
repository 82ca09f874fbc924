/* SPDX-License-Identifier: Apache-2.0 */
/* open, openat, openat2, creat: what the files that perform them share. */
#ifndef USHER_SUPERVISOR_OPEN_H
#define USHER_SUPERVISOR_OPEN_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "supervisor/job.h"

#define OPEN_TMPFILE (O_TMPFILE & ~O_DIRECTORY)

/* The row-private words of an open. */
enum open_word {
	OPEN_FLAGS = 0,   /* as the kernel would take them, after masking */
	OPEN_MODE = 1,
	OPEN_RESOLVE = 2, /* the caller's RESOLVE_* */
	OPEN_DIRFD = 3,
};

static inline bool open_creates(const struct job *j)
{
	return j->word[OPEN_FLAGS] & O_CREAT;
}

static inline bool open_temporary(const struct job *j)
{
	return j->word[OPEN_FLAGS] & OPEN_TMPFILE;
}

/* NAME below DIR, by the caller's flags, MORE and credentials; without waiting. A descriptor or a negative errno. */
int open_named(struct job *j, int dir, const char *name, uint64_t more, uint64_t resolve_flags);

/* Takes off FD, a file or a directory, the O_NONBLOCK that was only open_named()'s. Returns FD, which may be negative. */
int open_restore_flags(const struct job *j, int fd);

/* FD, or a negative errno, becomes the reply. Takes FD; as a performer returns. The second is for what is neither a file nor a directory. */
int open_inject(struct job *j, int fd);
int open_inject_special(struct job *j, int fd, const struct stat *st);

/* Whether ST is the node that stands for each process's own terminal. */
bool open_own_tty(const struct stat *st);

/* Performs an open of T, which is held: the caller gets that object and no other. As a performer returns. */
int open_existing(struct job *j, const struct target *t);

/*
 * Checks flags, mode and resolve as the kernel's build_open_flags() does. STRICT: openat2's rules (unknown bits are
 * errors); else what open ignores is masked off. Fills the words. 0, -EINVAL or -EAGAIN.
 */
int open_flags(struct job *j, uint64_t flags, uint64_t mode, uint64_t resolve, bool strict);

/* openat2's struct: copied once, with the kernel's size rules. 0, -EINVAL, -E2BIG, -EFAULT. */
int open_how_copy(struct job *j, uint64_t addr, uint64_t size);

/*
 * -EMFILE when the caller has no descriptor left, else 0: asked before an open that creates or truncates, as the kernel takes the
 * number first. Ends the tree where `limit files` is what stands against it. The size of /proc/TID/fd is how many there are since Linux 6.2; before, it is 0, and the last number is looked for.
 */
int open_room(struct job *j);

/*
 * FD was opened with O_NONBLOCK so that nothing could block: makes it what the caller asked for, which may wait (a
 * FIFO). HELD is a descriptor of the object, or -1 when FD itself is the only one. Takes FD. Returns a descriptor or a negative errno;
 * -ERESTARTSYS (-512) when the caller has a signal to handle.
 */
int open_settle(struct job *j, int fd, const struct stat *st);

/*
 * To be called before J opens FIFO: those leave its other end whose callers have ended, and who opens that end next sees J. Whether J's caller is
 * still there. May wait for a moment.
 */
bool open_at_fifo(struct job *j, const struct stat *fifo);

/* Opens the held object again, blocking as the caller asked for. As above. */
int open_held(struct job *j, int held, const struct stat *st);

/* The caller's controlling terminal, opened with the caller's flags where it may open NODE so; a descriptor or -ENXIO and the like. */
int open_terminal(struct job *j, int node);

/* Whether the terminal FD becomes the controlling one of the caller's session by being opened. */
bool open_takes_terminal(const struct job *j, int fd, const struct stat *st);

/* Gives it to the caller, which makes it that. Takes FD; sets j->reply. */
int open_take_terminal(struct job *j, int fd);

/*
 * Performs an open with O_PATH. ADDFD cannot hand over such a descriptor: the caller opens it itself, by flags that come from registers, which nobody can
 * change now. It grants nothing, as every use of it is decided on the object, but to look at it (fstat): what a rule on stat, or one that leads elsewhere, has
 * decided on the caller is given by a descriptor.
 */
int open_path(struct job *j);

#endif
