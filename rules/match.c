// SPDX-License-Identifier: Apache-2.0
/*
 * Walking the index: the places where a name may still match, component by
 * component. Their number depends on how patterns overlap, not on how many
 * rules there are.
 *
 * MUST: no allocation; when more places are open at once than there is room for, the
 * walk says so and the caller asks pattern after pattern instead.
 */
#include <string.h>

#include "rules/endpoint.h"
#include "rules/index.h"

#define OPEN_PLACES 256

struct walk {
	const struct ruleset *rs;
	const struct index *ix;
	seen_fn seen;
	void *context;
	uint32_t *next;
	uint32_t n_next;
	bool full;
};

static void tell(const struct walk *w, const struct chain *c)
{
	if (c->head)
		w->seen(w->context, &w->ix->term[c->head]);
}

static void open_place(struct walk *w, uint32_t node)
{
	if (w->n_next == OPEN_PLACES)
		w->full = true;
	else
		w->next[w->n_next++] = node;
}

static bool is_open(const struct walk *w, uint32_t node)
{
	for (uint32_t i = 0; i < w->n_next; i++)
		if (w->next[i] == node)
			return true;
	return false;
}

/* Arrives at a place, and at once behind its ** as well. */
static void arrive(struct walk *w, uint32_t node)
{
	const struct place_node *n = &w->ix->node[node];
	if (n->grows || n->here.head)
		open_place(w, node);
	if (!n->deep)
		return;
	const struct place_node *deep = &w->ix->node[n->deep];
	tell(w, &deep->here);
	if (deep->grows && !is_open(w, n->deep))
		open_place(w, n->deep);
}

/* TO 0: an edge for the whole rest. The same list can be come upon twice (an infix stands twice in a name): it is followed once. */
static void try_edges(struct walk *w, uint32_t edge, const char *name, size_t len)
{
	for (; edge; edge = w->ix->edge[edge].next) {
		const struct edge *e = &w->ix->edge[edge];
		if (!e->to && glob_match_part(e->glob, e->token, e->n, name, len))
			tell(w, &e->here);
		else if (e->to && glob_match_component(e->glob, e->token, e->n, name, len) && !is_open(w, e->to))
			arrive(w, e->to);
	}
}

static void try_list(struct walk *w, uint64_t key, const char *name, size_t len)
{
	uint32_t at = (uint32_t)key;
	const struct slot *s = slots_from(&w->ix->slots, key, &at);
	if (s)
		try_edges(w, s->value, name, len);
}

static void try_affixes(struct walk *w, uint32_t set, enum slot_kind kind, const char *name, size_t len)
{
	const struct edge_set *e = &w->ix->set[set];
	uint64_t lengths = kind == SLOT_PREFIX ? e->prefixes : e->suffixes;
	for (; lengths; lengths &= lengths - 1) {
		uint32_t part = (uint32_t)__builtin_ctzll(lengths);
		if (part > len)
			return;
		const char *from = kind == SLOT_PREFIX ? name : name + len - part;
		try_list(w, slot_key(set, kind, part, hash_bytes(from, part)), name, len);
	}
}

static void try_infixes(struct walk *w, uint32_t set, const char *name, size_t len)
{
	for (unsigned lengths = w->ix->set[set].infixes; lengths; lengths &= lengths - 1) {
		uint32_t part = 1U << __builtin_ctz(lengths);
		for (size_t at = 0; at + part <= len; at++)
			try_list(w, slot_key(set, SLOT_INFIX, part, hash_bytes(name + at, part)), name, len);
	}
}

static void try_set(struct walk *w, uint32_t set, const char *name, size_t len)
{
	const struct edge_set *e = &w->ix->set[set];
	if (e->prefixes)
		try_affixes(w, set, SLOT_PREFIX, name, len);
	if (e->suffixes)
		try_affixes(w, set, SLOT_SUFFIX, name, len);
	if (e->infixes)
		try_infixes(w, set, name, len);
	try_edges(w, e->other, name, len);
}

static void leave(struct walk *w, uint32_t node, const char *name, size_t len, uint64_t hash)
{
	const struct place_node *n = &w->ix->node[node];
	uint32_t child = index_child(w->ix, node, name, len, hash);
	if (child)
		arrive(w, child);
	if (n->star)
		arrive(w, n->star);
	if (n->parts)
		try_set(w, n->parts, name, len);
}

/* One component for all open places: what follows goes to w->next. */
static void pass(struct walk *w, const uint32_t *open, uint32_t n, const char *name, size_t len)
{
	uint64_t hash = hash_bytes(name, len);
	for (uint32_t i = 0; i < n; i++)
		if (w->ix->node[open[i]].loops)
			open_place(w, open[i]);
	for (uint32_t i = 0; i < n && !w->full; i++)
		leave(w, open[i], name, len, hash);
}

