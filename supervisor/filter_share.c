/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/filter_share.h"

#include <limits.h>

static bool is_jump(const struct sock_filter *i)
{
	return BPF_CLASS(i->code) == BPF_JMP;
}

static bool is_far_jump(const struct sock_filter *i)
{
	return i->code == (BPF_JMP | BPF_JA);
}

static bool is_return(const struct sock_filter *i)
{
	return i->code == (BPF_RET | BPF_K);
}

/* The returns that stand behind: one for each answer, the first one that was met from the end and is still in reach. */
struct returns {
	unsigned at[64];
	unsigned n;
};

/* Where a jump at FROM goes that leads to TO: to a return that says the same, and is there for others, too. */
static unsigned shared(struct returns *r, const struct code *c, unsigned from, unsigned to)
{
	unsigned i = 0;

	if (!is_return(&c->at[to]))
		return to;
	while (i < r->n && c->at[r->at[i]].k != c->at[to].k)
		i++;
	if (i < r->n && r->at[i] - from - 1 <= UCHAR_MAX)
		return r->at[i];
	if (i == sizeof(r->at) / sizeof(r->at[0]))
		return to;
	r->n += i == r->n;
	r->at[i] = to;
	return to;
}

static void turn(const struct code *c)
{
	struct returns returns = { .n = 0 };

	for (unsigned i = c->n; i-- > 0;) {
		struct sock_filter *at = &c->at[i];

		if (!is_jump(at) || is_far_jump(at))
			continue;
		at->jt = (uint8_t)(shared(&returns, c, i, i + 1 + at->jt) - i - 1);
		at->jf = (uint8_t)(shared(&returns, c, i, i + 1 + at->jf) - i - 1);
	}
}

/* What is reached; jumps lead ahead. */
static void mark(const struct code *c, bool reached[SHARE_MOST])
{
	reached[0] = true;
	for (unsigned i = 0; i < c->n; i++) {
		const struct sock_filter *at = &c->at[i];

		if (!reached[i] || is_return(at))
			continue;
		if (is_far_jump(at)) {
			reached[i + 1 + at->k] = true;
		} else if (is_jump(at)) {
			reached[i + 1 + at->jt] = true;
			reached[i + 1 + at->jf] = true;
		} else {
			reached[i + 1] = true;
		}
	}
}

void filter_share(struct code *c)
{
	bool reached[SHARE_MOST] = { false };
	uint16_t where[SHARE_MOST]; /* after what is not reached is gone */
	unsigned n = 0;

	if (c->too_long || !c->n || c->n > SHARE_MOST)
		return;
	turn(c);
	mark(c, reached);
	for (unsigned i = 0; i < c->n; i++) {
		where[i] = (uint16_t)n;
		n += reached[i];
	}
	for (unsigned i = 0; i < c->n; i++) {
		struct sock_filter at = c->at[i];

		if (!reached[i])
			continue;
		if (is_far_jump(&at)) {
			at.k = where[i + 1 + at.k] - where[i] - 1u;
		} else if (is_jump(&at)) {
			at.jt = (uint8_t)(where[i + 1 + at.jt] - where[i] - 1);
			at.jf = (uint8_t)(where[i + 1 + at.jf] - where[i] - 1);
		}
		c->at[where[i]] = at;
	}
	c->n = n;
}
