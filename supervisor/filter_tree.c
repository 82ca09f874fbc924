/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/filter_tree.h"

#include <string.h>

#define FAR 255 /* conditional jumps have eight bits */

void code_add(struct code *c, struct sock_filter instruction)
{
	if (c->n == c->room) {
		c->too_long = true;
		return;
	}
	c->at[c->n++] = instruction;
}

/* Jumps are relative, and none leads out of what is moved. */
static void insert(struct code *c, unsigned where, struct sock_filter instruction)
{
	code_add(c, instruction);
	if (c->too_long)
		return;
	memmove(c->at + where + 1, c->at + where, (c->n - 1 - where) * sizeof(c->at[0]));
	c->at[where] = instruction;
}

static void leaf(struct code *c, const struct range *r, const void *context)
{
	if (r->tests)
		r->tests(c, r->first, context);
	else
		code_add(c, STATEMENT(BPF_RET | BPF_K, r->action));
}

void filter_tree(struct code *c, const struct range *ranges, unsigned n, const void *context)
{
	unsigned half = n / 2, at = c->n;

	if (n == 1) {
		leaf(c, ranges, context);
		return;
	}
	code_add(c, JUMP(BPF_JGE, ranges[half].first, 0, 0));
	filter_tree(c, ranges, half, context);
	if (c->too_long)
		return;
	unsigned below = c->n - at - 1;
	if (below <= FAR) {
		c->at[at].jt = (uint8_t)below;
	} else {
		c->at[at].jf = 1;
		insert(c, at + 1, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, below));
	}
	filter_tree(c, ranges + half, n - half, context);
}
