/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that need not be put. */
#ifndef USHER_SUPERVISOR_FOREGONE_H
#define USHER_SUPERVISOR_FOREGONE_H

#include "rules/call.h"
#include "supervisor/job.h"

/*
 * The negative errno that the kernel would give CALL (the call in J, resolved) if it were allowed, 0 when that is not certain. Tells nothing of
 * a name that rules on stat hide.
 */
int foregone(struct job *j, const struct call *call);

#endif
