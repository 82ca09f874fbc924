/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is given back. A flood of calls or of questions brings more workers than what comes after it needs, and each has touched its stack and
 * its scratch; what questions were gathered in lies free in the heap. A worker that has had nothing to do for a while gives both back.
 */
#ifndef USHER_SUPERVISOR_REST_H
#define USHER_SUPERVISOR_REST_H

#include "supervisor/worker.h"

#define REST_AFTER_S 1 /* so long without a part */

/* W, the calling thread's, has no call and no part. Not with the pool's lock held. */
void worker_rest(struct worker *w);

#endif
