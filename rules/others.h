/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Every component but these", written in the language of patterns itself: for ab it is {[!a]*,a,a[!b]*,ab?*}. What variables are made of at load.
 */
#ifndef USHER_RULES_OTHERS_H
#define USHER_RULES_OTHERS_H

#include "rules/variables.h"

#define OWN_NAMES 3

/* The components that are left out; of LEN 0: none. */
struct own_names {
	const char *name[OWN_NAMES];
	size_t len[OWN_NAMES];
};

/* Forms, with commas between them; the braces are the caller's. */
struct others {
	glob_unit units[VARIABLE_UNITS];
	size_t n;
	size_t forms;
	bool full; /* units did not suffice */
};

/* Adds TEXT; LITERAL: GLOB_LITERAL where its bytes stand for themselves, else 0. */
void others_put(struct others *o, const char *text, size_t len, glob_unit literal);

/* Begins another form with TEXT, whose bytes stand for themselves. */
void others_form(struct others *o, const char *text, size_t len);

/*
 * Adds every name in DIR (DIR_LEN bytes, with its slash) but OWN: nothing where OWN is none. Two forms for each byte of a name at most; of a name that is longer
 * than MOST bytes (1 or more) whatever begins with the first MOST is left out as well.
 */
void others_but(struct others *o, const char *dir, size_t dir_len, const struct own_names *own, size_t most);

/* The same, but nothing at all, and false, where there is no room for it and for one unit more. */
bool others_try(struct others *o, const char *dir, size_t dir_len, const struct own_names *own, size_t most);

#endif
