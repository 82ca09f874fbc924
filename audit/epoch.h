/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epochs: the records since the last seal, as a Merkle tree, and the key that
 * will sign them.
 *
 * MUST: a key signs once and is wiped before epoch_seal() returns; keys stay in one locked page that is in no
 * dump and in no child. Who reads this process's memory at time T finds only the keys of the present and the next epoch.
 */
#ifndef USHER_AUDIT_EPOCH_H
#define USHER_AUDIT_EPOCH_H

#include "audit/digest.h"
#include "audit/merkle.h"

/* Room for the whole line of a seal. */
#define SEAL_MAX 1024
#define SEAL_SIG ",\"sig\":\"" /* what comes before it is what is signed */

struct epoch;

/* A page for keys: locked, zero, in no dump and in no child. Freeing wipes it; safe on NULL. */
int key_page_new(void **out);
void key_page_free(void *page);

int epoch_new(struct epoch **out);
void epoch_free(struct epoch *e);

/* The public key of the present epoch. */
const uint8_t *epoch_key(const struct epoch *e);

/* A record joined the epoch. */
void epoch_add(struct epoch *e, const struct digest *record);

/* Makes the next epoch's key ahead of time, so that epoch_seal() only signs. For the thread that seals; needs no lock. */
void epoch_prepare(struct epoch *e);

/*
 * Completes LINE, which holds the HEAD_LEN bytes of seq, time and prev, to a signed seal record, and begins the
 * next epoch. FINAL names no successor: nothing can be signed afterwards. Returns the length of the line.
 */
size_t epoch_seal(struct epoch *e, char line[SEAL_MAX], size_t head_len, bool final);

#endif
