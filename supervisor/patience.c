/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/patience.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/pool.h"

#define PATIENCE_NS 2000000

static bool timer_there(struct worker *w)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = POOL_SIGNAL };

	if (w->has_timer)
		return true;
	ev._sigev_un._tid = gettid();
	w->has_timer = timer_create(CLOCK_MONOTONIC, &ev, &w->timer) == 0;
	return w->has_timer;
}

static bool set_timer(struct worker *w, long ns)
{
	const struct itimerspec at = { { 0, ns }, { 0, ns } };

	return timer_settime(w->timer, 0, &at, NULL) == 0;
}

void patience_begin(struct worker *w)
{
	w->patient = !w->blocking && timer_there(w) && set_timer(w, PATIENCE_NS);
	if (!w->patient)
		worker_blocking(w);
}

void patience_over(struct worker *w)
{
	worker_blocking(w);
	patience_end(w);
}

void patience_end(struct worker *w)
{
	if (!w->patient)
		return;
	(void)set_timer(w, 0);
	w->patient = false;
}
