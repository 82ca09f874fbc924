/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel itself would have sent to the thread that calls. */
#ifndef USHER_SUPERVISOR_CALLER_SIGNAL_H
#define USHER_SUPERVISOR_CALLER_SIGNAL_H

struct job;

/* Sends SIGNAL to the thread of J's notification, with the credentials of who asks; to nobody where the call no longer waits. */
void caller_signal(const struct job *j, int signal);

#endif
