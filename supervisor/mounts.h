/* SPDX-License-Identifier: Apache-2.0 */
/* What is mounted where, as usher sees it at the start. */
#ifndef USHER_SUPERVISOR_MOUNTS_H
#define USHER_SUPERVISOR_MOUNTS_H

#include <stdbool.h>

/* Calls EACH with the type of every mount and the name of its place. Returns 0 or a negative errno. */
int mounts_each(void (*each)(const char *type, const char *dir, void *context), void *context);

/*
 * Whether a file system of TYPE is one through whose files root changes the kernel itself, and DIR is not the place by which the guard's and
 * the user's rules know it. Pure.
 */
bool mounts_astray(const char *type, const char *dir);

#endif
