/* SPDX-License-Identifier: Apache-2.0 */
/* An exec whose caller somebody of the tree traces: a debugger starts a program. */
#ifndef USHER_SUPERVISOR_EXEC_TRACED_H
#define USHER_SUPERVISOR_EXEC_TRACED_H

#include <sys/types.h>

struct job;

/*
 * Holds the tracer instead of the caller, answers, and sees what comes of it. Returns 0 when J is concluded or has its reply, -EAGAIN when nobody
 * traces the caller any more.
 */
int exec_traced(struct job *j);

/*
 * PID stands before the first instruction of a new image; DIFFERS names what is not as decided, or NULL. Writes the record. 0: it may run;
 * else it is to be killed. In exec.c.
 */
int exec_admit(struct job *j, pid_t pid, const char *differs);

#endif
