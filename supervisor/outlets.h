/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output that goes to another program of the pipeline, which may show it on the terminal that questions are put on (usher run CMD | tee LOG). The
 * command gets a pipe of usher's instead, so that what it writes there waits while a question is up, as what it writes on its terminal does:
 * else it would write over the question.
 *
 * Who calls what:
 *   relay_open()                 outlets_open().
 *   launch_options.outlets       outlets_given().
 *   relay_start()                outlets_start(), when the command has its own.
 *   the screen's take and give   outlets_hold().
 *   relay_close()                outlets_settle(): before usher says anything behind it.
 *   last of all                  outlets_close(): all that the command wrote has been taken, or nobody takes it.
 */
#ifndef USHER_SUPERVISOR_OUTLETS_H
#define USHER_SUPERVISOR_OUTLETS_H

#include <stdbool.h>

struct outlets;

/* *out is NULL where neither standard output nor standard error is a pipe. Returns 0 or a negative errno. */
int outlets_open(struct outlets **out);

/* What the command gets as descriptor FD instead of usher's; -1: usher's own. O may be NULL here and below. */
int outlets_given(const struct outlets *o, int fd);

int outlets_start(struct outlets *o);

/* From its return on nothing is passed on, and what was has been read, if whoever reads does so within half a second. */
void outlets_hold(struct outlets *o, bool hold);

/* The tree has ended: waits until all is passed on, for as long as something is taken. */
void outlets_settle(struct outlets *o);

/* Waits for whoever reads, as the command would have: until a signal that ends a program comes. */
void outlets_close(struct outlets *o);

#endif
