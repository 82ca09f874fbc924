/* SPDX-License-Identifier: Apache-2.0 */
/* execve and execveat: decided on the object, performed by the caller, verified before the new image runs. */
#ifndef USHER_SUPERVISOR_ROWS_EXEC_H
#define USHER_SUPERVISOR_ROWS_EXEC_H

#include "supervisor/job.h"

int exec_resolve(struct job *j);
int exec_perform(struct job *j);
int exec_redirect(struct job *j, uint32_t index, const struct object *to);

#endif
