/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/rest.h"

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>

#include "rules/pages.h"
#include "supervisor/pool.h"
#include "supervisor/session.h"

#define BELOW (8 * 1024) /* of the stack, for what is called from here */

/* What lies below is nobody's: it is touched again by the next call. */
static void rest_stack(void)
{
	char *here = __builtin_frame_address(0);
	pthread_attr_t attr;
	void *lowest;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	int rc = pthread_attr_getstack(&attr, &lowest, &size);
	pthread_attr_destroy(&attr);
	size_t below = rc == 0 ? (uintptr_t)here - (uintptr_t)lowest : 0;
	if (below > BELOW)
		pages_give_back(lowest, below - BELOW);
}

void worker_rest(struct worker *w)
{
	pages_give_back(w->path, sizeof(w->path));
	pages_give_back(w->record, sizeof(w->record));
	pages_give_back(w->job.arena, sizeof(w->job.arena));
	rest_stack();
	if (atomic_exchange(&w->session->pool->gathered, false))
		(void)malloc_trim(0);
}
