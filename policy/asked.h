/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question as it is looked at and shown: a copy of the call and its facts that
 * nobody changes any more. While it waits it is filed (policy/filed.h).
 */
#ifndef USHER_POLICY_ASKED_H
#define USHER_POLICY_ASKED_H

#include <stddef.h>
#include <stdint.h>

#include "policy/question.h"
#include "policy/show.h"

struct filed;

struct asked {
	struct filed *of;        /* held, where it was opened; NULL: it is by itself */
	struct call call;        /* all spans point behind this struct */
	struct verdict verdict;
	uint32_t n_facts;
	struct fact *facts;      /* keys and values too */
};

#define ASKED_VALUE 200 /* bytes that it keeps of an attribute's value, which may have 64 KiB: the whole is in the journal */

/* Copies Q into one piece of memory, of *size bytes; asked_free() it. Returns 0 or -ENOMEM. */
int asked_new(const struct question *q, struct asked **out, size_t *size);
/* Lets go of what it was opened from, too. Safe on NULL. */
void asked_free(struct asked *a);

/* What A points to of itself is pointed to as if A were at address TO and not FROM. */
void asked_rebase(struct asked *a, uintptr_t from, uintptr_t to);

/* Callers that wait for the same answer. */
uint32_t asked_count(const struct asked *a);

#define QUESTION_MARK 24

/* What questions are told apart by. */
struct question_sum {
	uint64_t key;                /* of program, operations, objects and arguments: who asks can make questions whose keys are equal */
	uint8_t mark[QUESTION_MARK]; /* of these, the flags and the rule: nobody finds two questions of one mark that are not the same */
};

void question_sum(const struct question *q, struct question_sum *out);

/* Value of the first fact named KEY, absent when there is none. */
struct span asked_fact(const struct asked *a, const char *key);

/* The question in lines of plain text, as people see it; every line ends with \n. What is longer than some lines of WIDTH is cut. */
void asked_text(const struct asked *a, unsigned width, struct text_buffer *t);

/* The call's flags in words, each behind a comma: ", for writing, emptied". Nothing where there are none. */
void asked_flags(const struct asked *a, struct text_buffer *t);

/* Whether the fact of that name is a text of lines ("script", "diff"). */
bool fact_has_lines(const char *key);
#define FACT_LINES 16 /* shown of it */

/* Hash of what was shown, for the journal. */
void asked_shown(const char *text, size_t len, uint8_t out[32]);

#endif
