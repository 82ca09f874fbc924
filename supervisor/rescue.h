/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guardian needs to give the real terminal back when usher was killed and could not. Memory that both see.
 *
 * MUST: usher alone writes it; the guardian reads it only after usher has ended.
 */
#ifndef USHER_SUPERVISOR_RESCUE_H
#define USHER_SUPERVISOR_RESCUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#define RESCUE_LEAVE 512

/* What takes back what programs have set on the terminal. */
struct leave {
	size_t len;
	char text[RESCUE_LEAVE];
};

struct rescue {
	pid_t usher;
	int tty;              /* the real terminal, by its number in usher's descriptor table */
	struct termios modes; /* as they are to be again */
	volatile bool raw;    /* usher has changed them */
	volatile bool asking; /* a question is on a screen of its own */
	struct leave leave[2];
	atomic_uint last;     /* which of them is whole */
};

/* NULL when there is no memory: then nobody can help. */
struct rescue *rescue_new(int tty);
void rescue_free(struct rescue *r);

/* LEN bytes at TEXT, no more than fit, are to be written when the terminal is given back. One thread at a time; R may be NULL. */
void rescue_leave(struct rescue *r, const char *text, size_t len);

/* How far it is given back. All zero to begin with. */
struct rescued {
	bool begun;
	size_t written;
};

/*
 * Gives the terminal back, without waiting; returns whether that is done. It is not while another process writes to the terminal or nobody reads
 * what was written: again, then. Async-signal-safe. From a process that does not have the terminal as its own, so that no job control stops it.
 */
bool rescue_terminal(const struct rescue *r, struct rescued *so_far);

/* Whether the terminal is still as usher left it, and usher, which would give it back, is about to be gone. Async-signal-safe. */
bool rescue_overdue(const struct rescue *r);

#endif
