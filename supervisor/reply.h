/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that tells the kernel an answer. */
#ifndef USHER_SUPERVISOR_REPLY_H
#define USHER_SUPERVISOR_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/job.h"

/*
 * Answers the job's notification: with VALUE when ERROR is 0, with ERROR (negative errno), or lets
 * the kernel go on with the call (CONT). Marks the job replied. Returns 0, or -ENOENT when the caller is gone.
 */
int reply_send(struct job *j, int64_t value, int32_t error, bool cont);

/* The kernel's own code for "interrupted: run the handler, then restart or EINTR as it says"; not in user headers. */
#define ERESTARTSYS 512

/*
 * Answers a call that waited when its caller got a signal: the kernel runs the handler, then restarts the call or
 * gives EINTR, as natively. Where the signal has gone to another thread meanwhile the call is restarted.
 */
void reply_interrupted(struct job *j);

/* Has J's caller make its call again (ERESTARTNOINTR); nothing is recorded of this one. Returns PERFORM_DONE. */
int reply_again(struct job *j);

/*
 * Puts job->reply.fd into the caller's table and closes our own copy before
 * anything is answered (kernel-notes: no second reference when the target runs on).
 * Returns the number there, or a negative errno (EMFILE as natively; ENOENT: gone).
 */
int reply_addfd(struct job *j);

/*
 * Puts FD (stays ours) into the caller's table in the place of its descriptor AT. The kernel refuses it when the
 * caller is gone. Returns 0 or a negative errno.
 */
int reply_replace(struct job *j, int fd, int at, bool cloexec);

#endif
