/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of whoever asks, as evidence. */
#ifndef USHER_SUPERVISOR_UNWIND_H
#define USHER_SUPERVISOR_UNWIND_H

#include <sys/types.h>

#include "audit/record.h"
#include "supervisor/job.h"

/*
 * Unwinds the caller of J, which waits in its notification, and writes the list `stack` (innermost frame first: object, build_id,
 * function, offset) and `unwind` ("complete", "partial", "none") into R. The caller is neither stopped nor restarted. At most
 * 64 frames, 5 ms and a fixed number of reads, whatever the caller's memory says. Never fails: what cannot be had is left out.
 */
void unwind_caller(struct job *j, struct record *r);

/* As unwind_caller(), and the innermost frames in words ("main < start in app", functions escaped as /proc and the symbol table have them) into TEXT. */
void unwind_caller_text(struct job *j, struct record *r, char *text, size_t cap);

/* The same for any thread that waits in a system call. */
void unwind_thread(pid_t tid, struct record *r);

#endif
