/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the processes of the tree end: usher is not their parent, but holds a pidfd of each and is told. One note
 * `exit` for each in the journal.
 */
#ifndef USHER_SUPERVISOR_LIVES_H
#define USHER_SUPERVISOR_LIVES_H

#include <sys/types.h>

#include "rules/call.h"

struct lives;
struct session;

/* Starts the thread that waits for ends. Returns 0 or a negative errno. */
int lives_start(struct session *s, struct lives **out);

/* A descriptor for lives_enter(), or -1. The caller proves that the number was the process's own. L may be NULL. */
int lives_open(struct lives *l, pid_t pid);

/* Process PID, which FD (taken over, may be -1) stands for, child of PPID, was seen for the first time, running EXE (copied). */
void lives_enter(struct lives *l, int fd, pid_t pid, pid_t ppid, struct span exe);

/* Writes the ends that have come so far, and no more. Safe on NULL. */
void lives_stop(struct lives *l);

#endif
