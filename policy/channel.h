/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel puts questions to somebody and brings answers back. One file, one
 * row in policy/channels.c.
 *
 * put, gone and close are called from the questions' own thread, one at a time, with no
 * lock held; they must not wait for a person. A channel answers from any thread of its own, or from put itself.
 */
#ifndef USHER_POLICY_CHANNEL_H
#define USHER_POLICY_CHANNEL_H

#include "policy/filed.h"
#include "policy/history.h"
#include "policy/question.h"
#include "policy/reviews.h"

struct questions;

struct channel_row {
	const char *word;        /* "exec" */
	const char *argument;    /* what follows the colon; NULL: nothing may follow */
	uint32_t timeout_s;      /* for rules without timeout= */
	/* Starts. Returns 0 with *state set, or a negative errno; *why (static) says what is missing. */
	int (*open)(struct questions *qs, const struct questions_options *options, const char *argument, void **state,
		    const char **why);
	/* A new question. The channel takes a reference if it keeps Q. */
	void (*put)(void *state, struct filed *q);
	/* Question ID no longer waits, whoever answered it. NULL: nothing to do. */
	void (*gone)(void *state, uint64_t id);
	/* Calls like F were allowed and wait for somebody to look at them. From any thread, must not wait. NULL: shows none. */
	void (*reviewed)(void *state, struct filed *f);
	/* No put or gone follows. Called from the thread that stops the questions. */
	void (*close)(void *state);
};

extern const struct channel_row channel_deny, channel_exec, channel_tty, channel_desk;

/* What somebody answered. */
struct settlement {
	struct answer answer;
	struct span directory; /* grants cover this directory; absent: the object */
	const char *pattern;    /* instead of a directory: a pattern of the rule language that matches every object; NULL: none */
	bool scope_given;      /* false: the rule's remember= decides */
};

/*
 * Answers question ID for all who wait for it. Returns 0, -ENOENT when it no longer waits (answered,
 * withdrawn, timed out), -EINVAL for an answer that cannot be, -ENOTDIR when its directory does not hold what is asked about, -ENOMEM (nothing has happened then), or, positive, the errno for
 * which an answer for ever could not be written: it holds for the session.
 */
int question_answer(struct questions *qs, uint64_t id, const struct settlement *s);

/* The channel CHANNEL cannot bring an answer: the next one is asked, or the question ends unanswered. WHY is for the journal. */
void question_pass(struct questions *qs, uint64_t id, const char *channel, const char *why);

/* Takes back a grant; WHO goes into the journal. Returns 0 or -ENOENT. */
int question_revoke(struct questions *qs, uint64_t grant, const char *who);

/* Something about a channel that the journal must hold. */
int question_note(struct questions *qs, const char *event, const char *text);

/* Calls EACH for the last questions that were answered, newest first, with the questions' lock held: EACH must not call back. */
void questions_past(struct questions *qs, void (*each)(void *context, const struct past *p), void *context);

struct reviews *questions_reviews(struct questions *qs);

/*
 * Somebody has looked at review ID: MARK is right or wrong; WHO and MESSAGE (may be empty, printable ASCII) go into the journal. Returns 0,
 * or -ENOENT when it is not there or was marked before.
 */
int question_review(struct questions *qs, uint64_t id, enum review_mark mark, const char *who, const char *message);

struct policy *questions_policy(struct questions *qs);

#endif
