/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classic BPF for a decision by the call's number: a balanced tree of comparisons over ranges of numbers that share an answer,
 * in whose leaves stand an action or tests of registers. (Programs: seccomp(2); instructions: Linux's Documentation/networking/filter.rst.)
 *
 * Written out because libseccomp takes 0.8 ms to make the same program, which the start of every session would wait for; a unit
 * test holds the two against each other for every number.
 */
#ifndef USHER_SUPERVISOR_FILTER_TREE_H
#define USHER_SUPERVISOR_FILTER_TREE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#define RET_ERRNO(e) (SECCOMP_RET_ERRNO | ((uint32_t)(e) & SECCOMP_RET_DATA))
#define STATEMENT(code, k) ((struct sock_filter)BPF_STMT((code), (k)))
#define JUMP(how, k, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | (how) | BPF_K, (uint32_t)(k), (yes), (no)))

/* A program that grows. What does not fit any more sets too_long and is dropped. */
struct code {
	struct sock_filter *at; /* the caller's */
	unsigned n;
	unsigned room;
	bool too_long;
};

/* From FIRST up to the next range's first one have the same answer. Registers are looked at by TESTS alone, which ends in a return. */
struct range {
	uint32_t first;
	uint32_t action;
	void (*tests)(struct code *c, uint32_t nr, const void *context); /* NULL: ACTION */
};

void code_add(struct code *c, struct sock_filter instruction);

/*
 * Appends the tree for N ranges (1 or more, ascending; the first is taken for all numbers below the second). The accumulator holds the
 * call's number, and so it does at the start of TESTS.
 */
void filter_tree(struct code *c, const struct range *ranges, unsigned n, const void *context);

#endif
