/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of supervisor/rows_guard.inc name. Contracts: struct sysrow. */
#ifndef USHER_SUPERVISOR_ROWS_GUARD_H
#define USHER_SUPERVISOR_ROWS_GUARD_H

#include "supervisor/job.h"

/* The first argument (the first two) names a process or thread of the tree, or 0. */
int guard_first(struct job *j);
int guard_both(struct job *j);
int guard_kill(struct job *j);
int guard_owner(struct job *j);
int guard_priority(struct job *j);
int guard_ioprio(struct job *j);
int guard_setpgid(struct job *j);
int guard_creds(struct job *j);
int guard_perform(struct job *j);
int guard_pidfd(struct job *j);
int guard_pidfd_perform(struct job *j);

/* exec_begin.c */
int affinity_resolve(struct job *j);
int affinity_perform(struct job *j);

/* interrupted.c */
int sigreturn_at_once(struct job *j);

int mq_open_resolve(struct job *j);
int mq_open_perform(struct job *j);
int mq_unlink_resolve(struct job *j);
int mq_unlink_perform(struct job *j);

#endif
