/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many workers receive, and where. One, free to move, serves callers that come one after another: with
 * SYNC_WAKE_UP it runs on each caller's core. Served so, callers in parallel would all be pulled onto its core; then one worker
 * for each core receives, pinned there.
 */
#ifndef USHER_SUPERVISOR_ARRANGE_H
#define USHER_SUPERVISOR_ARRANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRANGE_CORES 64

/* Shared by all workers; no lock. */
struct arrangement {
	unsigned cores;                  /* usable cores, at most ARRANGE_CORES */
	uint16_t core[ARRANGE_CORES];    /* their numbers */
	_Atomic pid_t last;              /* caller of the latest call */
	atomic_int parallel;             /* rises when calls of different callers interleave, falls otherwise */
};

/* Learns which cores this process may use. */
void arrange_init(struct arrangement *a);

/* Notes a call of thread TID. Returns how many workers should receive from now on. */
unsigned arrange_note(struct arrangement *a, pid_t tid, unsigned now);

/* Binds the calling thread to core number INDEX of the arrangement, or to all of them when INDEX is negative. */
void arrange_bind(const struct arrangement *a, int index);

#endif
