/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the relay: relay.c and relay_thread.c only. */
#ifndef USHER_SUPERVISOR_RELAY_STATE_H
#define USHER_SUPERVISOR_RELAY_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "policy/screen.h"
#include "supervisor/relay_scan.h"
#include "supervisor/rescue.h"

#define RELAY_CHUNK (64 * 1024)
#define RELAY_HELD (4 * 1024 * 1024) /* output kept while a question is on the screen; then the command waits */

/* Bytes on their way. */
struct flow {
	char *bytes;
	size_t cap;
	size_t from;
	size_t to;
};

struct relay {
	int tty;             /* the real terminal, non-blocking */
	int master;          /* non-blocking */
	int slave;           /* kept, so that the pty outlives a command that closes it for a while */
	int wake;            /* eventfd */
	int news;            /* the screen's */
	bool keyboard;       /* the command may read keys: nobody else in the pipeline does */
	char name[64];       /* the real terminal */
	pid_t command;       /* the leader of its group, too */
	int interrupted;     /* the signal of the last key that interrupts it, 0: none */
	struct termios modes; /* as they were */
	struct termios lent; /* the pty's, until usher is in front and sees the terminal's */
	bool lends;
	struct rescue *rescue; /* may be NULL */
	struct outlets *outlets; /* may be NULL */
	struct screen screen;
	pthread_t thread;
	bool started;
	atomic_uint changes;
	pthread_mutex_t lock; /* all below, and every transfer */
	pthread_cond_t quiet; /* taken is another */
	bool raw;
	bool suspended;
	bool wanted;         /* somebody wants the screen */
	bool taken;
	bool closing;
	bool hung_up;        /* the terminal or the command's side is gone */
	int64_t redraw_at;   /* ms: the next step of making a full-screen program draw itself anew; 0: none */
	bool shrunk;         /* ... of which the first is done */
	int64_t stopped_at;  /* ms: the next look for a vfork(2) that a key has stopped in the middle; 0: none */
	int stopped_after;   /* ms: that look's distance to the one before */
	struct scan scan;
	struct flow out;     /* to the terminal */
	struct flow in;      /* to the command */
};

void *relay_main(void *relay);

/* With the lock held: what the command has written so far, to the real terminal; what that does not take within a second is left. */
void relay_flush(struct relay *r);
void relay_kick(struct relay *r);

/* With the lock held: remembers those of the N keys that interrupt. */
void relay_interrupt(struct relay *r, const char *keys, size_t n);

/* The real terminal's size for the pty, with FEWER rows. */
void relay_copy_size(const struct relay *r, unsigned fewer);

/* With the lock held, before the terminal becomes raw: lines that were typed ahead. An end of file among them would be a NUL then. */
void relay_take_lines(struct relay *r);

/* With the lock held. Raw exactly when usher is in the foreground and somebody is to read the keys. */
void relay_modes(struct relay *r);
/* After a pause without questions: the size changes, and back. */
void relay_redraw(struct relay *r);

#endif
