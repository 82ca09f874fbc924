/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of supervisor/rows_file.inc name. Contracts: struct sysrow. */
#ifndef USHER_SUPERVISOR_ROWS_FILE_H
#define USHER_SUPERVISOR_ROWS_FILE_H

#include "supervisor/job.h"

int open_resolve(struct job *j);
int openat_resolve(struct job *j);
int openat2_resolve(struct job *j);
int creat_resolve(struct job *j);
int open_perform(struct job *j);
int open_redirect(struct job *j, uint32_t index, const struct object *to);

#endif