/* HAS: the name has components at all (the root directory has none). */
static bool walk_name(struct walk *w, uint32_t root, const char *name, size_t len, bool has)
{
	uint32_t places[2][OPEN_PLACES];
	uint32_t *open = places[0];
	w->next = open;
	w->n_next = 0;
	arrive(w, root);
	for (size_t at = 0; has && !w->full;) {
		uint32_t n = w->n_next;
		for (uint32_t i = 0; i < n; i++)
			if (w->ix->node[open[i]].rests)
				try_set(w, w->ix->node[open[i]].rests, name + at, len - at);
		const char *slash = memchr(name + at, '/', len - at);
		size_t part = slash ? (size_t)(slash - name) - at : len - at;
		w->next = open == places[0] ? places[1] : places[0];
		w->n_next = 0;
		pass(w, open, n, name + at, part);
		open = w->next;
		at += part + 1;
		has = slash != NULL && w->n_next;
		if (!has && slash)
			return !w->full;
	}
	for (uint32_t i = 0; i < w->n_next && !w->full; i++) {
		const struct place_node *n = &w->ix->node[open[i]];
		if (!n->loops)
			tell(w, &n->here);
	}
	return !w->full;
}

static void walk_inet(const struct walk *w, const struct inet_endpoint *e)
{
	for (unsigned word = 0; word < 3; word++) {
		for (uint64_t left = w->ix->net_prefixes[word]; left; left &= left - 1) {
			uint8_t addr[16];
			unsigned prefix = word * 64 + (unsigned)__builtin_ctzll(left);
			memcpy(addr, e->addr, sizeof(addr));
			endpoint_mask(addr, prefix);
			uint64_t key = slot_key(0, SLOT_NET, prefix, hash_bytes((const char *)addr, sizeof(addr)));
			uint32_t at = (uint32_t)key;
			const struct slot *s = slots_from(&w->ix->slots, key, &at);
			if (s)
				w->seen(w->context, &w->ix->term[s->value]);
		}
	}
}

/* What stands before the name that a pattern is on. A pipe, a socket and the like have a name of the kernel's, which is taken whole. */
static size_t lead(const struct object *o)
{
	static const char memfd[] = "memfd:";

	if (o->kind == OBJECT_MEMFD)
		return o->name.len >= sizeof(memfd) - 1 && memcmp(o->name.bytes, memfd, sizeof(memfd) - 1) == 0 ? sizeof(memfd) - 1 : 0;
	return o->kind != OBJECT_ABSTRACT && o->kind != OBJECT_SOCKET;
}

static bool strip(const struct object *o, const char **name, size_t *len)
{
	size_t skip = o->name.bytes ? lead(o) : 0;
	if (!o->name.bytes || o->name.len < skip)
		return false;
	if (skip == 1 && o->name.bytes[0] != '/')
		return false;
	*name = o->name.bytes + skip;
	*len = o->name.len - skip;
	return true;
}

/* A path without a component is the root directory; elsewhere no byte at all is a component, too. */
static bool may_be_empty(enum object_kind kind)
{
	return kind == OBJECT_MEMFD || kind == OBJECT_ABSTRACT;
}

bool index_walk(const struct ruleset *rs, const struct object *object, seen_fn seen, void *context)
{
	struct walk w = { .rs = rs, .ix = &rs->index, .seen = seen, .context = context };
	const char *name;
	size_t len;
	if (object->kind == OBJECT_INET) {
		walk_inet(&w, &object->inet);
		return true;
	}
	if (object->kind == OBJECT_NONE || object->kind > OBJECT_SOCKET || !strip(object, &name, &len))
		return true;
	uint32_t root = rs->index.root[object->kind];
	if (!len && may_be_empty(object->kind) && !walk_name(&w, root, name, len, true))
		return false;
	return walk_name(&w, root, name, len, len > 0);
}

bool index_walk_fork(const struct ruleset *rs, uint32_t root, const char *name, size_t len, seen_fn seen, void *context)
{
	struct walk w = { .rs = rs, .ix = &rs->index, .seen = seen, .context = context };
	return walk_name(&w, root, name, len, len > 0);
}

bool pattern_matches(const struct pattern *p, const struct object *object, op_set op)
{
	const char *name;
	size_t len;
	if (p->every && p->kind == OBJECT_FILE && object->kind == OBJECT_MEMFD)
		return !op || (op & (unsigned)~OPS_NAMED) != 0;
	if (p->kind != object->kind)
		return false;
	if (p->kind == OBJECT_INET)
		return endpoint_matches(&p->inet, &object->inet);
	if (!strip(object, &name, &len))
		return false;
	/* No component of a path is empty: what has none at all is matched by itself and by a bare globstar. */
	if (!len && !may_be_empty(object->kind))
		return p->glob.n == 0 || (p->glob.n == 1 && p->glob.token[0].op == GLOB_ALL);
	return glob_match(&p->glob, name, len);
}
