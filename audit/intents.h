/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intents that stand in the chain, as they found no room among those in flight: which of them have no outcome. A thread makes one call at a time,
 * so its next record of that call is the outcome, or says that it was begun again.
 */
#ifndef USHER_AUDIT_INTENTS_H
#define USHER_AUDIT_INTENTS_H

#include <stdbool.h>
#include <stddef.h>

struct intents {
	struct intent {
		char *text;
		size_t len;
	} *at; /* those without an outcome so far, in their order */
	size_t n, room;
	bool failed; /* out of memory: some are not here */
};

/* The next record of the journal. Whether it is an intent, which is kept until its outcome comes. */
bool intents_note(struct intents *in, const char *text, size_t len);

void intents_free(struct intents *in);

#endif
