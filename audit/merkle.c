/* SPDX-License-Identifier: Apache-2.0 */
/* Merkle trees in the shape of RFC 6962: the left subtree is the largest power of two below the size. */
#include "audit/merkle.h"

#include <string.h>

/* SUM may be LEFT or RIGHT itself. */
static void node(struct digest *sum, const struct digest *left, const struct digest *right)
{
	uint8_t text[1 + 2 * DIGEST_BYTES + DIGEST_PAD] = { 1 };
	memcpy(text + 1, left->bytes, DIGEST_BYTES);
	memcpy(text + 1 + DIGEST_BYTES, right->bytes, DIGEST_BYTES);
	digest_padded(sum, text, 1 + 2 * DIGEST_BYTES);
}

void merkle_leaf(struct digest *out, const void *data, size_t n)
{
	struct sha256_ctx ctx;
	sha256_init(&ctx);
	sha256_update(&ctx, 1, (const uint8_t[]){ 0 });
	sha256_update(&ctx, n, data);
	sha256_digest(&ctx, DIGEST_BYTES, out->bytes);
}

void merkle_add(struct merkle *m, const struct digest *leaf)
{
	struct digest sum = *leaf;
	unsigned level = 0;
	for (; m->count >> level & 1; level++)
		node(&sum, &m->peak[level], &sum);
	m->peak[level] = sum;
	m->count++;
}

void merkle_root(const struct merkle *m, struct digest *out)
{
	struct digest sum = { { 0 } };
	bool some = false;
	for (unsigned level = 0; level < 64; level++) {
		if (!(m->count >> level & 1))
			continue;
		if (some)
			node(&sum, &m->peak[level], &sum);
		else
			sum = m->peak[level];
		some = true;
	}
	*out = sum;
}

/* The largest power of two smaller than N (N > 1). */
static uint64_t split(uint64_t n)
{
	return UINT64_C(1) << (63 - __builtin_clzll(n - 1));
}

static void root_of(const struct digest *leaves, uint64_t count, struct digest *out)
{
	struct merkle m = { 0 };
	for (uint64_t i = 0; i < count; i++)
		merkle_add(&m, &leaves[i]);
	merkle_root(&m, out);
}

size_t merkle_path(const struct digest *leaves, uint64_t count, uint64_t index, struct digest *path)
{
	if (count <= 1)
		return 0;
	uint64_t k = split(count);
	bool left = index < k;
	size_t n = left ? merkle_path(leaves, k, index, path) :
			  merkle_path(leaves + k, count - k, index - k, path);
	if (left)
		root_of(leaves + k, count - k, &path[n]);
	else
		root_of(leaves, k, &path[n]);
	return n + 1;
}

/* RFC 9162, 2.1.3.2. */
bool merkle_climb(const struct digest *leaf, uint64_t index, uint64_t count, const struct digest *path, size_t n, struct digest *root)
{
	if (index >= count)
		return false;
	struct digest sum = *leaf;
	uint64_t last = count - 1;
	for (size_t i = 0; i < n; i++) {
		if (last == 0)
			return false;
		if (index & 1 || index == last) {
			node(&sum, &path[i], &sum);
			while (!(index & 1) && index) {
				index >>= 1;
				last >>= 1;
			}
		} else {
			node(&sum, &sum, &path[i]);
		}
		index >>= 1;
		last >>= 1;
	}
	*root = sum;
	return last == 0;
}
