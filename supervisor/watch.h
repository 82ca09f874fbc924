/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that notices when somebody who waits for usher cannot wait any longer. */
#ifndef USHER_SUPERVISOR_WATCH_H
#define USHER_SUPERVISOR_WATCH_H

struct pool;

/* Starts it. Returns 0 or a negative errno. It ends with pool_stop(). */
int watch_start(struct pool *p);

#endif
