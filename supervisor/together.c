/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/together.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/proc_text.h"

/*
 * What leads back. Where usher was not restricted all bits do, as natively: processors that are added later are the command's, too. Telling
 * that takes asking for them all once.
 */
static bool find_home(struct together *t)
{
	cpu_set_t then, all;

	if (sched_getaffinity(0, sizeof(t->now), &t->now) < 0 || CPU_COUNT(&t->now) < 2)
		return false;
	memset(&all, 0xff, sizeof(all));
	t->home = all;
	if (sched_setaffinity(0, sizeof(all), &all) < 0)
		return false;
	if (sched_getaffinity(0, sizeof(then), &then) == 0 && CPU_EQUAL(&t->now, &then))
		return true;
	t->home = t->now;
	return sched_setaffinity(0, sizeof(t->now), &t->now) == 0;
}

/* Whether one of CORES has nothing to do: /proc/loadavg counts who runs or would, this thread too (proc_loadavg(5)). */
static bool any_idle(int cores)
{
	char text[64];
	unsigned running;

	return file_text("/proc/loadavg", text, sizeof(text)) && sscanf(text, "%*s %*s %*s %u/", &running) == 1 && running < (unsigned)cores;
}

void together_find(struct together *t)
{
	t->known = find_home(t);
}

void together_begin(struct together *t)
{
	int core = sched_getcpu();

	t->held = t->known && core >= 0 && core < CPU_SETSIZE;
	atomic_store(&t->leaves, t->held);
	if (!t->held)
		return;
	CPU_ZERO(&t->core);
	CPU_SET(core, &t->core);
	t->others = t->core;
	if (any_idle(CPU_COUNT(&t->now)))
		CPU_XOR(&t->others, &t->now, &t->core);
}

void together_stay(const struct together *t)
{
	if (t->held)
		(void)sched_setaffinity(0, sizeof(t->core), &t->core);
}

void together_apart(const struct together *t)
{
	int core = sched_getcpu();
	cpu_set_t others = t->others;

	if (!t->held)
		return;
	/* Begun elsewhere: the kernel takes what is idle for a fork, and has looked later and closer. */
	if (core >= 0 && core < CPU_SETSIZE && !CPU_ISSET(core, &t->core))
		CPU_XOR(&others, &t->now, &t->core);
	(void)sched_setaffinity(0, sizeof(others), &others);
}

void together_leave(const struct together *t, pid_t tid)
{
	if (t->held)
		(void)sched_setaffinity(tid, sizeof(t->home), &t->home);
}

void together_end(struct together *t)
{
	together_leave(t, 0);
	t->held = false;
	atomic_store(&t->leaves, false);
}

void together_restore(const struct together *t, pid_t tid, const cpu_set_t *before)
{
	const cpu_set_t *to = t->known && CPU_EQUAL(before, &t->now) ? &t->home : before;
	cpu_set_t all;

	if (sched_setaffinity(tid, sizeof(*to), to) == 0)
		return;
	/* None of them is left to it: what is left is what it may run on, as natively. */
	memset(&all, 0xff, sizeof(all));
	(void)sched_setaffinity(tid, sizeof(all), &all);
}

void together_command(struct together *t, pid_t command)
{
	if (atomic_exchange(&t->leaves, false))
		together_leave(t, command);
}
