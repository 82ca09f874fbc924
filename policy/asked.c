/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/asked.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "policy/filed.h"

static uint64_t mix(uint64_t h, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return (h ^ len) * 0x9e3779b97f4a7c15ull;
}

static uint64_t key_of(const struct question *q)
{
	const struct call *c = q->call;
	uint64_t h = mix(0xcbf29ce484222325ull, c->by.image.exe.bytes, c->by.image.exe.len);
	h = mix(h, c->argv0.bytes, c->argv0.len);
	h = mix(h, c->argv.bytes, c->argv.len);
	h = mix(h, c->syscall, strlen(c->syscall));
	for (uint32_t i = 0; i < c->n_objects; i++) {
		const struct object *o = &c->object[i];
		h = mix(h + o->ops, o->name.bytes, o->name.len);
		h = mix(h + o->inet.port, o->inet.addr, sizeof(o->inet.addr));
		h = mix(h + o->inet.scope, &o->inet.proto, sizeof(o->inet.proto));
	}
	return h;
}

static void mark_span(crypto_generichash_state *h, struct span s)
{
	uint64_t len = s.bytes ? s.len : UINT64_MAX; /* no argument is not an empty one */

	crypto_generichash_update(h, (const unsigned char *)&len, sizeof(len));
	if (s.bytes)
		crypto_generichash_update(h, (const unsigned char *)s.bytes, s.len);
}

static void mark_object(crypto_generichash_state *h, const struct object *o)
{
	uint64_t numbers[] = { o->kind, o->ops, o->own_argv, o->inet.port, o->inet.scope, o->inet.proto };

	crypto_generichash_update(h, (const unsigned char *)numbers, sizeof(numbers));
	crypto_generichash_update(h, o->inet.addr, sizeof(o->inet.addr));
	mark_span(h, o->name);
	mark_span(h, o->sha256);
	mark_span(h, o->argv);
}

static void mark_of(const struct question *q, uint8_t out[QUESTION_MARK])
{
	const struct call *c = q->call;
	uint64_t numbers[] = { c->n_objects, c->said, c->by.uid, (uintptr_t)q->verdict->rule, q->verdict->unanswered };
	crypto_generichash_state h;

	crypto_generichash_init(&h, NULL, 0, QUESTION_MARK);
	crypto_generichash_update(&h, (const unsigned char *)numbers, sizeof(numbers));
	mark_span(&h, (struct span){ c->syscall, (uint32_t)strlen(c->syscall) });
	mark_span(&h, c->by.image.exe);
	mark_span(&h, c->argv0);
	mark_span(&h, c->argv);
	mark_span(&h, c->env);
	mark_span(&h, c->value);
	for (uint32_t i = 0; i < c->n_objects; i++)
		mark_object(&h, &c->object[i]);
	crypto_generichash_final(&h, out, QUESTION_MARK);
}

void question_sum(const struct question *q, struct question_sum *out)
{
	out->key = key_of(q);
	mark_of(q, out->mark);
}

/* Lays S at *at and makes it point there. */
static void keep(char **at, struct span *s)
{
	if (!s->bytes)
		return;
	memcpy(*at, s->bytes, s->len);
	s->bytes = *at;
	*at += s->len;
}

#define CALL_SPANS (5 + 4 * CALL_OBJECTS)

/* All that C points to beside its ancestors: the one list of it. How many. */
static uint32_t call_spans(struct call *c, struct span *out[CALL_SPANS])
{
	uint32_t n = 0;
	out[n++] = &c->by.image.exe;
	out[n++] = &c->argv0;
	out[n++] = &c->argv;
	out[n++] = &c->env;
	out[n++] = &c->value;
	for (uint32_t i = 0; i < c->n_objects; i++) {
		out[n++] = &c->object[i].name;
		out[n++] = &c->object[i].named;
		out[n++] = &c->object[i].sha256;
		out[n++] = &c->object[i].argv;
	}
	return n;
}

static void shorten(struct call *c)
{
	if (c->value.len > ASKED_VALUE)
		c->value.len = ASKED_VALUE;
}

