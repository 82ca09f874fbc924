/* SPDX-License-Identifier: Apache-2.0 */
/* What the performers of the file calls share. */
#ifndef USHER_SUPERVISOR_FILE_H
#define USHER_SUPERVISOR_FILE_H

#include <stdbool.h>

#include "supervisor/job.h"

/*
 * A call in words of its own: resolve functions leave here what perform needs
 * besides the targets.
 */
enum file_word {
	FILE_FLAGS = 0, /* the call's own flags, or mode, as it takes them */
	FILE_A = 1,
	FILE_B = 2,
	FILE_C = 3,
};

enum entry_want {
	ENTRY_THERE,  /* ENOENT or EROFS when it is not */
	ENTRY_NEW,    /* EEXIST when it is there */
	ENTRY_EITHER,
};

/* The directory entry that path number PATH of the call names. */
int file_entry(struct job *j, int dirfd, unsigned path, op_set ops, enum entry_want want, struct target **out);

/* What the kernel says of an entry of DIR that is not there, and was to be removed: ENOENT, or EROFS, which it looks at first. */
int file_missing(int dir);

/* The object that path number PATH names; FLAGS are LOOK_*. */
int file_object(struct job *j, int dirfd, unsigned path, unsigned flags, op_set ops, struct target **out);

/* The object behind descriptor FD, which must be more than a path descriptor (EBADF), as the f-calls have it. */
int file_descriptor(struct job *j, int fd, op_set ops, struct target **out);

/*
 * The same for calls that act on the descriptor: j->sock is the caller's own, and the target, tentative, holds nothing. Where that is not
 * simply allowed it comes again with j->full and is as file_descriptor() has it, j->sock -1: what waits for an answer keeps nothing open.
 */
int file_opened(struct job *j, int fd, op_set ops, struct target **out);

/* The caller's own descriptor into j->sock, once more: 0, or -EBADF where its number stands for something else by now than for target 0. */
int file_again(struct job *j, int fd);

/* Performs ACT (a system call: -1 and errno) with the caller's credentials, and its umask when CREATES; replies with the result. */
int file_act(struct job *j, bool creates, long (*act)(struct job *j));

/* After J, which removes directory INO, was performed. */
void file_removed_directory(struct job *j, uint64_t ino);

#define FILE_PROC_PATH 32
/* The name through which a held object is reached by calls that only take names. Never followed further, even if it is a link. */
const char *file_proc_path(int fd, char out[FILE_PROC_PATH]);

/* Whether a rule leads target INDEX elsewhere, as if it were the only one. */
bool file_led(struct job *j, uint32_t index);

/* Whether some rule may lead a file's name elsewhere: then a name is decided on even if nothing has it. */
bool file_may_rewrite(const struct job *j);

/* Whether a rule on stat hides target INDEX of the call from its caller: a name that must be new is then decided on as if it were. */
bool file_hidden(struct job *j, uint32_t index);

/* Whether the targets resolved so far are led elsewhere: what exists under the name that the program said does not matter then. */
bool file_rewritten(struct job *j);

/*
 * After target INDEX was redirected: leads the other targets elsewhere too, by REDIRECT, where a rule says so. 0, -EPERM when one of them is refused, or another negative errno.
 */
int file_redirect_others(struct job *j, uint32_t index, int (*redirect)(struct job *j, uint32_t index, const struct object *to));

/* The object of path number 0 for OP_STAT, as a new target: a name whose content is led elsewhere looks like what it leads to. */
int file_seen(struct job *j, int dirfd, unsigned look);

/* redirect for a target that was resolved as an entry, or as an object. */
int entry_redirect(struct job *j, uint32_t index, const struct object *to);
int object_redirect(struct job *j, uint32_t index, const struct object *to);
/* As entry_redirect(), for calls with two entries. */
int entries_redirect(struct job *j, uint32_t index, const struct object *to);

#endif
