/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which names led through a symbolic link the last time: they are looked up by the kernel at once, without the attempt that only a name
 * without links can pass (and the decision and the intent before it).
 *
 * MUST: a hint says which of two ways is tried first, and nothing of the object: both give the same, with a wrong hint, too.
 */
#ifndef USHER_SUPERVISOR_LINK_HINT_H
#define USHER_SUPERVISOR_LINK_HINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LINK_HINTS 64 /* libraries of some programs that run by turns */

struct link_hints {
	_Atomic uint64_t key[LINK_HINTS]; /* 0: none */
};

/* Of the length and the last sixteen bytes, where most names differ. Never 0. */
static inline uint64_t link_key(const char *path, size_t len)
{
	uint64_t end = 0, before = 0;
	size_t n = len < sizeof(end) ? len : sizeof(end);

	memcpy(&end, path + len - n, n);
	memcpy(&before, path + (len < 2 * n ? 0 : len - 2 * n), n);
	uint64_t key = (end ^ (before + len) * UINT64_C(0x9fb21c651e98df25)) * UINT64_C(0x9e3779b97f4a7c15);
	return key | 1;
}

static inline _Atomic uint64_t *link_slot(struct link_hints *h, uint64_t key)
{
	return &h->key[key >> 32 & (LINK_HINTS - 1)];
}

/* Whether the name of KEY led through a link. Any thread, as the two below. */
static inline bool link_hinted(struct link_hints *h, uint64_t key)
{
	return atomic_load_explicit(link_slot(h, key), memory_order_relaxed) == key;
}

static inline void link_learn(struct link_hints *h, uint64_t key)
{
	atomic_store_explicit(link_slot(h, key), key, memory_order_relaxed);
}

/* It leads through none any more. */
static inline void link_forget(struct link_hints *h, uint64_t key)
{
	if (link_hinted(h, key))
		atomic_store_explicit(link_slot(h, key), 0, memory_order_relaxed);
}

#endif
