/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made shorter: the same answers, whatever the jumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "supervisor/filter_share.h"
#include "tests/unit/bpf_run.h"

#define MOST (SHARE_MOST + 1)

static uint64_t seed = 20261122;

/* xorshift64*: the same programs in each run. */
static unsigned any(unsigned below)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * 2685821657736338717u) >> 33) % below;
}

static struct sock_filter any_instruction(unsigned left, unsigned returns)
{
	static const uint16_t jumps[] = { BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET };
	const unsigned far = left < 256 ? left : 256;

	switch (left ? any(8) : 7) {
	case 0:
		return STATEMENT(BPF_LD | BPF_W | BPF_ABS, 4 * any(16));
	case 1:
		return STATEMENT(BPF_ALU | BPF_AND | BPF_K, 1 + any(7));
	case 2:
		return STATEMENT(BPF_JMP | BPF_JA, any(left));
	case 7:
		return STATEMENT(BPF_RET | BPF_K, any(returns));
	default:
		return JUMP(jumps[any(4)], any(8), (uint8_t)any(far), (uint8_t)any(far));
	}
}

static void fill(struct sock_filter *at, unsigned n, unsigned returns)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = any_instruction(n - 1 - i, returns);
}

static void same(const struct sock_filter *before, unsigned n, const struct code *after)
{
	const struct sock_fprog a = { (unsigned short)n, (struct sock_filter *)(uintptr_t)before }, b = { (unsigned short)after->n, after->at };

	assert_in_range(after->n, 1, n);
	for (int i = 0; i < 100; i++) {
		struct seccomp_data d;
		uint32_t word[sizeof(d) / 4];

		for (unsigned k = 0; k < sizeof(word) / 4; k++)
			word[k] = any(8);
		memcpy(&d, word, sizeof(d));
		assert_int_equal(bpf_run(&a, &d), bpf_run(&b, &d));
	}
}

static void any_program_answers_as_before(void **state)
{
	static struct sock_filter before[MOST], after[MOST];

	(void)state;
	for (unsigned i = 0; i < 2000; i++) {
		const unsigned n = 1 + any(i % 10 ? 60 : 1200);
		struct code c = { .at = after, .n = n, .room = MOST };

		fill(before, n, i % 3 ? 4 : 100); /* more answers than are remembered, too */
		memcpy(after, before, n * sizeof(*after));
		filter_share(&c);
		same(before, n, &c);
	}
}

static void returns_in_reach_become_one(void **state)
{
	struct sock_filter at[] = {
		STATEMENT(BPF_LD | BPF_W | BPF_ABS, 0),
		JUMP(BPF_JEQ, 1, 0, 1), STATEMENT(BPF_RET | BPF_K, 7),
		JUMP(BPF_JEQ, 2, 0, 1), STATEMENT(BPF_RET | BPF_K, 7),
		JUMP(BPF_JEQ, 3, 0, 1), STATEMENT(BPF_RET | BPF_K, 7),
		STATEMENT(BPF_RET | BPF_K, 9),
	};
	struct code c = { .at = at, .n = sizeof(at) / sizeof(at[0]), .room = sizeof(at) / sizeof(at[0]) };

	(void)state;
	filter_share(&c);
	assert_int_equal(c.n, 6);
}

static void others_stay_as_they_are(void **state)
{
	static struct sock_filter at[MOST], before[MOST];
	struct code empty = { .at = at, .room = MOST }, longest = { .at = at, .n = MOST, .room = MOST }, cut = { .at = at, .n = 50, .room = 50, .too_long = true };

	(void)state;
	fill(at, MOST, 4);
	memcpy(before, at, sizeof(at));
	filter_share(&empty);
	filter_share(&longest);
	filter_share(&cut);
	assert_int_equal(empty.n, 0);
	assert_int_equal(longest.n, MOST);
	assert_int_equal(cut.n, 50);
	assert_memory_equal(at, before, sizeof(at));
	longest.n = SHARE_MOST;
	longest.at = at + 1;
	filter_share(&longest);
	same(before + 1, SHARE_MOST, &longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_program_answers_as_before),
		cmocka_unit_test(returns_in_reach_become_one),
		cmocka_unit_test(others_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
