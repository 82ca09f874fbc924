/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files that may not exist yet, as patterns and objects have them. */
#ifndef USHER_POLICY_REAL_NAME_H
#define USHER_POLICY_REAL_NAME_H

#include <limits.h>
#include <sys/types.h>

/*
 * NAME, which is absolute, with links resolved as far as it exists, and without ".", ".." and doubled slashes in what is missing behind.
 * Returns how much of OUT exists (0: the root alone), or -ENAMETOOLONG.
 */
ssize_t real_name(const char *name, char out[PATH_MAX]);

/*
 * Calls EACH with the name of every symbolic link that leads from NAME, which is absolute, to what it means, the last component among them:
 * absolute, and without links before its own last component. Any of them that is replaced has NAME mean something else. Returns 0, or -ELOOP or
 * -ENAMETOOLONG where the kernel would not follow NAME.
 */
int real_name_links(const char *name, void (*each)(void *context, const char *link), void *context);

#endif
