/* SPDX-License-Identifier: Apache-2.0 */
/* From a job to its journal record. */
#ifndef USHER_SUPERVISOR_EVIDENCE_H
#define USHER_SUPERVISOR_EVIDENCE_H

#include <stdint.h>

#include "policy/question.h"
#include "supervisor/worker.h"

/* Starts the record of w->job: who, what, on which objects, which verdict by which rule. */
void evidence_open(struct worker *w);

/* The same of CALL, which is the job as it was decided: nothing has changed the targets since, unless it was redirected. */
void evidence_decided(struct worker *w, const struct call *call);

/* Writes the caller's stack (stack, unwind) and, where its interpreter runs one, the script. */
void evidence_stack(struct job *j, struct record *r);

/* Keeps the open record as an intent. Returns 0 with *slot set, or the errno that stopped the journal. */
int evidence_intent(struct worker *w, uint32_t *slot);

/* Closes the open record with RESULT and appends it. Returns 0 or the negative errno that stopped the journal (and tells the session). */
int evidence_append(struct worker *w, int64_t result);

/* The same as the end of the intent in SLOT: it has the room that the intent set aside. */
int evidence_final(struct worker *w, uint32_t slot, int64_t result);

/* The answer record of a question, and what the call's own record will say of it. */
void evidence_answer(struct worker *w, const struct answer *answer);

/* A notification for a call without a row: cannot happen while filter and table agree; recorded, refused. */
void evidence_unknown(struct worker *w);

#endif
