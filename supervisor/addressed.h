/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service manager says to one process, by its number, in variables of the environment: which sockets it has got
 * (LISTEN_PID, LISTEN_FDS, as sd_listen_fds(3)) and that it is watched (WATCHDOG_PID, as sd_watchdog_enabled(3)). It knows
 * usher, and means the command.
 */
#ifndef USHER_SUPERVISOR_ADDRESSED_H
#define USHER_SUPERVISOR_ADDRESSED_H

#include <stddef.h>
#include <sys/types.h>

/* Room for both variables. */
struct addressed {
	char text[2][32];
};

/*
 * Those of ENVP that name MANAGED, the process that the manager started, name the caller from here on: LISTEN_PID only where all descriptors
 * are open that were passed, and LISTEN_PIDFDID is left out then. The strings are in ROOM. No heap; any process.
 */
void addressed_take(struct addressed *room, char **envp, pid_t managed);

/*
 * The first descriptor that the manager has passed to the caller and that is not among the N of KEEP, or -1: the command will
 * not have it.
 */
int addressed_left_out(const int *keep, size_t n);

#endif
