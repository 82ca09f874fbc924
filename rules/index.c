// SPDX-License-Identifier: Apache-2.0
/*
 * Building the index: a tree of places by component, shared by all rules with the
 * same beginning, with literal children behind one hash table.
 *
 * MUST: every pattern of every rule is found by index_walk() wherever
 * pattern_matches() says it matches; terms of one chain are in the order of the rules.
 */
#include "rules/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/pages.h"

int reserve(void **array, uint32_t *room, uint32_t need, size_t size)
{
	if (need <= *room)
		return 0;
	uint32_t more = *room ? *room : need > 8 ? need : 8;
	while (more < need) {
		if (more > UINT32_MAX / 2)
			return -ENOMEM;
		more *= 2;
	}
	void *grown = *array ? reallocarray(*array, more, size) : pages_zeroed((size_t)more * size);
	if (!grown)
		return -ENOMEM;
	if (*array) {
		char *fresh = (char *)grown + (size_t)*room * size;
		size_t n = (size_t)(more - *room) * size;

		pages_ready(fresh, n);
		memset(fresh, 0, n);
	}
	*array = grown;
	*room = more;
	return 0;
}

static void slots_put(struct slots *s, uint64_t key, uint32_t value)
{
	uint32_t i = (uint32_t)key & s->mask;
	while (s->slot[i].key)
		i = (i + 1) & s->mask;
	s->slot[i] = (struct slot){ key, value };
	s->used++;
}

/* How many of MASK + 1 slots are used at most: the more, the longer are the ways past those of others. */
static uint32_t slots_most(uint32_t mask)
{
	return mask / 8 * 5;
}

/* MASK + 1 slots, no fewer than there were. */
static int slots_room(struct slots *s, uint32_t mask)
{
	struct slots more = { .mask = mask };
	more.slot = pages_zeroed(((size_t)mask + 1) * sizeof(*more.slot));
	if (!more.slot)
		return -ENOMEM;
	for (uint32_t i = 0; s->slot && i <= s->mask; i++)
		if (s->slot[i].key)
			slots_put(&more, s->slot[i].key, s->slot[i].value);
	free(s->slot);
	*s = more;
	return 0;
}

int index_add_slot(struct slots *s, uint64_t key, uint32_t value)
{
	if (!s->slot || s->used >= slots_most(s->mask)) {
		int r = slots_room(s, s->slot ? s->mask * 2 + 1 : 255);
		if (r)
			return r;
	}
	slots_put(s, key, value);
	return 0;
}

struct slot *index_slot(struct slots *s, uint64_t key)
{
	uint32_t at = (uint32_t)key;
	return (struct slot *)slots_from(s, key, &at);
}

int index_new_node(struct index *ix, uint32_t *out)
{
	int r = reserve((void **)&ix->node, &ix->nodes_room, ix->nodes + 1, sizeof(*ix->node));
	if (r)
		return r;
	*out = ix->nodes++;
	return 0;
}

int index_new_term(struct index *ix, uint32_t rule, uint32_t pattern, uint32_t *out)
{
	int r = reserve((void **)&ix->term, &ix->terms_room, ix->terms + 1, sizeof(*ix->term));
	if (r)
		return r;
	*out = ix->terms++;
	ix->term[*out] = (struct term){ .rule = rule, .pattern = pattern };
	return 0;
}

void index_append(struct index *ix, struct chain *c, uint32_t term)
{
	if (c->tail)
		ix->term[c->tail].next = term;
	else
		c->head = term;
	c->tail = term;
}

static int literal_child(struct index *ix, uint32_t parent, const char *name, size_t len, uint32_t *out)
{
	uint64_t hash = hash_bytes(name, len);
	*out = index_child(ix, parent, name, len, hash);
	if (*out)
		return 0;
	int r = reserve((void **)&ix->names, &ix->names_room, ix->names_used + (uint32_t)len + 1, 1);
	if (!r)
		r = index_new_node(ix, out);
	if (!r)
		r = index_add_slot(&ix->slots, slot_key(parent, SLOT_CHILD, 0, hash), *out);
	if (r)
		return r;
	memcpy(ix->names + ix->names_used, name, len);
	ix->node[*out].name = ix->names_used;
	ix->node[*out].name_len = (uint16_t)len;
	ix->names_used += (uint32_t)len;
	ix->node[parent].children |= child_bit(hash);
	ix->node[parent].grows = true;
	return 0;
}

static int fresh_child(struct index *ix, uint32_t parent, uint32_t have, uint32_t *out)
{
	*out = have;
	if (have)
		return 0;
	ix->node[parent].grows = true;
	return index_new_node(ix, out);
}

static int deep_child(struct index *ix, uint32_t parent, uint32_t *out)
{
	if (ix->node[parent].loops) {
		*out = parent;
		return 0;
	}
	int r = fresh_child(ix, parent, ix->node[parent].deep, out);
	if (r)
		return r;
	ix->node[parent].deep = *out;
	ix->node[*out].loops = true;
	return 0;
}

static int star_child(struct index *ix, uint32_t parent, uint32_t *out)
{
	int r = fresh_child(ix, parent, ix->node[parent].star, out);
	if (!r)
		ix->node[parent].star = *out;
	return r;
}

