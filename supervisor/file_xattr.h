/* SPDX-License-Identifier: Apache-2.0 */
/* What setting and reading attributes have in common. */
#ifndef USHER_SUPERVISOR_FILE_XATTR_H
#define USHER_SUPERVISOR_FILE_XATTR_H

#include "supervisor/job.h"

/* struct xattr_args of setxattrat(2) and getxattrat(2). */
struct value_args {
	uint64_t value;
	uint32_t size;
	uint32_t flags;
};

/* struct file_attr of file_setattr(2) and file_getattr(2), with room for what newer kernels add. */
#define ATTR_MIN 24
#define ATTR_MAX 4096

/* The attribute's name at ADDR into data[0], once. Returns 0 or a negative errno. */
int xattr_copy_name(struct job *j, uint64_t addr);

/*
 * RC is what is wrong with the arguments, 0: nothing. Returns it where the running kernel says that first; else keeps it in J->late, for
 * when the file has been found and the call is allowed, and returns 0.
 */
int xattr_checked(struct job *j, int rc);

/* The caller's struct at ADDR, SIZE bytes: what it has beyond OUT's must be zero. Returns 0 or a negative errno. */
int xattr_copy_args(struct job *j, uint64_t addr, uint64_t size, struct value_args *out);

/* Whether the kernel takes AT_FDCWD for the descriptor of fsetxattr(2) and fgetxattr(2): Linux 6.18 does, 6.12 does not. */
bool xattr_takes_place(void);

#endif
