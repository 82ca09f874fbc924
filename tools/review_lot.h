/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a temporary file's name was drawn by lot, or counted, so that it is another one next time. */
#ifndef USHER_TOOLS_REVIEW_LOT_H
#define USHER_TOOLS_REVIEW_LOT_H

#include <stdbool.h>
#include <stddef.h>

/* What may stand in each place of what was drawn by lot. */
struct lot_letter {
	const char *pattern, *letters;
};

/* At the end of a name, before SUFFIX bytes: digits of a number, or letters and digits that were drawn by lot; none where these seem to mean something. */
struct unsteady {
	size_t digits, lot, suffix;
	const struct lot_letter *one; /* for each that was drawn by lot */
	size_t whole; /* all of the name: of a directory beside many that come and go */
};

/* NAME is that of a file that was made and is gone again. */
struct unsteady review_unsteady(const char *name);

/* The same of a file that stays: numbers alone that nobody gives by hand, in sixteens, with many places or zeros in front. */
struct unsteady review_numbered(const char *name);

/*
 * The same of a file that was made in a directory for temporary files and is gone again, where its letters are as a word's: what was drawn if another file
 * beside it has others in their place.
 */
struct unsteady review_like_word(const char *name);

/* How long a UUID, or a number in sixteens of many places, is that NAME begins with: what stands in it is no process's number. 0: neither. */
size_t review_sixteens(const char *name);

/* Whether N digits are a day of this century: 20261130. */
bool review_is_day(const char *digits, size_t n);

/* NAME is that of a file that has none: the number by which one that O_TMPFILE made is shown until it gets a name, else NULL. */
char *review_nameless(char *name);

#endif