static int one_component(struct index *ix, uint32_t parent, const struct glob *g, const struct glob_token *token,
			 uint32_t n, uint32_t *out)
{
	if (n == 1 && token->op == GLOB_STAR)
		return star_child(ix, parent, out);
	char name[GLOB_TOKENS];
	uint32_t i = 0;
	for (; i < n && token[i].op == GLOB_BYTE; i++)
		name[i] = (char)token[i].byte;
	if (i == n)
		return literal_child(ix, parent, name, n, out);
	return index_component(ix, parent, g, token, n, out);
}

int index_add_name(struct index *ix, uint32_t root, const struct glob *g, uint32_t term)
{
	uint32_t at = root, t = 0;
	for (bool more = g->n > 0; more;) {
		const struct glob_token *token = &g->token[t];
		uint32_t left = g->n - t, n = 0;
		bool crosses = false;
		int r = 0;
		if (left && token->op == (left > 1 ? GLOB_DIRS : GLOB_ALL)) {
			r = deep_child(ix, at, &at);
			more = ++t < g->n;
		} else {
			for (; n < left && token[n].op != GLOB_SEP && token[n].op != GLOB_TAIL; n++)
				crosses |= token[n].op == GLOB_ALL || token[n].op == GLOB_DIRS;
			if (crosses)
				return index_rest(ix, at, g, token, left, term);
			r = one_component(ix, at, g, token, n, &at);
			more = n < left; /* a separator at the very end: an empty component is behind it */
			t += n + more;
		}
		if (r)
			return r;
	}
	index_append(ix, &ix->node[at].here, term);
	return 0;
}

static int add_inet(struct index *ix, const struct inet_pattern *p, uint32_t term)
{
	uint64_t key = slot_key(0, SLOT_NET, p->prefix, hash_bytes((const char *)p->addr, sizeof(p->addr)));
	struct slot *s = index_slot(&ix->slots, key);
	ix->net_prefixes[p->prefix / 64] |= UINT64_C(1) << (p->prefix % 64);
	if (!s)
		return index_add_slot(&ix->slots, key, term);
	uint32_t last = s->value;
	if (ix->term[last].tail_of)
		last = ix->term[last].tail_of;
	ix->term[last].next = term;
	ix->term[s->value].tail_of = term;
	return 0;
}

static int add_pattern(struct index *ix, const struct compiled_rule *rule, uint32_t number)
{
	const struct pattern *p = &rule->pattern[number];
	uint32_t term;
	int r = index_new_term(ix, rule->index, number, &term);
	if (r)
		return r;
	if (p->kind == OBJECT_INET)
		return add_inet(ix, &p->inet, term);
	r = index_add_name(ix, ix->root[p->kind], &p->glob, term);
	if (r || !p->every || p->kind != OBJECT_FILE)
		return r;
	r = index_new_term(ix, rule->index, number, &term);
	if (!r)
		index_append(ix, &ix->node[ix->node[ix->root[OBJECT_MEMFD]].deep].here, term);
	return r;
}

static int add_pins(struct ruleset *rs)
{
	struct index *ix = &rs->index;
	for (uint32_t i = 0; i < rs->n_pins; i++) {
		const struct pin *p = &rs->pin[i];
		int r = index_add_slot(&ix->pins, slot_key(0, SLOT_PIN, 0, pin_hash(p->dev, p->ino)), i);
		if (r)
			return r;
	}
	return 0;
}

static int roots(struct index *ix)
{
	uint32_t node;
	int r = index_new_node(ix, &node); /* number 0 is nothing, of places and terms alike */
	if (!r)
		r = index_new_term(ix, 0, 0, &node);
	for (unsigned kind = 0; !r && kind <= OBJECT_SOCKET; kind++)
		r = index_new_node(ix, &ix->root[kind]);
	if (!r)
		r = deep_child(ix, ix->root[OBJECT_MEMFD], &node);
	return r;
}

/*
 * Room at once for what the patterns will need: each a term, about a place, most a slot. Tables
 * that double their way there touch twice the pages.
 */
static int make_room(struct ruleset *rs)
{
	struct index *ix = &rs->index;
	uint32_t patterns = 0, mask = 255;
	for (uint32_t i = 0; i < rs->n_rules; i++)
		patterns += rs->rule[i].n_patterns;
	while (slots_most(mask) < patterns - patterns / 8 && mask < UINT32_MAX / 2)
		mask = mask * 2 + 1;
	int r = reserve((void **)&ix->term, &ix->terms_room, patterns + patterns / 16 + 1, sizeof(*ix->term));
	if (!r)
		r = reserve((void **)&ix->node, &ix->nodes_room, patterns + patterns / 4 + OBJECT_SOCKET + 4U, sizeof(*ix->node));
	return r ? r : slots_room(&ix->slots, mask);
}

int index_build(struct ruleset *rs)
{
	int r = make_room(rs);
	if (!r)
		r = roots(&rs->index);
	for (uint32_t i = 0; !r && i < rs->n_rules; i++)
		for (uint32_t p = 0; !r && p < rs->rule[i].n_patterns; p++)
			r = add_pattern(&rs->index, &rs->rule[i], p);
	if (!r)
		r = index_fork(rs);
	return r ? r : add_pins(rs);
}

void index_free(struct index *ix)
{
	free(ix->node);
	free(ix->edge);
	free(ix->set);
	free(ix->term);
	free(ix->names);
	free(ix->slots.slot);
	free(ix->pins.slot);
	*ix = (struct index){ 0 };
}
