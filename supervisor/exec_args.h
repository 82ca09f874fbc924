/* SPDX-License-Identifier: Apache-2.0 */
/* The argument vector of an exec: copied once, kept for verification, joined for matching. */
#ifndef USHER_SUPERVISOR_EXEC_ARGS_H
#define USHER_SUPERVISOR_EXEC_ARGS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rules/call.h"

/* What the kernel takes at most: of one string with its NUL, and of all (a quarter of the stack is capped there). */
#define ARGS_STRING_MAX (128 * 1024)
#define ARGS_TOTAL_MAX (6 * 1024 * 1024)

/* Growing bytes with a NUL behind each string. */
struct args {
	char *bytes; /* malloc */
	size_t len;
	size_t cap;
	uint32_t count;
};

void args_free(struct args *a);

/* Appends a string. 0, -ENOMEM, or -E2BIG. */
int args_add(struct args *a, struct span s);

/*
 * Copies the vector of pointers at ADDR (0: empty) of thread TID, and its strings. Returns 0, -EFAULT or -E2BIG as
 * the kernel would, -EPERM, -ESRCH, -ENOMEM. *a stays the caller's to free.
 */
int args_copy(pid_t tid, uint64_t addr, struct args *a);

/* The same with AHEAD, the first pointers of the vector as they were read before. */
int args_copy_on(pid_t tid, uint64_t addr, struct span ahead, struct args *a);

/* The string after the first one, and everything that follows. */
struct span args_after_first(const struct args *a);

/*
 * Joins NUL-ended STRINGS with blanks for argv= patterns: blanks, quotes and backslashes in an argument get a
 * backslash before them. Writes at most CAP bytes (what does not fit is left out) and returns the length; *whole tells whether all went in.
 */
size_t args_join(struct span strings, char *out, size_t cap, int *whole);

#endif
