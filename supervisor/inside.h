/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the caller itself can do (take a working directory, a controlling terminal, a path descriptor): it does it by a call that usher puts
 * into its registers, in place of the one it waits in. x86-64 only (INSIDE_CAN).
 *
 * MUST: between inside_begin() and inside_end() the thread is stopped or in such a call; no decision rests on what such a call finds in
 * memory: it works on descriptors, or what it opened is compared.
 */
#ifndef USHER_SUPERVISOR_INSIDE_H
#define USHER_SUPERVISOR_INSIDE_H

#include <stdint.h>
#include <sys/types.h>

#include "supervisor/exec_regs.h"
#include "supervisor/job.h"

#define INSIDE_CAN REGS_CAN_CALL
#define INSIDE_SIGNALS 8

struct inside {
	pid_t tid;
	exec_regs before;
	unsigned n_held;
	int held[INSIDE_SIGNALS]; /* signals that came meanwhile */
};

/*
 * Stops the caller. Where FD is not negative (close-on-exec as CLOEXEC says; it is taken) the caller gets it first and *NUMBER its number, or a
 * negative errno: end with that then. Returns 0; -EPERM when the caller cannot be held (nothing was answered, FD is still yours); -ESRCH when it is gone: FD is closed then.
 */
int inside_begin(struct job *j, struct inside *in, int fd, bool cloexec, int *number);

/*
 * As inside_begin() with FD, a path descriptor (O_PATH), which the kernel lets nobody put into another's table: the caller takes it out of a socket that it
 * gets. *NUMBER is the first that was free, as from an open. Where the caller gets none that is the errno, and it has nothing.
 */
int inside_begin_path(struct job *j, struct inside *in, int fd, bool cloexec, int *number);

/* The caller makes call NR. *RESULT as from the kernel. 0, or -ESRCH when it is gone. */
int inside_call(struct inside *in, long nr, const uint64_t arg[6], int64_t *result);

/* Puts LEN bytes below the caller's stack, for the next call. 0, -E2BIG, -EFAULT, -ESRCH. */
int inside_put(struct inside *in, const void *bytes, size_t len, uint64_t *addr);

/* Records RESULT as that of the caller's own call, and lets it go on with it. Sets j->reply. */
int inside_end(struct job *j, struct inside *in, int64_t result);

/* As inside_end(); the record says TOLD. */
int inside_end_told(struct job *j, struct inside *in, int64_t result, int64_t told);

/* After -ESRCH. */
int inside_gone(struct job *j);

#endif
