/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions: calls that wait for somebody's answer.
 *
 * MUST: a question costs its caller only; unanswered means deny (or the rule's else=);
 * each is answered exactly once; no channel can answer for another question.
 */
#ifndef USHER_POLICY_QUESTION_H
#define USHER_POLICY_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/policy.h"
#include "rules/call.h"
#include "rules/verdict.h"

enum answer_scope { SCOPE_ONCE = 0, SCOPE_TIME, SCOPE_TREE, SCOPE_SESSION, SCOPE_ALWAYS };

#define ANSWER_TEXT 256

/* What became of a question. The zero value denies. */
struct answer {
	enum verdict_kind kind; /* deny, allow, kill or rewrite */
	enum answer_scope scope;
	uint32_t scope_s;       /* SCOPE_TIME: seconds */
	char channel[32];       /* "tty", "desk", "exec", "deny", or "timeout", "limit", "grant" */
	char who[64];           /* the person or program behind it, printable ASCII */
	char message[ANSWER_TEXT];
	char target[4096];      /* rewrite: the other object's name, NUL-terminated */
	uint64_t waited_us;
	uint8_t shown[32];      /* hash of the text that was shown, zero when none was */
};

/* A fact about the caller that a person wants to see ("cwd", "argv", "ancestry", "frame", "sha256", "file", ...). */
struct fact {
	const char *key;
	struct span value;
};

struct question {
	const struct call *call;
	const struct verdict *verdict; /* kind ask; rule gives timeout, else, remember, reason */
	const struct fact *facts;
	size_t n_facts;
};

struct questions;
struct screen;

/* Called once for each question, from the questions' own thread, never from questions_ask(). ANSWER lives for the call. */
typedef void (*answer_fn)(void *context, uint64_t token, const struct answer *answer);

/*
 * Called for what the journal must hold beyond answers: grants, revocations, channel failures. TEXT is one line of plain
 * facts. Comes from several threads, with no lock held. Returns 0, or a negative errno when the journal does not have it.
 */
typedef int (*note_fn)(void *context, const char *event, const char *text);

struct questions_options {
	const char *channel;  /* the --ask= word: tty, desk, deny, exec:CMD, chain:A,B, any:A,B */
	struct policy *policy; /* where grants go; outlives the questions */
	answer_fn answered;
	note_fn note;
	void *context;
	const char *session;  /* a short name people see: the command */
	int number;           /* the process number that the desk's socket is named by; 0: the caller's own */
	uint32_t max_waiting; /* 0: 4096 */
	int (*peer)(void *context, int fd, pid_t *pid, uid_t *uid); /* who is at the other end of the desk's socket; NULL: desk_peer_check() */
	const struct screen *screen; /* for the tty channel; NULL: there is none. Outlives the questions */
};

/* Starts the channels. Returns 0, -EINVAL for an unknown channel word (*why names it), or a negative errno. */
int questions_start(const struct questions_options *options, struct questions **out, const char **why);

/*
 * Puts Q (copied) to a person; TOKEN comes back with the answer. Any thread; does not
 * wait. Returns 0 with *id set, or -EAGAIN when too many wait (deny the call), or a negative errno.
 */
int questions_ask(struct questions *qs, const struct question *q, uint64_t token, uint64_t *id);

/*
 * The caller is gone, or was interrupted and may make its call again behind its handler (COMES_BACK): then the question stays a second longer
 * for it, under its number. Returns 0 when withdrawn, 1 when an answer is already on its way.
 */
int questions_withdraw(struct questions *qs, uint64_t id, bool comes_back);

/*
 * Writes to TO what would have allowed the questions that nobody answered so far, as rules, each once with the rule that asked in
 * a comment. Returns how many questions there were.
 */
uint32_t questions_unanswered(struct questions *qs, FILE *to);

/*
 * For a call that was allowed with verdict.review. _known: the number of the review that covers the like of Q, 0 when there is none.
 * _add: the same, made where there is none (Q with its facts, copied); 0 when there is no room. _done: one such call of
 * review ID (0: nothing) took effect. Any thread; none waits for anybody.
 */
uint64_t questions_review_known(struct questions *qs, const struct question *q);
uint64_t questions_review_add(struct questions *qs, const struct question *q);
void questions_review_done(struct questions *qs, uint64_t id);

/* How many reviews nobody has marked; *beyond: calls for which there was no room. */
uint32_t questions_reviews_open(struct questions *qs, uint32_t *beyond);

/* Ends the channels; whatever waits is answered with deny first, and so is what is asked from now on. Safe on NULL. */
void questions_end(struct questions *qs);

/* questions_end(), and frees it: nobody may ask any more. Safe on NULL. */
void questions_stop(struct questions *qs);

#endif
