/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of an index: SQLite holds its rows of bytes, and sees to it that two processes do not write at once.
 *
 * MUST: nothing in the file is believed. It is read only when it is its reader's own and has exactly our tables; each row is
 * bound by a hash to its number and to the making of its part, so that one that was changed, exchanged or left over is noticed.
 */
#ifndef USHER_AUDIT_INDEX_STORE_H
#define USHER_AUDIT_INDEX_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/index_part.h"

struct index_store;

/* Opens the file in the directory DIR. MAKE: an empty one takes its place. 0, -ENOENT, or a negative errno (-EIO: it is none of ours). */
int index_store_open(const char *dir, bool make, struct index_store **out);
void index_store_close(struct index_store *s);

/* Removes the file. */
void index_store_remove(const char *dir);

/* The head of the part for SEGMENT: 1, 0 when there is none, or -EIO. */
int index_store_head(struct index_store *s, uint32_t segment, struct part_head *out);

/* A row of that part, valid until the next call. 0 or -EIO. */
int index_store_row(struct index_store *s, uint32_t segment, uint32_t row, const uint8_t **data, const uint8_t **end);

/* Between these parts are put, in place of those that were there. 0, or -EBUSY, -EROFS or -EIO. */
int index_store_begin(struct index_store *s);
int index_store_put(struct index_store *s, uint32_t segment, struct index_part *p);
int index_store_end(struct index_store *s);

#endif
