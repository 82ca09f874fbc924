/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exec of another program: the caller is stopped, its path register is pointed at
 * another path, and the call is restarted, which brings a second notification. Whichever worker receives that one
 * hands it to the worker that traces the caller.
 */
#ifndef USHER_SUPERVISOR_EXEC_HANDOVER_H
#define USHER_SUPERVISOR_EXEC_HANDOVER_H

#include <stdbool.h>

#include "supervisor/job.h"

struct handovers;

int handovers_new(struct handovers **out);
void handovers_free(struct handovers *h); /* safe on NULL */

/*
 * For the worker that received J: when another worker waits for it, gives it away, waits until it was answered, and
 * returns true: J must then be left alone.
 */
bool handover_give(struct job *j);

/*
 * The caller of J was seized and waits. Restarts its exec with the path of target 0 and takes over the new
 * notification, which J then stands for, with an interrupt on its way as after trace_seize(). Returns 0, or -ESRCH: the caller has ended or was
 * let go with an error; nothing is left to do.
 */
int handover_restart(struct job *j, pid_t *tid);

/* J was answered: the worker that gave it may go. Harmless when J was not handed over. */
void handover_answered(struct job *j);

#endif
