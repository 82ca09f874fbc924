/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What launch.c and launch_command.c share: the processes that usher starts, from their first instruction on. MUST: async-signal-safe calls
 * only, and what beside.h says.
 */
#ifndef USHER_SUPERVISOR_LAUNCH_CHILD_H
#define USHER_SUPERVISOR_LAUNCH_CHILD_H

#include "supervisor/beside.h"
#include "supervisor/launch.h"

/* Reports on STATUS that STEP failed, for errno, and ends the calling process. */
_Noreturn void launch_fail(int status, const char *step);

/* Sorts the N descriptors of KEEP, above 2, and takes a descriptor table that holds 0, 1, 2 and them. Returns 0, or -1 with errno. */
int launch_keep_only(int *keep, size_t n);

struct command {
	const struct launch_options *given;
	pid_t guardian;
	int status;          /* where reports go */
	struct beside place;
};

/* Starts the command's process, a child of the calling one. *C must stay. Returns its pid, or a negative errno. */
pid_t command_start(struct command *c);

#endif
