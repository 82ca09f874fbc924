/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a review from the call to the channels, and of a mark into the journal. */
#include <errno.h>
#include <stdio.h>

#include "policy/channel.h"
#include "policy/queue.h"
#include "policy/reviews.h"

uint64_t questions_review_known(struct questions *qs, const struct question *q)
{
	return reviews_known(qs->reviews, q);
}

uint64_t questions_review_add(struct questions *qs, const struct question *q)
{
	return reviews_add(qs->reviews, q);
}

void questions_review_done(struct questions *qs, uint64_t id)
{
	struct filed *f = id ? reviews_done(qs->reviews, id) : NULL;
	for (int i = 0; f && i < qs->n_stages; i++) {
		if (qs->stage[i].row->reviewed)
			qs->stage[i].row->reviewed(qs->stage[i].state, f);
	}
	filed_put(f);
}

uint32_t questions_reviews_open(struct questions *qs, uint32_t *beyond)
{
	return reviews_open(qs->reviews, beyond);
}

struct reviews *questions_reviews(struct questions *qs)
{
	return qs->reviews;
}

int question_review(struct questions *qs, uint64_t id, enum review_mark mark, const char *who, const char *message)
{
	char line[ANSWER_TEXT + 256];
	uint32_t count;
	if (mark == REVIEW_OPEN || !reviews_is_open(qs->reviews, id, &count))
		return -ENOENT;
	snprintf(line, sizeof(line), "%s review=%llu count=%u who=%s%s%s", review_word(mark), (unsigned long long)id, count, who,
		 message[0] ? " message=" : "", message);
	question_note(qs, "review", line);
	return reviews_mark(qs->reviews, id, mark, who, message);
}