static size_t bytes_needed(const struct question *q, uint32_t n_ancestors)
{
	struct call c = *q->call;
	shorten(&c);
	struct span *spans[CALL_SPANS];
	size_t n = 0;
	for (uint32_t left = call_spans(&c, spans); left > 0; left--)
		n += spans[left - 1]->len;
	for (uint32_t i = 0; i < n_ancestors; i++)
		n += c.by.ancestors[i].exe.len;
	for (size_t i = 0; i < q->n_facts; i++)
		n += strlen(q->facts[i].key) + 1 + q->facts[i].value.len;
	return n;
}

static void keep_facts(struct asked *a, const struct question *q, char **at)
{
	a->n_facts = (uint32_t)q->n_facts;
	for (uint32_t i = 0; i < a->n_facts; i++) {
		a->facts[i] = q->facts[i];
		struct span key = { a->facts[i].key, (uint32_t)strlen(a->facts[i].key) + 1 };
		keep(at, &key);
		a->facts[i].key = key.bytes;
		keep(at, &a->facts[i].value);
	}
}

int asked_new(const struct question *q, struct asked **out, size_t *size)
{
	const struct call *c = q->call;
	uint32_t n_anc = c->by.ancestors ? c->by.n_ancestors : 0;
	size_t fixed = sizeof(struct asked) + q->n_facts * sizeof(struct fact) + n_anc * sizeof(struct image);
	*size = fixed + bytes_needed(q, n_anc);
	struct asked *a = calloc(1, *size);
	if (!a)
		return -ENOMEM;
	a->facts = (struct fact *)(a + 1);
	struct image *ancestors = (struct image *)(a->facts + q->n_facts);
	char *at = (char *)(ancestors + n_anc);
	a->verdict = *q->verdict;
	a->call = *c;
	shorten(&a->call);
	memset(&a->call.object[c->n_objects], 0, (CALL_OBJECTS - c->n_objects) * sizeof(c->object[0])); /* of any call before: nobody's */
	a->call.by.ancestors = n_anc ? ancestors : NULL;
	a->call.by.n_ancestors = n_anc;
	struct span *spans[CALL_SPANS];
	for (uint32_t i = 0, n = call_spans(&a->call, spans); i < n; i++)
		keep(&at, spans[i]);
	for (uint32_t i = 0; i < n_anc; i++) {
		ancestors[i] = c->by.ancestors[i];
		keep(&at, &ancestors[i].exe);
	}
	keep_facts(a, q, &at);
	*out = a;
	return 0;
}

static void rebase_span(struct span *s, uintptr_t from, uintptr_t to)
{
	if (s->bytes)
		s->bytes = (const char *)((uintptr_t)s->bytes - from + to);
}

static void rebase_ancestors(struct asked *a, uintptr_t from, uintptr_t to)
{
	struct image *above = (struct image *)((struct fact *)(a + 1) + a->n_facts);

	if (!a->call.by.ancestors)
		return;
	a->call.by.ancestors = (const struct image *)((uintptr_t)a->call.by.ancestors - from + to);
	for (uint32_t i = 0; i < a->call.by.n_ancestors; i++)
		rebase_span(&above[i].exe, from, to);
}

void asked_rebase(struct asked *a, uintptr_t from, uintptr_t to)
{
	struct fact *facts = (struct fact *)(a + 1);
	struct span *spans[CALL_SPANS];

	for (uint32_t i = 0, n = call_spans(&a->call, spans); i < n; i++)
		rebase_span(spans[i], from, to);
	rebase_ancestors(a, from, to);
	for (uint32_t i = 0; i < a->n_facts; i++) {
		facts[i].key = (const char *)((uintptr_t)facts[i].key - from + to);
		rebase_span(&facts[i].value, from, to);
	}
	a->facts = (struct fact *)((uintptr_t)a->facts - from + to);
}

void asked_free(struct asked *a)
{
	if (!a)
		return;
	filed_put(a->of);
	free(a);
}

uint32_t asked_count(const struct asked *a)
{
	return a->of ? atomic_load(&a->of->count) : 1;
}

struct span asked_fact(const struct asked *a, const char *key)
{
	for (uint32_t i = 0; i < a->n_facts; i++) {
		if (strcmp(a->facts[i].key, key) == 0)
			return a->facts[i].value;
	}
	return (struct span){ NULL, 0 };
}

void asked_shown(const char *text, size_t len, uint8_t out[32])
{
	crypto_generichash(out, 32, (const unsigned char *)text, len, NULL, 0);
}
