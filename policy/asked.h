/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question as it is kept and shown: a copy of the call and its facts that
 * nobody changes any more, shared by the engine and the channels.
 */
#ifndef USHER_POLICY_ASKED_H
#define USHER_POLICY_ASKED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/question.h"
#include "policy/show.h"

struct asked {
	atomic_uint refs;
	_Atomic uint32_t count;  /* callers that wait for the same answer */
	uint64_t id;
	uint64_t key;            /* hash of what makes two questions identical */
	uint64_t asked_ns;       /* CLOCK_BOOTTIME */
	uint64_t deadline_ns;    /* the first caller's */
	int64_t asked_at;        /* seconds since the epoch, for people */
	const char *session;     /* lives as long as the questions */
	struct call call;        /* all spans point behind this struct */
	struct verdict verdict;
	uint32_t n_facts;
	struct fact *facts;      /* keys and values too */
};

/* Copies Q; *out holds one reference. Returns 0 or -ENOMEM. */
int asked_new(const struct question *q, struct asked **out);
struct asked *asked_hold(struct asked *a);
void asked_put(struct asked *a);

/* Hash and equality of program, operations, objects, arguments and rule. */
uint64_t question_key(const struct question *q);
bool question_same(const struct asked *a, const struct question *q);

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
