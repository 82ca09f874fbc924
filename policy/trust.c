/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table that only grows. Its hash has a key that the watched programs do not know, so that no name can be made to fall
 * together with one that was trusted.
 */
#include "policy/trust.h"

#include <errno.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 4096
#define PROBES 64

_Static_assert(crypto_shorthash_BYTES == sizeof(uint64_t), "a key is one hash");

struct trust {
	unsigned char key[crypto_shorthash_KEYBYTES];
	struct {
		_Atomic uint64_t key; /* 0: free */
		atomic_uint count;
	} place[PLACES];
};

int trust_new(struct trust **out)
{
	struct trust *t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	randombytes_buf(t->key, sizeof(t->key));
	*out = t;
	return 0;
}

void trust_free(struct trust *t)
{
	free(t);
}

static uint64_t hash(const struct trust *t, const void *bytes, size_t len)
{
	uint64_t h;
	crypto_shorthash((unsigned char *)&h, bytes, len, t->key);
	return h;
}

static uint64_t hash_span(const struct trust *t, struct span s)
{
	return hash(t, s.bytes ? s.bytes : "", s.bytes ? s.len : 0);
}

uint64_t trust_key(const struct trust *t, const struct rule *rule, const struct call *call, uint32_t object, unsigned bit)
{
	/* parts of fixed size, each a hash where it is not: no two lists of parts run together */
	uint64_t part[6] = { (uint64_t)(uintptr_t)rule };
	const struct object *o = &call->object[object];
	if (rule->after_scope != AFTER_RULE)
		part[1] = hash_span(t, call->by.image.exe);
	if (rule->after_scope == AFTER_OBJECT) {
		part[2] = (uint64_t)bit << 8 | (uint64_t)o->kind;
		part[3] = hash_span(t, o->name);
		if (o->kind == OBJECT_INET)
			part[4] = hash(t, o->inet.addr, sizeof(o->inet.addr)) ^ ((uint64_t)o->inet.scope << 32 | (uint64_t)o->inet.port << 16 | o->inet.proto);
		if (1u << bit == OP_EXEC)
			part[5] = hash_span(t, call_argv(call, o));
	}
	uint64_t key = hash(t, part, sizeof(part));
	return key ? key : 1;
}

uint32_t trust_count(const struct trust *t, uint64_t key)
{
	for (unsigned i = 0; i < PROBES; i++) {
		size_t at = (key + i) % PLACES;
		uint64_t seen = atomic_load_explicit(&t->place[at].key, memory_order_acquire);
		if (seen == key)
			return atomic_load(&t->place[at].count);
		if (!seen)
			return 0;
	}
	return 0;
}

void trust_favour(struct trust *t, uint64_t key)
{
	for (unsigned i = 0; i < PROBES; i++) {
		size_t at = (key + i) % PLACES;
		uint64_t seen = 0;
		if (atomic_compare_exchange_strong(&t->place[at].key, &seen, key) || seen == key) {
			atomic_fetch_add(&t->place[at].count, 1);
			return;
		}
	}
}
