/* SPDX-License-Identifier: Apache-2.0 */
/* Process groups whose leader has ended: of a pipeline, that of a first program that was done first. */
#ifndef USHER_SUPERVISOR_LEADERLESS_H
#define USHER_SUPERVISOR_LEADERLESS_H

#include "supervisor/job.h"

/*
 * Whether all that are left in GROUP belong to the tree: 0, -EPERM where one does not, -ESRCH where nobody is left. *member is one by whom the group can
 * be held, since nobody but itself could move it to another one before j is answered; 0 where there is none such.
 */
int leaderless_inside(struct job *j, pid_t group, pid_t *member);

/* Whether PID runs a program of its own: who has only been forked may be moved by its parent. */
bool has_execed(pid_t pid);

#endif
