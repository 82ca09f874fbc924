/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of CPython 3.11, read from the interpreter's own structures, which the bounds of the view hold for as for anything else. Other
 * versions lay them out otherwise and have none.
 */
#ifndef USHER_SUPERVISOR_UNWIND_PYTHON_H
#define USHER_SUPERVISOR_UNWIND_PYTHON_H

#include "supervisor/unwind_memory.h"

#define PYTHON_FRAMES 16
#define PYTHON_TEXT 256

struct python_frame {
	char file[PYTHON_TEXT];     /* a longer one in its end */
	char function[PYTHON_TEXT]; /* qualified */
	int line;                   /* 0: not known */
};

/* Of the view's thread, if one of the view's modules is the interpreter: the innermost first. Returns how many were found. */
unsigned python_frames(struct view *v, struct python_frame out[PYTHON_FRAMES]);

/* The line of the instruction at byte LASTI in a table of locations (PEP 626, as of 3.11) of code that begins at line FIRST; 0: none. Pure. */
int python_line(const uint8_t *table, size_t len, int first, int64_t lasti);

#endif
