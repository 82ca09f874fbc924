/* SPDX-License-Identifier: Apache-2.0 */
/* A question drawn on a terminal: cursor movement, nothing that scrolls. */
#ifndef USHER_POLICY_TTY_TEXT_H
#define USHER_POLICY_TTY_TEXT_H

#include <stdbool.h>

#include "policy/asked.h"

struct tty_frame {
	unsigned rows;
	unsigned cols;
	bool dumb;        /* no cursor movement: lines one after the other */
	const char *mark; /* what the command cannot know */
};

/* One line at the bottom: PROMPT and what was typed so far. */
void tty_prompt(const struct tty_frame *f, const char *prompt, const char *typed, struct text_buffer *t);

/* The whole question, one of OF in the queue. ARMED: keys are accepted. False where there is no room to show what is asked about: only a denial is an answer. */
bool tty_draw(const struct tty_frame *f, const struct asked *a, unsigned of, bool armed, struct text_buffer *t);

/* Into and out of the question's screen. FULL: a full-screen program draws itself again afterwards. */
void tty_enter(const struct tty_frame *f, bool full, bool dyed, struct text_buffer *t);
void tty_leave(const struct tty_frame *f, bool full, struct text_buffer *t);

/* What KEY answers; false: nothing. Only kind and scope of *a are set. */
bool tty_key(int key, struct answer *a);

/* How long an answer holds: tree, session, always, or a time ("10m", "2h"). False, A's scope being void, for any other word. */
bool tty_scope(const char *word, struct answer *a);

/* Six letters that the command never sees. */
void tty_mark(char mark[8]);

#endif
