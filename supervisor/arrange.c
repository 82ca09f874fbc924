/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/arrange.h"

#include <sched.h>

/*
 * A step up for each call that is not by the caller before, a step down for each that is. A shell that runs
 * programs one by one changes callers a few times in a hundred calls; programs in parallel do so at every other one.
 */
#define STEP_UP 3
#define STEP_DOWN 1
#define MOST 64
#define SPREAD 48 /* above: a worker on each core */
#define GATHER 8  /* below: one worker */

void arrange_init(struct arrangement *a)
{
	cpu_set_t set;

	a->cores = 0;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		CPU_ZERO(&set);
	for (unsigned i = 0; i < CPU_SETSIZE && a->cores < ARRANGE_CORES; i++) {
		if (CPU_ISSET(i, &set))
			a->core[a->cores++] = (uint16_t)i;
	}
	if (!a->cores)
		a->cores = 1;
}

unsigned arrange_note(struct arrangement *a, pid_t tid, unsigned now)
{
	pid_t last = atomic_load_explicit(&a->last, memory_order_relaxed);
	int parallel = atomic_load_explicit(&a->parallel, memory_order_relaxed);

	if (last != tid)
		atomic_store_explicit(&a->last, tid, memory_order_relaxed);
	int moved = last != tid ? parallel + STEP_UP : parallel - STEP_DOWN;
	moved = moved < 0 ? 0 : moved > MOST ? MOST : moved;
	if (moved != parallel)
		atomic_store_explicit(&a->parallel, moved, memory_order_relaxed);
	if (moved > SPREAD)
		return a->cores;
	return moved < GATHER ? 1 : now;
}

void arrange_bind(const struct arrangement *a, int index)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned i = 0; i < a->cores; i++) {
		if (index < 0 || i == (unsigned)index)
			CPU_SET(a->core[i], &set);
	}
	(void)sched_setaffinity(0, sizeof(set), &set);
}
