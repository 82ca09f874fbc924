/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal's state is after a stream of output, as far as it must be put back. */
#ifndef USHER_SUPERVISOR_RELAY_SCAN_H
#define USHER_SUPERVISOR_RELAY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scan_state { SCAN_GROUND = 0, SCAN_ESCAPE, SCAN_CHARSET, SCAN_CSI, SCAN_STRING, SCAN_STRING_ESCAPE };

struct scan {
	enum scan_state state;
	uint32_t modes;  /* bits: scan_modes[] */
	bool palette;    /* colours were given other meanings, which a reset of the terminal leaves in some */
	bool asks;       /* so they are if the string has more than the question what they are */
	bool console;    /* so they were as the Linux console is told to */
	bool elsewhere;  /* what is written may go to a printer, or be read as a VT52 or a Tektronix reads it */
	bool lead;       /* the byte before began one of the C1 controls in UTF-8 */
	bool c1;         /* one of them began the sequence: some terminals show it as text */
	bool open_c1;    /* or the string */
	char open;       /* what began a string that some terminals take to go on: only its end (ST, of OSC a BEL, too) is one for all of them; 0: none */
	unsigned top, bottom; /* scroll margins, 0: none */
	unsigned keys;   /* kitty's flags of how keys are sent */
	unsigned other_keys; /* xterm's modifyOtherKeys */
	unsigned pushed[2]; /* how many of kitty's flags lie on the stack of the ordinary screen, and of the alternate one */
	bool keypad;     /* application keypad */
	bool cursor;     /* another form */
	bool coloured;   /* text */
	bool charset;    /* another one */
	char csi[48];    /* of the sequence, or of the string, as far as it is wanted */
	unsigned len;
};

/* Follows N bytes of output. */
void scan_output(struct scan *s, const char *bytes, size_t n);

/* Whether the output stands between two sequences, so that others may be put in. */
static inline bool scan_between(const struct scan *s)
{
	return s->state == SCAN_GROUND && !s->lead;
}

/* Whether a program uses the alternate screen. */
bool scan_full_screen(const struct scan *s);

/*
 * Sequences that switch off what makes the terminal send more than keys, or show something else than it is told, and that switch it on again; in
 * BUF of CAP bytes. Return the length. The first ends what *s has seen the beginning of, a sequence or a string. Character sets and the origin of
 * lines are restored with the cursor. Colours that were changed are the terminal's own afterwards.
 */
size_t scan_calm(struct scan *s, char *buf, size_t cap);
size_t scan_restore(const struct scan *s, char *buf, size_t cap);

/* Sequences that take back all that is known to have been set, for whoever has the terminal after a program that could not. Returns the length, 0: nothing was. */
size_t scan_leave(const struct scan *s, char *buf, size_t cap);

#endif
