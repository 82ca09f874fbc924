/* SPDX-License-Identifier: Apache-2.0 */
/* Files at names where somebody else may have left anything: a pipe would keep who opens it, or be fed what is written. */
#ifndef USHER_RULES_PLAIN_FILE_H
#define USHER_RULES_PLAIN_FILE_H

#include <stdio.h>

/*
 * Opens NAME below DIR with FLAGS, close-on-exec, mode 0600 where it is made, and never waits. A descriptor; -EISDIR of a directory, -EINVAL of what else is no
 * regular file, or the errno of the open (-ELOOP with O_NOFOLLOW). Any thread.
 */
int plain_open(int dir, const char *name, int flags);

/* The same to read lines of, from the working directory; NULL with errno. */
FILE *plain_lines(const char *name, int flags);

#endif
