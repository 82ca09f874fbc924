/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a rule allows and that a person looks at afterwards. */
#ifndef USHER_SUPERVISOR_REVIEW_H
#define USHER_SUPERVISOR_REVIEW_H

#include "supervisor/worker.h"

/* Before the call in w->job is recorded and performed: w->job.review gets the number of its review, 0 when there is no room. */
void review_begin(struct worker *w);

/* It took effect. */
void review_done(struct worker *w);

#endif
