/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of one call: decode, resolve, decide, (park), record, perform, reply.
 *
 * MUST: the only order; nothing takes effect before journal_intent() (or the record itself) and
 * nothing is replied before the final record.
 */
#ifndef USHER_SUPERVISOR_WALK_H
#define USHER_SUPERVISOR_WALK_H

#include <stdint.h>

#include "supervisor/worker.h"

/* Walks the notification in w->job from receipt to reply (or to parking). */
void walk_new(struct worker *w);

/* Goes on with the call of K, whose question was answered, in w->job, which is freshly reset. Frees K with its job. */
struct parked;
void walk_parked(struct worker *w, struct parked *k);

/*
 * For performers whose effect becomes visible at their own hand (exec): appends the final record with RESULT now, in the room
 * that its intent set aside. Returns 0, or the negative errno that stopped the journal: the effect must not happen. The walk does not
 * record again.
 */
int walk_record(struct job *j, int64_t result);

#endif
