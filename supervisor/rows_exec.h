/* SPDX-License-Identifier: Apache-2.0 */
/* execve and execveat: decided on the object, performed by the caller, verified before the new image runs. */
#ifndef USHER_SUPERVISOR_ROWS_EXEC_H
#define USHER_SUPERVISOR_ROWS_EXEC_H

#include "supervisor/job.h"

int exec_resolve(struct job *j);
int exec_perform(struct job *j);

/* Why usher itself could not look at the program that J would run; NULL: it could. */
const char *exec_refusal(const struct job *j);

/* The error that the kernel is known to answer an allowed exec with, so that nobody need be asked about it: a negative errno, or 0. */
int exec_hopeless(struct job *j);

/* Somebody will be asked: the content of each image, which the answer is about. 0 or -ENOMEM. */
int content_bind(struct job *j);

int exec_redirect(struct job *j, uint32_t index, const struct object *to);

/* fork, vfork and clone of a process, where rules ask for ancestors: the child is in the table before it runs. */
int fork_resolve(struct job *j);
int fork_perform(struct job *j);

/* PTRACE_SEIZE, PTRACE_INTERRUPT and PTRACE_LISTEN. */
int ptrace_resolve(struct job *j);
int ptrace_perform(struct job *j);

/*
 * For any call of a process that proc_expects(): 0 go on, PERFORM_AGAIN resolve in full first, or the negative
 * errno with which the call is refused.
 */
int exec_expected(struct job *j);

#endif
