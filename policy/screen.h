/* SPDX-License-Identifier: Apache-2.0 */
/* The person's terminal, as far as the tty channel needs it. Given by whoever relays the command's own terminal. */
#ifndef USHER_POLICY_SCREEN_H
#define USHER_POLICY_SCREEN_H

#include <stdbool.h>

/* From then on what is written is shown (printing is over: urxvt shows nothing meanwhile), and read as ever, by what read it as a Tektronix or a VT52 does. */
#define SCREEN_AS_EVER "\033[4i\033\003\033\\\033<"

struct screen {
	int fd; /* the terminal, non-blocking; only between take and give */
	int news; /* an eventfd: can be read when changes() has changed */
	/*
	 * Takes the terminal: nobody else reads or writes it until give. Returns 0, or -EAGAIN when it cannot be had now (in the
	 * background, stopped): try again later. *full tells that a full-screen program has it; *dyed, that
	 * a program has given colours other meanings, which some terminals do not let be taken back.
	 */
	int (*take)(void *context, bool *full, bool *dyed);
	/* Gives it back, as it was. */
	void (*give)(void *context);
	/* Changes whenever what is on the screen may be lost, its size is another, or it is wanted back: give it, and take it again. */
	unsigned (*changes)(void *context);
	/* Types a byte for the command (an interrupt key). */
	void (*pass)(void *context, char key);
	void *context;
};

#endif
