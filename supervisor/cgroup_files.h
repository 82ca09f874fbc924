/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a control group, by the descriptor of its directory. */
#ifndef USHER_SUPERVISOR_CGROUP_FILES_H
#define USHER_SUPERVISOR_CGROUP_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Writes TEXT into FILE, which exists. Returns 0 or a negative errno. */
int cgroup_put(int dir, const char *file, const char *text);

/* The number after KEY in FILE, whose lines are "KEY NUMBER"; KEY NULL: FILE is one number. Returns 0 or a negative errno. */
int cgroup_number(int dir, const char *file, const char *key, uint64_t *out);

/* Whether WORD is among the words of FILE. */
bool cgroup_lists(int dir, const char *file, const char *word);

/* How many others are in the group that the calling process is in; -ESRCH: it is not in it; or another negative errno. */
int cgroup_company(int dir);

#endif
