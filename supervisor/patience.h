/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait that is nearly always short: reception is handed on only when it turns out long. Handing on wakes another
 * thread, on another core as a rule, which costs more than a usual exec's own supervision.
 *
 * MUST: between patience_begin() and patience_end() the wait is interrupted (EINTR) again and again once it is
 * overdue, so that no interruption can be lost between two waits; after each the waiting thread calls patience_over().
 */
#ifndef USHER_SUPERVISOR_PATIENCE_H
#define USHER_SUPERVISOR_PATIENCE_H

#include "supervisor/worker.h"

/* Where no timer can be had, reception is handed on at once. */
void patience_begin(struct worker *w);

/* The wait was interrupted: hands reception on. */
void patience_over(struct worker *w);

void patience_end(struct worker *w);

#endif
