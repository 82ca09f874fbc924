/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a call's arguments, once, as its row says. */
#ifndef USHER_SUPERVISOR_DECODE_H
#define USHER_SUPERVISOR_DECODE_H

#include "supervisor/job.h"

/*
 * Fills job->arg[] and job->path[]. Returns 0, or the errno the kernel would give
 * (-EFAULT, -ENAMETOOLONG), -EPERM when the caller's memory may not be read, -ESRCH when it is gone.
 */
int decode(struct job *j);

#endif
