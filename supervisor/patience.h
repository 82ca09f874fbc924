/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that is nearly always short (for an exec, a program's content, leave to trace a caller): reception is handed on only when it turns
 * out long. Handing on wakes another thread, on another core as a rule, which costs more than a usual exec's own supervision; and so does a timer of its own for each
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

/*
 * For a file's content, of which nobody knows who serves it. Nothing interrupts such a read for the caller's sake: it would fail for no reason of the file's.
 * Ended by patience_end(), too.
 */
void patience_begin_reading(struct worker *w);

/* trace_seize(): while another thread of TID's process execs, the kernel makes whoever would trace it wait. */
int seize_patiently(struct worker *w, pid_t tid);

/* Hands on the reception of those who have waited for too long. By the main thread. False: nobody has waited for a while, and it need not look until p->watch is readable. */
bool patience_look(struct pool *p);

#endif
