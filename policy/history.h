/* SPDX-License-Identifier: Apache-2.0 */
/* The last questions that were answered, by whomever, for people who look back. Of the questions and their channels. */
#ifndef USHER_POLICY_HISTORY_H
#define USHER_POLICY_HISTORY_H

#include "policy/filed.h"

#define HISTORY_MAX 100

struct past {
	struct filed *asked;
	int64_t at;        /* seconds since the epoch */
	uint32_t callers;  /* that got this answer */
	enum verdict_kind kind;
	enum answer_scope scope;
	char channel[32];
	char who[64];
	char message[ANSWER_TEXT];
};

/* A ring. All under the questions' lock. */
struct history {
	struct past past[HISTORY_MAX];
	uint64_t n; /* ever added */
};

void history_add(struct history *h, struct filed *f, const struct answer *answer);
void history_free(struct history *h);

/* Calls EACH for every one, newest first. */
void history_each(const struct history *h, void (*each)(void *context, const struct past *p), void *context);

#endif
