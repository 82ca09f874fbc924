/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of a caller that is refused or asked about, or whose rule says stack.
 *
 * It is unwound while it waits. Where that needs registers that only a stopped thread shows, the caller is stopped, unwound, and made to
 * repeat its call, which comes, and is decided, as if it were new; what was found meanwhile waits for it here.
 */
#ifndef USHER_SUPERVISOR_STACK_STOP_H
#define USHER_SUPERVISOR_STACK_STOP_H

#include <pthread.h>
#include <stdbool.h>

#include "supervisor/job.h"
#include "supervisor/unwind.h"
#include "supervisor/unwind_image.h"

#define STACKS_KEPT 32

struct stack_place {
	struct proc *proc; /* held; NULL: free */
	struct seccomp_data call;
	pid_t tid;
	uint64_t until;  /* CLOCK_MONOTONIC, ns: nobody fetches it any more */
	uint64_t ticket; /* of who has it: another may have it when that one comes back late */
	struct unwound *stack;
};

struct stacks {
	pthread_mutex_t lock;
	struct stack_place at[STACKS_KEPT];
	uint64_t tickets;
	struct image_files files;
};

void stacks_init(struct stacks *s, struct voice *voice); /* what it holds ends with the process */

/*
 * Puts the stack of J's caller into J (job->stack, NULL without memory). Returns false when the caller was made to repeat its call instead: J has
 * been answered, and nothing may be done or recorded for it. REPEAT false: never.
 */
bool stack_take(struct job *j, bool repeat);

#endif
