/* SPDX-License-Identifier: Apache-2.0 */
/* Where a rewrite leads over links. */
#ifndef USHER_SUPERVISOR_ASTRAY_H
#define USHER_SUPERVISOR_ASTRAY_H

#include "supervisor/job.h"

/* After J was led elsewhere by a rule: 0, or the negative errno of the refusal, which J's verdict is then. No allocation, no lock. */
int astray(struct job *j);

#endif
