/* SPDX-License-Identifier: Apache-2.0 */
/* What building and walking the index share: hashes and the slot table. */
#ifndef USHER_RULES_INDEX_H
#define USHER_RULES_INDEX_H

#include "rules/compiled.h"

/* What a slot's key speaks of. */
enum slot_kind { SLOT_CHILD = 1, SLOT_PREFIX, SLOT_SUFFIX, SLOT_NET, SLOT_PIN };

/* Prefixes and suffixes of component patterns are indexed up to this many bytes. */
#define AFFIX_MAX 63U

static inline uint64_t hash_bytes(const char *bytes, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)bytes[i]) * UINT64_C(0x100000001b3);
	return h;
}

static inline uint64_t slot_key(uint32_t node, enum slot_kind kind, uint32_t len, uint64_t hash)
{
	uint64_t k = hash ^ ((uint64_t)node << 32 | (uint64_t)kind << 16 | len) * UINT64_C(0x9e3779b97f4a7c15);
	k ^= k >> 32;
	k *= UINT64_C(0xd6e8feb86659fd93);
	k ^= k >> 29;
	return k ? k : 1;
}

static inline uint64_t child_bit(uint64_t hash)
{
	return UINT64_C(1) << ((hash ^ hash >> 32) & 63);
}

static inline uint64_t pin_hash(uint64_t dev, uint64_t ino)
{
	return (dev * UINT64_C(0x9e3779b97f4a7c15)) ^ ino;
}

/* The first slot with KEY from position *at on, or NULL; *at then stands behind it. */
static inline const struct slot *slots_from(const struct slots *s, uint64_t key, uint32_t *at)
{
	if (!s->slot)
		return NULL;
	for (uint32_t i = *at & s->mask; s->slot[i].key; i = (i + 1) & s->mask) {
		if (s->slot[i].key == key) {
			*at = i + 1;
			return &s->slot[i];
		}
	}
	return NULL;
}

/* The place of the child of PARENT with that name and hash; 0 when there is none. */
static inline uint32_t index_child(const struct index *ix, uint32_t parent, const char *name, size_t len, uint64_t hash)
{
	if (!(ix->node[parent].children & child_bit(hash)))
		return 0;
	uint64_t key = slot_key(parent, SLOT_CHILD, 0, hash);
	uint32_t at = (uint32_t)key;
	const struct slot *s;
	while ((s = slots_from(&ix->slots, key, &at))) {
		const struct place_node *n = &ix->node[s->value];
		if (n->name_len == len && __builtin_memcmp(ix->names + n->name, name, len) == 0)
			return s->value;
	}
	return 0;
}

#endif
