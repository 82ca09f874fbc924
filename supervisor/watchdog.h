/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that neither answers nor says that it may wait (a file server that is slow or gone, a page that never comes) would keep all other
 * callers waiting. When it has served one call for HAND_ON_MS another one takes over its part; after WATCHDOG_MS a note in the journal and a line on standard
 * error say what it is stuck in. Until then every worker hands on before it serves: what holds one call may hold hundreds, one after another.
 * Looked at by the main thread, and only while calls come: an idle session wakes nobody.
 */
#ifndef USHER_SUPERVISOR_WATCHDOG_H
#define USHER_SUPERVISOR_WATCHDOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/pool.h"
#include "supervisor/worker.h"

#define HAND_ON_MS 40
#define WATCHDOG_MS 5000
#define WATCHDOG_LOOK_MS 50

/* Wakes the watchdog, which sleeps while no calls come. */
void watchdog_rouse(struct pool *p);

/* W, which serves a call, gives its part to another at once. */
void watchdog_hand_on(struct worker *w, struct pool *p);

/* W begins to serve the call in N, and has ended: nothing but some accesses to memory of its own. */
static inline void watchdog_begin(struct worker *w, struct pool *p, const struct seccomp_notif *n)
{
	w->serving_tid = (pid_t)n->pid;
	w->serving_nr = n->data.nr;
	atomic_store_explicit(&w->serving, n->id << 2 | WORKER_SERVING, memory_order_release); /* whoever sees it may take W's part */
	if (atomic_load_explicit(&p->dozing, memory_order_relaxed))
		watchdog_rouse(p);
	if (atomic_load_explicit(&p->wary, memory_order_relaxed))
		watchdog_hand_on(w, p);
}

/* Returns once nobody changes W's part any more. */
void watchdog_end_adopted(struct worker *w, struct pool *p);

static inline void watchdog_end(struct worker *w, struct pool *p)
{
	if (atomic_exchange_explicit(&w->serving, 0, memory_order_acq_rel) & WORKER_ADOPTED)
		watchdog_end_adopted(w, p);
}

/* One look, by the main thread. False: there is nothing to look at until p->watch is readable again. */
bool watchdog_look(struct pool *p);

#endif
