// SPDX-License-Identifier: Apache-2.0
/*
 * Many rules for the same names that differ in who calls: the names in their conditions get an index of their own, so that
 * ten thousand such rules cost what ten do. A fork stands in the chain where the first of its rules stood.
 *
 * MUST: every rule that leaves a chain is found behind its fork whenever its condition holds; chains behind forks are in
 * the order of the rules, too.
 */
#include "rules/index.h"

/* Fewer names than this are as quickly compared one after another. */
#define FORK_MIN 16U

struct forking {
	struct ruleset *rs;
	enum fork_by by;
};

/* The names that the rule of term T asks for, or NULL where it does not ask. */
static const struct glob *names_of(const struct forking *f, uint32_t t, uint32_t *n)
{
	const struct term *term = &f->rs->index.term[t];
	const struct conditions *when = term->fork ? NULL : f->rs->rule[term->rule].when;
	const struct glob *names = !when ? NULL : f->by == FORK_BY ? when->by : f->by == FORK_TREE ? when->tree : when->sha256;
	*n = !when ? 0 : f->by == FORK_BY ? when->n_by : f->by == FORK_TREE ? when->n_tree : when->n_sha256;
	return *n ? names : NULL;
}

static bool worth_it(const struct forking *f, uint32_t head)
{
	uint32_t n = 0, each;
	for (uint32_t t = head; t && n < FORK_MIN; t = f->rs->index.term[t].next)
		n += names_of(f, t, &each) ? each : 0;
	return n >= FORK_MIN;
}

/* The rule of term T, with all its names, behind ROOT. */
static int move(const struct forking *f, uint32_t root, uint32_t t)
{
	struct index *ix = &f->rs->index;
	uint32_t n, copy;
	const struct glob *names = names_of(f, t, &n);
	int r = 0;
	for (uint32_t i = 0; !r && i < n; i++) {
		r = index_new_term(ix, ix->term[t].rule, ix->term[t].pattern, &copy);
		if (!r)
			r = index_add_name(ix, root, &names[i], copy);
	}
	return r;
}

static int fork_chain(const struct forking *f, uint32_t head)
{
	struct index *ix = &f->rs->index;
	uint32_t root, first = 0, before = 0, next, n;
	if (!worth_it(f, head))
		return 0;
	int r = index_new_node(ix, &root);
	for (uint32_t t = head; !r && t; t = next) {
		next = ix->term[t].next;
		if (!names_of(f, t, &n)) {
			before = t;
			continue;
		}
		r = move(f, root, t);
		if (first) {
			ix->term[before].next = next;
			continue;
		}
		first = before = t;
	}
	if (!r) {
		ix->term[first].fork = root;
		ix->term[first].by = f->by;
	}
	return r;
}

static int fork_chains(const struct forking *f)
{
	struct index *ix = &f->rs->index;
	uint32_t nodes = ix->nodes, edges = ix->edges, terms = ix->terms;
	int r = 0;
	for (uint32_t i = 0; !r && i < nodes; i++)
		r = fork_chain(f, ix->node[i].here.head);
	for (uint32_t i = 0; !r && i < edges; i++)
		r = fork_chain(f, ix->edge[i].here.head);
	for (uint32_t i = 0; !r && i < terms; i++)
		if (ix->term[i].tail_of)
			r = fork_chain(f, i);
	return r;
}

int index_fork(struct ruleset *rs)
{
	static const struct {
		enum fork_by by;
		unsigned wanted;
	} kinds[] = { { FORK_BY, WANTS_BY }, { FORK_TREE, WANTS_TREE }, { FORK_SHA256, WANTS_SHA256 } };
	int r = 0;
	for (unsigned i = 0; !r && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (rs->wants & kinds[i].wanted)
			r = fork_chains(&(struct forking){ rs, kinds[i].by });
	return r;
}
