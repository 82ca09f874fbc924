/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents that a squeezer likens others to: some few, for what different programs ask is alike within each only. A content is a model
 * once a second one as long was like none, or after many that were like none; the model that was of no use for longest makes room.
 */
#ifndef USHER_RULES_SQUEEZE_MODELS_H
#define USHER_RULES_SQUEEZE_MODELS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/squeeze.h"

#define SQUEEZE_WINDOW_BITS 13 /* 8 KiB: a call that waits is hardly more */
#define SQUEEZE_MODEL_MOST (1 << SQUEEZE_WINDOW_BITS)

/* The first bytes of a content. Never changed; goes with the last that holds it. */
struct squeeze_model {
	atomic_uint refs;
	uint32_t len;
	unsigned char bytes[];
};

/* The model of Z that the LEN bytes of CONTENT are likest to, held for the caller, who model_put()s it; NULL where there is none. Any thread. */
struct squeeze_model *models_likest(struct squeezer *z, const unsigned char *content, size_t len);

/* Tells Z that CONTENT came to KEPT bytes by the model USED, which may be NULL: it may become a model, unless memory is short. Any thread. */
void models_learn(struct squeezer *z, const struct squeeze_model *used, const unsigned char *content, size_t len, size_t kept);

/* Safe on NULL. */
void model_put(struct squeeze_model *m);

/* Lets go of all models of Z. */
void models_clear(struct squeezer *z);

#endif
