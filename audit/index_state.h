/* SPDX-License-Identifier: Apache-2.0 */
/* What index.c and index_find.c share. Nobody else includes this. */
#ifndef USHER_AUDIT_INDEX_STATE_H
#define USHER_AUDIT_INDEX_STATE_H

#include "audit/index.h"
#include "audit/index_part.h"
#include "audit/index_store.h"

struct part {
	uint32_t segment;
	bool indexed; /* up to head.upto; what follows, or the whole, is read line by line */
	uint64_t size;
	struct part_head head;
	uint64_t *want;  /* a bit for each record */
	uint64_t *moves; /* those of calls that move names; NULL before it is asked */
};

struct index {
	char *dir;
	int dirfd;
	struct index_store *store;
	struct part *part; /* one for each segment, in order */
	size_t n;
};

/* Numbers of 64 bits that a bit for each record takes. */
static inline size_t part_words(const struct part *p)
{
	return (size_t)(p->head.records + 63) / 64;
}

/* Opens the segment's file to read. */
int part_open(const struct index *x, uint32_t segment);

#endif
