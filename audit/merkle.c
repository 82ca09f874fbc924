/* SPDX-License-Identifier: Apache-2.0 */
/* Merkle trees in the shape of RFC 6962: the left subtree is the largest power of two below the size. */
#include "audit/merkle.h"

#include <string.h>

void merkle_node_blake2b(struct digest *out, const struct digest *left, const struct digest *right)
{
	uint8_t data[1 + 2 * DIGEST_BYTES] = { 1 };
	memcpy(data + 1, left, DIGEST_BYTES);
	memcpy(data + 1 + DIGEST_BYTES, right, DIGEST_BYTES);
	digest_of(out, data, sizeof data);
}

void merkle_node_sha256(struct digest *out, const struct digest *left, const struct digest *right)
{
	uint8_t data[1 + 2 * DIGEST_BYTES] = { 1 };
	memcpy(data + 1, left, DIGEST_BYTES);
	memcpy(data + 1 + DIGEST_BYTES, right, DIGEST_BYTES);
	crypto_hash_sha256(out->bytes, data, sizeof data);
}

void merkle_leaf_sha256(struct digest *out, const void *data, size_t n)
{
	crypto_hash_sha256_state state;
	crypto_hash_sha256_init(&state);
	crypto_hash_sha256_update(&state, (const uint8_t[]){ 0 }, 1);
	crypto_hash_sha256_update(&state, data, n);
	crypto_hash_sha256_final(&state, out->bytes);
}

void merkle_add(struct merkle *m, merkle_node node, const struct digest *leaf)
{
	struct digest sum = *leaf;
	unsigned level = 0;
	for (; m->count >> level & 1; level++)
		node(&sum, &m->peak[level], &sum);
	m->peak[level] = sum;
	m->count++;
}

void merkle_root(const struct merkle *m, merkle_node node, struct digest *out)
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

static void root_of(const struct digest *leaves, uint64_t count, merkle_node node, struct digest *out)
{
	struct merkle m = { 0 };
	for (uint64_t i = 0; i < count; i++)
		merkle_add(&m, node, &leaves[i]);
	merkle_root(&m, node, out);
}

size_t merkle_path(const struct digest *leaves, uint64_t count, uint64_t index, merkle_node node, struct digest *path)
{
	if (count <= 1)
		return 0;
	uint64_t k = split(count);
	bool left = index < k;
	size_t n = left ? merkle_path(leaves, k, index, node, path) :
			  merkle_path(leaves + k, count - k, index - k, node, path);
	if (left)
		root_of(leaves + k, count - k, node, &path[n]);
	else
		root_of(leaves, k, node, &path[n]);
	return n + 1;
}

/* RFC 9162, 2.1.3.2. */
bool merkle_climb(const struct digest *leaf, uint64_t index, uint64_t count, const struct digest *path, size_t n,
		  merkle_node node, struct digest *root)
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
