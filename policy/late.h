/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers to questions in which nobody waited at that moment, as a signal had interrupted those who did: whoever makes the call again gets them.
 *
 * MUST: an answer is taken once, by the same tree, for the same question and rule, while the question would still have been there.
 */
#ifndef USHER_POLICY_LATE_H
#define USHER_POLICY_LATE_H

#include "policy/asked.h"
#include "policy/question.h"

struct late {
	struct late *next;
	uint8_t mark[QUESTION_MARK];
	pid_t tree;
	uint64_t until_ns;
	struct answer answer;
};

/* Keeps ANSWER to the question of MARK for TREE, until then; nothing without memory. All three under the questions' lock. */
void late_keep(struct late **all, const uint8_t *mark, pid_t tree, uint64_t until_ns, const struct answer *answer);

/* Takes it into OUT, when it is there at NOW_NS; drops what is too old. */
bool late_take(struct late **all, const uint8_t *mark, pid_t tree, uint64_t now_ns, struct answer *out);

void late_free(struct late **all);

#endif
