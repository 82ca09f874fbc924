/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/together.h"

#include <string.h>

/*
 * What leads back. Where usher was not restricted all bits do, as natively: processors that are added later are the command's, too. Telling
 * that takes asking for them all once.
 */
static bool find_home(cpu_set_t *home)
{
	cpu_set_t now, then, all;

	if (sched_getaffinity(0, sizeof(now), &now) < 0 || CPU_COUNT(&now) < 2)
		return false;
	memset(&all, 0xff, sizeof(all));
	*home = all;
	if (sched_setaffinity(0, sizeof(all), &all) < 0)
		return false;
	if (sched_getaffinity(0, sizeof(then), &then) == 0 && CPU_EQUAL(&now, &then))
		return true;
	*home = now;
	return sched_setaffinity(0, sizeof(now), &now) == 0;
}

void together_begin(struct together *t)
{
	int core = sched_getcpu();

	t->held = core >= 0 && core < CPU_SETSIZE && find_home(&t->home);
	atomic_store(&t->leaves, t->held);
	if (!t->held)
		return;
	CPU_ZERO(&t->core);
	CPU_SET(core, &t->core);
}

void together_stay(const struct together *t)
{
	if (t->held)
		(void)sched_setaffinity(0, sizeof(t->core), &t->core);
}

void together_leave(const struct together *t, pid_t tid)
{
	if (t->held)
		(void)sched_setaffinity(tid, sizeof(t->home), &t->home);
}

void together_command(struct together *t, pid_t command)
{
	if (atomic_exchange(&t->leaves, false))
		together_leave(t, command);
}
