/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the kernel makes on another process's number, after usher has looked whose it is. */
#ifndef USHER_SUPERVISOR_HELD_H
#define USHER_SUPERVISOR_HELD_H

#include <stdbool.h>

#include "supervisor/job.h"

/*
 * For a row's perform: the caller makes its call on process or thread NUMBER of the tree (GROUP, unless 0: on that group, which it leads, or of
 * which it is left), which keeps that meaning
 * until the call is over. Signals, and setpgid, also go where the number cannot be held (somebody traces it, or the caller); other calls are refused there: EPERM.
 */
int held_continue(struct job *j, pid_t number, pid_t group);

#endif
