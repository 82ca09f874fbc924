/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for an answer: parked, so that no thread waits with them.
 *
 * MUST: a parked call is taken out of the list exactly once: by its answer, by the
 * watch (the caller is gone or has a signal to handle), or by the end of the session.
 */
#ifndef USHER_SUPERVISOR_ASK_H
#define USHER_SUPERVISOR_ASK_H

#include "policy/question.h"
#include "supervisor/worker.h"

struct pool;

/*
 * Packs w->job and puts its question. Returns 0 when parked (w->job is empty then), or a negative errno: refuse
 * the call.
 */
int ask_park(struct worker *w, const struct call *call);

/* answer_fn and note_fn for questions_start(); CONTEXT is the session. */
void ask_answered(void *context, uint64_t token, const struct answer *answer);
int ask_note(void *context, const char *event, const char *text);

/* Into the journal: K's question got no answer that reached its caller, and WHY. */
struct session;
struct parked;
void ask_withdrawn(struct session *s, const struct parked *k, const char *why);

/* K has its answer and a worker is to go on with it. With the pool's lock held. */
void ask_deliver_locked(struct pool *p, struct parked *k);

/* One round of the watch: a share of the parked calls, in turn. */
void ask_watch(struct pool *pool);

#endif
