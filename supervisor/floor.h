/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: a Landlock domain for the command, in which the kernel refuses what usher forgot to mediate.
 *
 * MUST: every right that the kernel knows is handled; nothing is granted but reading and executing files where an
 * exec rule could lead, because that alone the command does itself, and reading where opens for reading are left to the kernel. All
 * else happens through usher, outside.
 */
#ifndef USHER_SUPERVISOR_FLOOR_H
#define USHER_SUPERVISOR_FLOOR_H

#include <stdbool.h>
#include <stddef.h>

struct policy;
struct floor;

/*
 * Makes the domain's rules. In the parent, before the fork. Returns 0, -EOPNOTSUPP when the kernel has no
 * Landlock, or another negative errno.
 */
int floor_prepare(const struct policy *policy, struct floor **out);
void floor_free(struct floor *floor);

/*
 * The command may read everywhere itself, and control the devices it has read: for where opens for reading are left to the kernel
 * (cover.h). Before floor_enter(). Returns 0 or a negative errno.
 */
int floor_open_reads(struct floor *floor);

/* The domain as a descriptor, for floor_enter(); FLOOR's own. -1 of NULL. */
int floor_ruleset(const struct floor *floor);

/* In the child, with no_new_privs set, before the filter: from here on it cannot be left. Async-signal-safe. 0 or a negative errno. */
int floor_enter(int ruleset);

/* Whether the domain keeps signals (kill, F_SETOWN) inside the tree. */
bool floor_scopes_signals(const struct floor *floor);

/* The names below which the command may read and execute files itself: the one after PREVIOUS (NULL: the first), NULL at the end. */
const char *floor_grant(const struct floor *floor, const char *previous);

/* The Landlock ABI of the running kernel, 0 when there is none. */
int floor_abi(void);

/* What the floor covers on this kernel, one line for people. Returns its length as snprintf() does, 0 without Landlock. */
size_t floor_describe(char *out, size_t size);

#endif
