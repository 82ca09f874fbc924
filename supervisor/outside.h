/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that stays outside a pid namespace: what the caller of usher waits for, signals and stops.
 *
 * MUST: when it ends, usher inside ends with it (PR_SET_PDEATHSIG), and so the tree.
 */
#ifndef USHER_SUPERVISOR_OUTSIDE_H
#define USHER_SUPERVISOR_OUTSIDE_H

#include <stdbool.h>

struct limits;

/* Until usher, process INSIDE behind LINK, has ended; looks at PEERS' other ends meanwhile (outside_peer.h). Returns its exit status; *BY_SIGNAL as in run_session(). */
int outside_main(int inside, int link, int peers, int *by_signal);

/* From inside: the exit status. */
void outside_tell(int link, int status, int by_signal);

/*
 * From inside: usher is to be stopped by SIG, which the first process of a namespace cannot do to itself. Returns when it goes on, whether it was stopped. Where
 * LIMITS (may be NULL) are measured only the process outside stops: usher goes on to measure, and has it continued once one is reached. GROUP as supervise_stop()'s.
 */
bool outside_stop(int link, int sig, bool group, struct limits *limits);

#endif
