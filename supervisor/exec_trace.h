/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holding a thread by ptrace for the length of one exec. All functions for one tracee are called by the
 * thread that seized it; that thread has no other tracee and no child.
 */
#ifndef USHER_SUPERVISOR_EXEC_TRACE_H
#define USHER_SUPERVISOR_EXEC_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervisor/exec_regs.h"

enum trace_event {
	TRACE_EXEC = 1, /* a new image stands before its first instruction; pid may have become the leader's */
	TRACE_BACK,     /* the call is over and the thread would return to user space */
	TRACE_ENDED,    /* the thread is no more */
};

/*
 * Seizes TID, which waits in a notification, so that it stops at a successful exec or on its way back to
 * user space, whichever comes first, and dies with usher. Returns 0, -EPERM (traced already, or not ours to trace), -ESRCH.
 */
int trace_seize(pid_t tid);

/* Without the interrupt, and -EINTR when a signal came first: a thread of its process execs. */
int trace_seize_alone(pid_t tid);

/* Waits for the next event; *tid is updated, *sig gets a signal that was about to be delivered (pass it to trace_release). */
enum trace_event trace_wait(pid_t *tid, int *sig);

/*
 * As trace_wait(), by number: for a thread that cannot be in an exec, where the caller may have children besides
 * its tracees (usher's first thread inherits the orphans of helpers, and must not take one's end for its tracee's).
 */
enum trace_event trace_wait_for(pid_t tid, int *sig);

/* As trace_wait() without waiting: 0 when nothing has happened. */
int trace_poll(pid_t *tid, int *sig);

/* Lets a stopped thread run untraced. */
void trace_release(pid_t tid, int sig);

/* As after trace_seize() when nothing was answered: waits for the thread to stop or end, and lets it go. */
void trace_abandon(pid_t tid);

/* Kills the stopped thread's process PID before it runs again, and waits for its end. */
void trace_kill(pid_t pid);

/* Answered with this a thread that was seized stops, and makes its call again when it goes on (ERESTARTNOINTR). */
#define TRACE_RESTART (-513)

/*
 * Has the thread TID, which trace_seize() stopped on its way back from a call, make call NR (REGS_CAN_CALL); *RESULT as from the kernel. BEFORE is
 * what its registers were, which are now those of a finished call. Returns 0, -EINTR (a signal came: registers as before, *sig), -ESRCH, or another negative errno.
 */
int trace_call(pid_t *tid, long nr, const uint64_t arg[6], exec_regs *before, int64_t *result, int *sig);

/*
 * As trace_call(): the thread is to map LEN bytes of memory at *ADDR. Its registers are then those
 * of a finished call: regs_again() repeats the one it was in. Returns 0, -EINTR (a signal came: registers as before, *sig), -ESRCH,
 * -E2BIG where that cannot be done, or the kernel's errno.
 */
int trace_map(pid_t *tid, size_t len, uint64_t *addr, int *sig);

/* Runs the stopped thread to the next end of its way into or out of a call: 0; -EINTR at any other stop (*sig: its signal, or 0); -ESRCH. */
int trace_to_call(pid_t *tid, int *sig);

/* Instruction and stack pointer of a stopped thread: less than all its registers. 0 or a negative errno, as the two below. */
int trace_point(pid_t tid, uint64_t *ip, uint64_t *sp);

int trace_regs(pid_t tid, exec_regs *out);
int trace_set_regs(pid_t tid, const exec_regs *regs);

/* Writes LEN bytes at ADDR of the stopped thread's memory, never of another image's. 0, -ESRCH, -EFAULT or another negative errno. */
int trace_write(pid_t tid, uint64_t addr, const void *bytes, size_t len);

/* Lets a stopped thread go on, still traced, with signal SIG (0: none). */
int trace_continue(pid_t tid, int sig);
int trace_interrupt(pid_t tid);

#endif
