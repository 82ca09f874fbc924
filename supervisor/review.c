/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/review.h"

#include "supervisor/facts.h"
#include "supervisor/session.h"

/* What a person will see is what was there before the call. */
static uint64_t add(struct worker *w, struct question *q)
{
	struct facts *facts = NULL;

	worker_aside(w);
	facts_gather(&w->job, q->call, &facts);
	q->n_facts = facts_list(facts, &q->facts);
	uint64_t id = questions_review_add(w->session->questions, q);
	facts_free(facts);
	worker_aside_done(w);
	return id;
}

void review_begin(struct worker *w)
{
	struct job *j = &w->job;
	struct call call;
	struct question q = { .call = &call, .verdict = &j->verdict };

	job_call(j, &call);
	j->review = questions_review_known(w->session->questions, &q);
	if (!j->review)
		j->review = add(w, &q);
}

void review_done(struct worker *w)
{
	questions_review_done(w->session->questions, w->job.review);
}
