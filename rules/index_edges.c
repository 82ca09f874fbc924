// SPDX-License-Identifier: Apache-2.0
/*
 * Edges of the index: component patterns with wildcards, and patterns for the whole rest of a name. Each is kept in one list,
 * by literal bytes that what it matches must begin with, end with or hold; of these the one is taken that few others share.
 *
 * MUST: an edge is in a list that the walk tries for every name it matches; loading looks at a bounded number of others.
 */
#include <errno.h>
#include <string.h>

#include "rules/index.h"

/* A list of this length is shared by so many that another is looked for. */
#define LIST_LONG 8U

/* Further an equal edge is not looked for: two equal ones cost room, not truth. */
#define LIST_SEEN 64U

/* What is to be laid in, and the list that is best so far. */
struct laying {
	struct index *ix;
	const struct glob *glob;
	const struct glob_token *token;
	uint32_t n;
	uint32_t set;
	uint64_t key;    /* of the best list, 0: the one of those without literal bytes */
	enum slot_kind kind;
	uint32_t len;    /* of the bytes the list is kept by */
	uint32_t shared; /* how many are in it */
	uint32_t equal;  /* an edge that is the same, 0: none seen */
};

static int new_edge(struct index *ix, uint32_t *out)
{
	*out = ix->edges ? ix->edges : 1; /* number 0 is none */
	int r = reserve((void **)&ix->edge, &ix->edges_room, *out + 1, sizeof(*ix->edge));
	if (!r)
		ix->edges = *out + 1;
	return r;
}

/* The set at *SET, made when there is none. */
static int need_set(struct index *ix, uint32_t *set)
{
	if (*set)
		return 0;
	uint32_t room = ix->sets ? ix->sets : 1; /* number 0 is none */
	int r = reserve((void **)&ix->set, &ix->sets_room, room + 1, sizeof(*ix->set));
	if (r)
		return r;
	*set = room;
	ix->sets = room + 1;
	return 0;
}

static bool same_tokens(const struct edge *e, const struct laying *l)
{
	if (e->n != l->n)
		return false;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct glob_token *a = &e->token[i], *b = &l->token[i];
		if (a->op != b->op || (a->op == GLOB_BYTE && a->byte != b->byte))
			return false;
		if (a->op == GLOB_CLASS &&
		    memcmp(&e->glob->class[a->class], &l->glob->class[b->class], sizeof(struct glob_class)) != 0)
			return false;
	}
	return true;
}

/* How many edges the list from HEAD on has, as far as it is looked at. */
static uint32_t look(struct laying *l, uint32_t head)
{
	uint32_t shared = 0;
	for (uint32_t e = head; e && shared < LIST_SEEN && !l->equal; e = l->ix->edge[e].next, shared++)
		if (same_tokens(&l->ix->edge[e], l))
			l->equal = e;
	return shared;
}

/* Bytes FROM to FROM + LEN of the tokens as a candidate. */
static void candidate(struct laying *l, enum slot_kind kind, uint32_t from, uint32_t len)
{
	char bytes[AFFIX_MAX];
	for (uint32_t i = 0; i < len; i++)
		bytes[i] = (char)l->token[from + i].byte;
	uint64_t key = slot_key(l->set, kind, len, hash_bytes(bytes, len));
	const struct slot *s = index_slot(&l->ix->slots, key);
	uint32_t shared = s ? look(l, s->value) : 0;
	if (l->key && shared >= l->shared)
		return;
	l->key = key;
	l->kind = kind;
	l->len = len;
	l->shared = shared;
}

/* Literal bytes at the beginning (or end), at most AFFIX_MAX. */
static uint32_t affix(const struct laying *l, bool at_end)
{
	uint32_t len = 0;
	while (len < l->n && len < AFFIX_MAX && l->token[at_end ? l->n - 1 - len : len].op == GLOB_BYTE)
		len++;
	return len;
}

