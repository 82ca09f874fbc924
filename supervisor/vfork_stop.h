/* SPDX-License-Identifier: Apache-2.0 */
/* A key that stops a group can stop the child of a vfork(2) before its exec; the parent then waits where no signal but SIGKILL wakes it, nobody sees a stop, and nobody ends it. */
#ifndef USHER_SUPERVISOR_VFORK_STOP_H
#define USHER_SUPERVISOR_VFORK_STOP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Lets every such child in the process group GROUP go on: its parent stops instead, when the child has its own program. Whether there was one.
 * Reads all of /proc; children of a parent that usher may not look at are left alone.
 */
bool vfork_stop_end(pid_t group);

#endif
