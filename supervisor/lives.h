/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the processes of the tree end: usher is not their parent, but holds a pidfd of each and is told. One note
 * `exit` for each in the journal. It has no thread: the main thread waits on lives_fd() with what else it waits for.
 */
#ifndef USHER_SUPERVISOR_LIVES_H
#define USHER_SUPERVISOR_LIVES_H

#include <sys/types.h>

#include "rules/call.h"

struct lives;
struct session;

/* Returns 0 or a negative errno. */
int lives_new(struct session *s, struct lives **out);

/* Readable when somebody has ended: then lives_round() writes it down. The descriptor is L's; -1 when L is NULL. */
int lives_fd(const struct lives *l);

/*
 * Writes the ends that have come so far. One thread at a time. Ends are looked at in rounds, LIVES_ROUND_MS apart: a
 * wake-up for each would cost the tree more than the record is worth. L may be NULL.
 */
#define LIVES_ROUND_MS 20
void lives_round(struct lives *l);

struct thread_ref;

/* A descriptor for lives_enter() of the process whose leader LEADER is, or -1. L may be NULL. */
int lives_open(struct lives *l, const struct thread_ref *leader);

/* Process PID, which FD (taken over, may be -1) stands for, child of PPID, was seen for the first time, running EXE (copied). */
void lives_enter(struct lives *l, int fd, pid_t pid, pid_t ppid, struct span exe);

#endif
