/* SPDX-License-Identifier: Apache-2.0 */
/* Files at names where somebody else may have left anything: a pipe would keep who opens it, or be fed what is written. */
#ifndef USHER_RULES_PLAIN_FILE_H
#define USHER_RULES_PLAIN_FILE_H

#include <stdio.h>
#include <sys/types.h>

/*
 * Opens NAME below DIR with FLAGS, close-on-exec, mode 0600 where it is made, and never waits. A descriptor; -EISDIR of a directory, -EINVAL of what else is no
 * regular file, or the errno of the open (-ELOOP with O_NOFOLLOW). Any thread.
 */
int plain_open(int dir, const char *name, int flags);

/* The same to read lines of, from the working directory; NULL with errno. */
FILE *plain_lines(const char *name, int flags);

/* More than a line of any file of usher's has. */
#define PLAIN_LINE ((size_t)1 << 20)

/*
 * The next line of F, with its end, into *LINE (NULL at first; for free()), a NUL behind it. Its length, 0 at the end, -1 without memory. A longer one comes in pieces
 * of PLAIN_LINE bytes: the file may be somebody else's, and terabytes of it a hole.
 */
ssize_t plain_line(FILE *f, char **line);

#endif
