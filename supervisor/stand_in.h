/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that measures the limits while usher is stopped, with the job that it is at a terminal. Once one is met it continues
 * usher, which ends the tree.
 *
 * MUST: it holds nothing whose closing means something (usher's end of the orders, the listener), and ends with usher.
 */
#ifndef USHER_SUPERVISOR_STAND_IN_H
#define USHER_SUPERVISOR_STAND_IN_H

#include <sys/types.h>

#include "supervisor/session.h"

/* For the main thread, before usher stops. Returns its number, 0: nothing is measured, or a negative errno: usher must not stop. */
pid_t stand_in_start(const struct session *s);

/* Once usher goes on. 0 is fine. */
void stand_in_end(pid_t stand_in);

#endif
