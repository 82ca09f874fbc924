/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that is nearly always short: reception is handed on only when it turns out long. Handing on wakes another
 * thread, on another core as a rule, which costs more than a usual exec's own supervision; and so does a timer of its own for each
 * wait. The main thread looks, in the rounds in which it writes down who ended, as long as such waits come. Where one was overdue the next ones
 * are not trusted, and hand on at once.
 *
 * MUST: a worker's part is taken from it only under the pool's lock and while it waits; once it goes on, patience_end() has waited for the lock.
 */
#ifndef USHER_SUPERVISOR_PATIENCE_H
#define USHER_SUPERVISOR_PATIENCE_H

#include "supervisor/worker.h"

struct pool;

void patience_begin(struct worker *w);
void patience_end(struct worker *w);

/* Hands on the reception of those who have waited for too long. By the main thread. False: nobody has waited for a while, and it need not look until p->watch is readable. */
bool patience_look(struct pool *p);

#endif
