/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inflight.jsonl: what is being done at this moment. One fixed slot for each
 * operation between its intent and its record; what is found there after the death of
 * the process may have taken effect without a record of its outcome.
 *
 * MUST: the '{' is stored last and taken away first; a slot is used only when its blocks are there.
 */
#ifndef USHER_AUDIT_INFLIGHT_H
#define USHER_AUDIT_INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INFLIGHT_NAME "inflight.jsonl"
#define INFLIGHT_SLOTS 64
#define INFLIGHT_SLOT 4096
#define INFLIGHT_FIRST 8 /* there from the start */

struct inflight;

int inflight_create(int dir, struct inflight **out);

/* Makes the other slots there. For one thread; a failure leaves the first ones. */
void inflight_grow(struct inflight *f);
bool inflight_grown(const struct inflight *f);

/* Whether somebody has removed the file. */
bool inflight_gone(const struct inflight *f);

/*
 * Puts the line made of HEAD and BODY (neither is empty) into a free slot, lock free. Returns 0, -EMSGSIZE when it is longer than a
 * slot, -EBUSY when none is free, or the errno of the write.
 */
int inflight_put(struct inflight *f, const char *head, size_t head_len, const char *body, size_t body_len, uint32_t *slot);

/* What the slot's owner keeps here for the final record: bytes of the journal that were set aside for it, and the last record's number at the time. */
struct inflight_note {
	size_t reserved;
	uint64_t after;
};

void inflight_reserve(struct inflight *f, uint32_t slot, struct inflight_note note);
struct inflight_note inflight_release(struct inflight *f, uint32_t slot);

/* Empties the slot for the next. */
void inflight_clear(struct inflight *f, uint32_t slot);

/* Flushes the file to the disk. */
int inflight_sync(struct inflight *f);

/* Removes the file unless a slot is in use. */
void inflight_drop(const struct inflight *f, int dir);

/* Closes and removes the file unless a slot is in use. Safe on NULL. */
void inflight_close(struct inflight *f, int dir);

#endif
