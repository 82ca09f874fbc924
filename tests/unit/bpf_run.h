/* SPDX-License-Identifier: Apache-2.0 */
/* Classic BPF as seccomp programs use it, without a kernel. Include after cmocka.h. */
#ifndef USHER_TESTS_UNIT_BPF_RUN_H
#define USHER_TESTS_UNIT_BPF_RUN_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

static inline uint32_t bpf_load(const struct seccomp_data *d, uint32_t off)
{
	uint32_t v;

	assert_true(off % 4 == 0 && off + 4 <= sizeof(*d));
	memcpy(&v, (const char *)d + off, 4);
	return v;
}

/* Whether the jump at F is taken with accumulator A. */
static inline int bpf_taken(const struct sock_filter *f, uint32_t a)
{
	switch (f->code) {
	case BPF_JMP | BPF_JEQ | BPF_K:
		return a == f->k;
	case BPF_JMP | BPF_JGT | BPF_K:
		return a > f->k;
	case BPF_JMP | BPF_JGE | BPF_K:
		return a >= f->k;
	case BPF_JMP | BPF_JSET | BPF_K:
		return (a & f->k) != 0;
	default:
		fail_msg("code %#x is not part of a seccomp program", f->code);
		return 0;
	}
}

/* The part of classic BPF that seccomp programs use. */
static inline uint32_t bpf_run(const struct sock_fprog *p, const struct seccomp_data *d)
{
	uint32_t a = 0;

	for (unsigned pc = 0; pc < p->len; pc++) {
		const struct sock_filter *f = &p->filter[pc];

		if (f->code == (BPF_RET | BPF_K))
			return f->k;
		if (f->code == (BPF_LD | BPF_W | BPF_ABS))
			a = bpf_load(d, f->k);
		else if (f->code == (BPF_ALU | BPF_AND | BPF_K))
			a &= f->k;
		else if (f->code == (BPF_JMP | BPF_JA))
			pc += f->k;
		else
			pc += bpf_taken(f, a) ? f->jt : f->jf;
	}
	fail_msg("ran off the end");
	return 0;
}

#endif