static void try_affix(struct laying *l, enum slot_kind kind, uint32_t len)
{
	if (len && (!l->key || l->shared >= LIST_LONG) && !l->equal)
		candidate(l, kind, kind == SLOT_PREFIX ? 0 : l->n - len, len);
}

static uint32_t longest_run(const struct laying *l)
{
	uint32_t longest = 0;
	for (uint32_t i = 0, run = 0; i < l->n; i++) {
		run = l->token[i].op == GLOB_BYTE ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* Pieces of the longest size that fits somewhere, until one is found that few share. */
static void try_infixes(struct laying *l)
{
	uint32_t longest = longest_run(l), len = 1U << INFIX_LOG;
	while (len > longest)
		len /= 2;
	for (uint32_t i = 0, run = 0; len && i < l->n && (!l->key || l->shared >= LIST_LONG) && !l->equal; i++) {
		run = l->token[i].op == GLOB_BYTE ? run + 1 : 0;
		if (run >= len)
			candidate(l, SLOT_INFIX, i + 1 - len, len);
	}
}

static void choose(struct laying *l)
{
	uint32_t prefix = affix(l, false), suffix = affix(l, true);
	bool prefix_first = prefix >= suffix;
	try_affix(l, prefix_first ? SLOT_PREFIX : SLOT_SUFFIX, prefix_first ? prefix : suffix);
	try_affix(l, prefix_first ? SLOT_SUFFIX : SLOT_PREFIX, prefix_first ? suffix : prefix);
	try_infixes(l);
	if (!l->key)
		look(l, l->ix->set[l->set].other);
}

/* The head of the chosen list. */
static int list_head(struct laying *l, uint32_t **head)
{
	struct index *ix = l->ix;
	struct edge_set *set = &ix->set[l->set];
	*head = &set->other;
	if (!l->key)
		return 0;
	if (!index_slot(&ix->slots, l->key)) {
		int r = index_add_slot(&ix->slots, l->key, 0);
		if (r)
			return r;
	}
	if (l->kind == SLOT_PREFIX)
		set->prefixes |= UINT64_C(1) << l->len;
	else if (l->kind == SLOT_SUFFIX)
		set->suffixes |= UINT64_C(1) << l->len;
	else
		set->infixes |= (uint8_t)l->len;
	*head = &index_slot(&ix->slots, l->key)->value;
	return 0;
}

/* The edge for what L speaks of, TO a place or 0.. */
static int lay(struct laying *l, uint32_t to, uint32_t *out)
{
	uint32_t *head;
	int r = new_edge(l->ix, out);
	if (!r)
		r = list_head(l, &head);
	if (r)
		return r;
	l->ix->edge[*out] = (struct edge){ .glob = l->glob, .token = l->token, .n = l->n, .next = *head, .to = to };
	*head = *out;
	return 0;
}

int index_component(struct index *ix, uint32_t parent, const struct glob *g, const struct glob_token *token, uint32_t n, uint32_t *out)
{
	struct laying l = { .ix = ix, .glob = g, .token = token, .n = n, .set = ix->node[parent].parts };
	uint32_t edge;
	int r = need_set(ix, &l.set);
	if (r)
		return r;
	ix->node[parent].parts = l.set;
	ix->node[parent].grows = true;
	choose(&l);
	if (l.equal) {
		*out = ix->edge[l.equal].to;
		return 0;
	}
	r = index_new_node(ix, out);
	return r ? r : lay(&l, *out, &edge);
}

int index_rest(struct index *ix, uint32_t parent, const struct glob *g, const struct glob_token *token, uint32_t n, uint32_t term)
{
	struct laying l = { .ix = ix, .glob = g, .token = token, .n = n, .set = ix->node[parent].rests };
	int r = need_set(ix, &l.set);
	if (r)
		return r;
	ix->node[parent].rests = l.set;
	ix->node[parent].grows = true;
	choose(&l);
	if (!l.equal)
		r = lay(&l, 0, &l.equal);
	if (!r)
		index_append(ix, &ix->edge[l.equal].here, term);
	return r;
}
