/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child that has the memory and the descriptor table of its parent and a stack of its own, as after vfork(2), but both go on: a fork's copy of
 * page tables, and the faults with which the child then makes the copies its own, are most of what a start of usher would cost.
 *
 * MUST: they share errno as well, and all that is static: what goes on beside such a child neither decides by errno nor makes calls that are expected to
 * fail (the child may decide by it: execvpe(3) does), and none has what another may write at the same time. No heap, no stdio.
 */
#ifndef USHER_SUPERVISOR_BESIDE_H
#define USHER_SUPERVISOR_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct beside {
	char *stack;
	size_t size; /* of the stack, with the page that guards it */
	pid_t in;    /* 0: the child is not in the memory */
};

/* As fork(2), but for the descriptor table, which stays shared: for who is to have a memory of its own. */
pid_t beside_fork(void);

/*
 * Starts MAIN(ARG) in a child process with STACK bytes of stack (under sanitizers a fork, that never is in the memory); it ends with what MAIN returns. *B and *ARG must stay while it is in the
 * memory, until beside_left(). Returns its pid, or a negative errno.
 */
pid_t beside_start(struct beside *b, size_t stack, int (*main)(void *), void *arg);

/* Whether the child is out of the memory: by its exec, by its end, or as it never was in it. Any thread. */
bool beside_left(const struct beside *b);

/* The stack of a child that has left. */
void beside_free(struct beside *b);

#endif
