/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files that may not exist yet, as patterns and objects have them. */
#ifndef USHER_POLICY_REAL_NAME_H
#define USHER_POLICY_REAL_NAME_H

#include <limits.h>
#include <sys/types.h>

/*
 * NAME, which is absolute, with links resolved, also those that lead to what does not exist, and without ".", ".." and doubled slashes. Returns how
 * much of OUT exists (0: the root alone), or -ENAMETOOLONG. The last link of a loop is taken for what is missing.
 */
ssize_t real_name(const char *name, char out[PATH_MAX]);

/*
 * Calls EACH with whatever leads from NAME, which is absolute, to what it means: every symbolic link, the last component among them, and every
 * directory that is left again by ".."; absolute, and without links before their own last component. Any of them that is replaced has NAME mean
 * something else. Returns 0 or -ENAMETOOLONG.
 */
int real_name_leads(const char *name, void (*each)(void *context, const char *lead), void *context);

#endif
