/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a rule as written, as far as the floor needs them. Not the rule language's parser: what it does not understand, it says. */
#ifndef USHER_SUPERVISOR_FLOOR_WORDS_H
#define USHER_SUPERVISOR_FLOOR_WORDS_H

#include <stdbool.h>

struct ruleset;

/* The next word at *AT, without its quotes, into *word (malloc'd). Returns 1, 0 at the end, or -ENOMEM. */
int floor_word_next(const char **at, char **word);

/* Whether WORD is an option (NAME=VALUE, or stack) and so ends the patterns. */
bool floor_word_option(const char *word);

/*
 * WORD with ~ and $NAME replaced as the layer's files and the environment set them. Returns 0 with *out (malloc'd), 1 when a name is
 * not known, or -ENOMEM.
 */
int floor_word_expand(const struct ruleset *layer, const char *word, char **out);

#endif
