/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment's part of the index: for every value of the fields that queries ask for, the records that have it. Made
 * from the segment alone, by one thread, in memory; index_store.h keeps it as rows of bytes:
 *
 *   row 0           for each chunk of records: the first and last time and number
 *   row KEY         the values of one field, each with its records
 *   ROW_NAMES + n   the names whose hash is n
 *   ROW_PLACES + n  where the records of chunk n stand
 *
 * An entry of a row: length and bytes of the value (its kind, then its text as in the record), length and bytes of the list of
 * records: each the distance from the one before. All numbers in the form of LEB128.
 */
#ifndef USHER_AUDIT_INDEX_PART_H
#define USHER_AUDIT_INDEX_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "audit/digest.h"
#include "audit/index_values.h"
#include "audit/query.h"

#define ROW_RANGES 0u
#define ROW_NAMES 256u
#define NAME_ROWS 256u
#define ROW_PLACES 1024u
#define CHUNK_RECORDS 1024u
/* What no journal of ours comes near; more is not indexed. */
#define PART_RECORDS_MAX (1u << 24)

/* What the part was made of. Kept as it is in memory: an index that moved to another machine does not belong there. */
struct part_head {
	uint64_t version;
	uint64_t inode, size, modified, changed; /* of the segment, times in ns */
	uint64_t upto;                           /* what stands behind this offset is not in */
	uint64_t last, last_len;                 /* the last record that is in */
	struct digest hash;                      /* of that record */
	uint64_t records;
	uint64_t nonce[2];                       /* of this making: its rows are told from those of another by it */
};

struct range {
	uint64_t time[2], seq[2]; /* lowest, highest; none where the first is higher */
};

struct index_part;

/* Reads SEGMENT of the journal in DIR. Returns 0 (*out NULL when no record is in it), or a negative errno. */
int index_part_make(const char *dir, uint32_t segment, struct index_part **out);
void index_part_free(struct index_part *p);

const struct part_head *index_part_head(const struct index_part *p);

/* Gives every row that is not empty, in the order of their numbers. Returns 0, or the first that PUT returned that was not. */
int index_part_rows(struct index_part *p, row_fn put, void *context);

/* The row of the name whose escaped form is TEXT. */
uint32_t index_name_row(const char *text, size_t len);

/* Whether a head read from a file is one of ours. */
bool part_known(const struct part_head *h);
/* Whether ST is that of the file the part was made of, unchanged since. */
bool part_fresh(const struct part_head *h, const struct stat *st);

/* Whether the call with this record moves or links names, and is about more than one object. */
bool index_moves(const char *text, size_t len);

#endif
