/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a thread that usher does not trace itself. */
#ifndef USHER_SUPERVISOR_THREAD_STATE_H
#define USHER_SUPERVISOR_THREAD_STATE_H

#include <stdint.h>
#include <sys/types.h>

#define THREAD_TRACED 't' /* in a stop of its tracer's */
#define THREAD_ZOMBIE 'Z'

struct thread_state {
	char state;
	pid_t tgid;
	pid_t parent;     /* of its process */
	pid_t tracer;     /* the thread that traces it, 0: nobody */
	unsigned threads; /* of its process */
	unsigned filters; /* seccomp filters in force */
	uint64_t blocked; /* signals, the first in the lowest bit */
};

/* Of TID, by PROC (a descriptor of /proc). 0, or a negative errno: also where one of these lines is missing. */
int thread_state(int proc, pid_t tid, struct thread_state *out);

/* As thread_state(), from the text of the status file. */
int thread_state_parse(const char *status, struct thread_state *out);

struct thread_call {
	long nr; /* -1: in none */
	uint64_t arg[6];
	uint64_t sp, ip;
};

/* The call that TID waits or is stopped in. 0, -EAGAIN while it runs, or another negative errno. */
int thread_call(int proc, pid_t tid, struct thread_call *out);

/* As thread_call(), from the text of the syscall file. */
int thread_call_parse(const char *text, struct thread_call *out);

#endif
