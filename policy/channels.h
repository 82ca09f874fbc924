/* SPDX-License-Identifier: Apache-2.0 */
/* The --ask= word, taken apart. */
#ifndef USHER_POLICY_CHANNELS_H
#define USHER_POLICY_CHANNELS_H

#include "policy/channel.h"

#define CHANNELS_MAX 4

/* One channel of a chain. */
struct stage {
	const struct channel_row *row;
	char *argument; /* malloc memory, NULL when absent */
	void *state;
	bool open;
};

/*
 * WORD is a channel, or chain:A,B,... (the next is asked when one is silent), or any:A,B,... (*together: all are asked at
 * once); an exec among several takes the rest of the word and so comes last. Returns the number of stages (their arguments are
 * malloc memory), or -EINVAL with *why, or -ENOMEM.
 */
int channels_parse(const char *word, struct stage out[CHANNELS_MAX], bool *together, const char **why);

/* Whether WORD can be taken apart: 0, or less, with *why. */
int channels_check(const char *word, const char **why);

#endif
