/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a rule allowed and that a person looks at afterwards. Of the questions and their channels.
 *
 * MUST: what is kept is bounded, whatever floods it; a mark is in the journal before anybody is told of it.
 */
#ifndef USHER_POLICY_REVIEWS_H
#define USHER_POLICY_REVIEWS_H

#include "policy/filed.h"

#define REVIEWS_MAX 512

enum review_mark { REVIEW_OPEN = 0, REVIEW_RIGHT, REVIEW_WRONG };

/* Equal calls. */
struct review {
	struct filed *asked; /* its id is the review's number, its count how many such calls took effect */
	enum review_mark mark;
	char who[64];
	char message[ANSWER_TEXT];
};

struct reviews;

/* Returns 0 or -ENOMEM. */
int reviews_new(const char *session, struct reviews **out);
void reviews_free(struct reviews *r);

/* As questions_review_*(), see policy/question.h. reviews_done() returns the review, held, when it is news. */
uint64_t reviews_known(struct reviews *r, const struct question *q);
uint64_t reviews_add(struct reviews *r, const struct question *q);
struct filed *reviews_done(struct reviews *r, uint64_t id);
uint32_t reviews_open(struct reviews *r, uint32_t *beyond);

/* Calls EACH for every review that took effect, oldest first, with the lock held: EACH must not call back. */
void reviews_each(struct reviews *r, void (*each)(void *context, const struct review *one), void *context);

/* Whether review ID is open; *count gets how many calls it stands for. */
bool reviews_is_open(struct reviews *r, uint64_t id, uint32_t *count);
/* Marks it. Returns 0, or -ENOENT when it is not there or has been marked. */
int reviews_mark(struct reviews *r, uint64_t id, enum review_mark mark, const char *who, const char *message);

/* "open", "right", "wrong". */
const char *review_word(enum review_mark mark);

#endif
