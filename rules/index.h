/* SPDX-License-Identifier: Apache-2.0 */
/* What building and walking the index share: hashes and the slot table. */
#ifndef USHER_RULES_INDEX_H
#define USHER_RULES_INDEX_H

#include "rules/compiled.h"

/* What a slot's key speaks of. */
enum slot_kind { SLOT_CHILD = 1, SLOT_PREFIX, SLOT_SUFFIX, SLOT_INFIX, SLOT_NET, SLOT_PIN };

/* Prefixes and suffixes of component patterns are indexed up to this many bytes. */
#define AFFIX_MAX 63U

/* Bytes within them by 1 << 0 to 1 << INFIX_LOG. */
#define INFIX_LOG 3U

/* Eight bytes at a time; what is compared after it is compared byte by byte, so it need not be strong. */
static inline uint64_t hash_bytes(const char *bytes, size_t n)
{
	const uint64_t factor = UINT64_C(0x9fb21c651e98df25);
	uint64_t h = n * factor, word;
	for (; n >= 8; n -= 8, bytes += 8) {
		__builtin_memcpy(&word, bytes, 8);
		h = (h ^ word) * factor;
		h ^= h >> 35;
	}
	for (word = 0; n; n--)
		word = word << 8 | (uint8_t)bytes[n - 1];
	h = (h ^ word) * factor;
	return h ^ h >> 28;
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

/* ---- building: each returns 0 or -ENOMEM ---- */

/* index.c */
int index_new_node(struct index *ix, uint32_t *out);
int index_new_term(struct index *ix, uint32_t rule, uint32_t pattern, uint32_t *out);
struct slot *index_slot(struct slots *s, uint64_t key);
int index_add_slot(struct slots *s, uint64_t key, uint32_t value);
void index_append(struct index *ix, struct chain *c, uint32_t term);

/* Lays TERM where names that G matches end, from the place ROOT on. */
int index_add_name(struct index *ix, uint32_t root, const struct glob *g, uint32_t term);

/* index_edges.c: the place behind the component TOKEN[0..N) of G, made where PARENT has none. */
int index_component(struct index *ix, uint32_t parent, const struct glob *g, const struct glob_token *token, uint32_t n, uint32_t *out);

/* index_edges.c: lays TERM where TOKEN[0..N) match the rest of a name. */
int index_rest(struct index *ix, uint32_t parent, const struct glob *g, const struct glob_token *token, uint32_t n, uint32_t term);

/* forks.c: where many rules share a place and differ in a condition, puts them behind an index of that condition. */
int index_fork(struct ruleset *rs);

#endif
