/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merkle trees in the shape of RFC 6962, grown leaf by leaf: only the roots of the
 * full subtrees are kept. Two trees exist: over the records of an epoch (leaf: the record's
 * SHA-256, node: SHA-256 of 0x01 left right; a line begins with '{', so no line is a node)
 * and over the session's seals (RFC 6962, as witnesses expect).
 */
#ifndef USHER_AUDIT_MERKLE_H
#define USHER_AUDIT_MERKLE_H

#include "audit/digest.h"

/* SHA-256(0x00 DATA): the leaf of RFC 6962. */
void merkle_leaf(struct digest *out, const void *data, size_t n);

struct merkle {
	uint64_t count;
	struct digest peak[64]; /* peak[i] is a full subtree of 2^i leaves where bit i of count is set */
};

void merkle_add(struct merkle *m, const struct digest *leaf);
/* The root of what was added; of an empty tree all zero. */
void merkle_root(const struct merkle *m, struct digest *out);

/*
 * The audit path of leaf INDEX of COUNT LEAVES, deepest first, into PATH (room for 64). Returns its length. merkle_climb()
 * gives the root that a leaf and a path lead to.
 */
size_t merkle_path(const struct digest *leaves, uint64_t count, uint64_t index, struct digest *path);
bool merkle_climb(const struct digest *leaf, uint64_t index, uint64_t count, const struct digest *path, size_t n,
		  struct digest *root);

#endif
