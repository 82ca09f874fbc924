/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command's process that was made before the rules were read is told by these what it is to do: in memory that it shares with usher, and by a byte that
 * says so.
 *
 * MUST: who waits to be told ends when usher does, however that happens, and does nothing meanwhile.
 */
#ifndef USHER_SUPERVISOR_AHEAD_H
#define USHER_SUPERVISOR_AHEAD_H

#include <stdbool.h>

#include "supervisor/launch.h"

struct ahead;

/* Room for what a command is told that gets little more than ENVIRONMENT. Before the fork. Returns 0 or a negative errno. */
int ahead_new(char *const *environment, struct ahead **out);

/* usher's own part, when the command's process has a descriptor table of its own or has ended. Safe on NULL. */
void ahead_free(struct ahead *a);

/* The memory alone, in whoever was forked and does not wait: descriptors go with the table. Safe on NULL. */
void ahead_forget(struct ahead *a);

/*
 * Tells O, whose pointers but those to filter, environment and isolation must lead to what was there before the fork. Once. Returns 0, or a negative errno
 * with nothing told: -E2BIG (there is no room), or as write(2).
 */
int ahead_tell(struct ahead *a, const struct launch_options *o);

/* The command is not to be started: who waits ends. */
void ahead_give_up(struct ahead *a);

/* In the command's process: waits, and makes O what was told, which may be used until its exec. False: it is to end. Async-signal-safe. */
bool ahead_await(struct ahead *a, struct launch_options *o);

#endif
