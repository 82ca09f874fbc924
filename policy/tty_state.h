/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the tty channel: one question at a time, read by the channel's own thread. */
#ifndef USHER_POLICY_TTY_STATE_H
#define USHER_POLICY_TTY_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "policy/channel.h"
#include "policy/tty_text.h"

struct shown;

/* What a person typed for one answer. */
struct pick {
	char pattern[2048];
};

struct tty_channel {
	struct questions *qs;
	const struct screen *screen;
	pthread_t thread;
	pthread_mutex_t lock;
	struct shown *queue; /* oldest first; under the lock */
	unsigned waiting;
	atomic_bool stopping;
	int wake;            /* eventfd: the queue has changed */
	struct tty_frame frame;
	char mark[8];
	bool have;           /* the screen is taken; the thread's own, as all below */
	bool full;
	bool seen;           /* there was room for what is asked about */
	size_t line;         /* dumb: how long the line is that what follows must not go on in, or 0 */
	unsigned changes;
};

/* All of T, to the person's terminal; what it does not take within a second is left. */
void tty_write(const struct tty_channel *c, const struct text_buffer *t);

/* Waits up to MS for keys or news; what poll(2) says of the keys, or 0. */
short tty_wait(struct tty_channel *c, int ms);

/* Whether A is no longer to be shown as it is: it is answered, or what is on the screen may be lost. */
bool tty_disturbed(struct tty_channel *c, const struct asked *a);

/* One line at the bottom: WORDS and what was typed so far. */
void tty_show_line(struct tty_channel *c, const char *words, const char *typed);

/* Where no cursor is moved, what follows begins a line of its own. */
void tty_end_line(struct tty_channel *c);

/* Says WORDS at the bottom, until Enter: what is typed meanwhile answers nothing. */
void tty_tell(struct tty_channel *c, const struct asked *a, const char *words);

/* KEY, for those keys that need more than themselves. True when *s is an answer then; *k holds what its pattern points to. */
bool tty_read_more(struct tty_channel *c, const struct asked *a, int key, struct settlement *s, struct pick *k);

#endif
