/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: an entry lives on the tracing worker's list from before the caller is restarted until its second
 * notification was answered; what is handed over is verified like any exec, so that a call that is not the
 * restarted one (from a signal handler, say) gains nothing.
 */
#include "supervisor/exec_handover.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "supervisor/exec_plan.h"
#include "supervisor/exec_trace.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/session.h"
#include "supervisor/soon.h"
#include "supervisor/walk.h"

#define ROUND_NS (5 * 1000 * 1000)

enum handover_state { HANDOVER_AWAITED, HANDOVER_GIVEN, HANDOVER_ANSWERED };

struct handover {
	const struct proc *proc;
	pid_t tid;
	uint64_t id;
	enum handover_state state;
	bool giver; /* somebody waits for HANDOVER_ANSWERED and frees this */
	struct handover *next;
};

struct handovers {
	atomic_uint count;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct handover *list;
};

int handovers_new(struct handovers **out)
{
	struct handovers *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	pthread_mutex_init(&h->lock, NULL);
	soon_init(&h->change);
	*out = h;
	return 0;
}

void handovers_free(struct handovers *h)
{
	if (!h)
		return;
	pthread_cond_destroy(&h->change);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static struct handover *find_locked(struct handovers *h, const struct job *j)
{
	struct handover *e = h->list;

	while (e && (e->tid != (pid_t)j->notif.pid || e->proc != j->proc))
		e = e->next;
	return e;
}

static void unlink_locked(struct handovers *h, struct handover *e)
{
	struct handover **at = &h->list;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	atomic_fetch_sub(&h->count, 1);
}

bool handover_give(struct job *j)
{
	struct handovers *h = procs_handovers(j->session->procs);

	if (!atomic_load(&h->count))
		return false;
	pthread_mutex_lock(&h->lock);
	struct handover *e = find_locked(h, j);
	if (!e || e->state != HANDOVER_AWAITED) {
		pthread_mutex_unlock(&h->lock);
		return false;
	}
	e->state = HANDOVER_GIVEN;
	e->id = j->notif.id;
	e->giver = true;
	pthread_cond_broadcast(&h->change);
	while (e->state != HANDOVER_ANSWERED)
		pthread_cond_wait(&h->change, &h->lock);
	pthread_mutex_unlock(&h->lock);
	free(e);
	j->replied = true;
	return true;
}

/* Ends J's entry, if it has one. */
void handover_answered(struct job *j)
{
	struct handovers *h = procs_handovers(j->session->procs);

	if (!atomic_load(&h->count))
		return;
	pthread_mutex_lock(&h->lock);
	struct handover *e = find_locked(h, j);
	if (e) {
		bool giver = e->giver;

		unlink_locked(h, e);
		e->state = HANDOVER_ANSWERED;
		pthread_cond_broadcast(&h->change);
		if (!giver)
			free(e);
	}
	pthread_mutex_unlock(&h->lock);
}

static int await(struct job *j)
{
	struct handovers *h = procs_handovers(j->session->procs);
	struct handover *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	*e = (struct handover){ .proc = j->proc, .tid = (pid_t)j->notif.pid };
	pthread_mutex_lock(&h->lock);
	e->next = h->list;
	h->list = e;
	atomic_fetch_add(&h->count, 1);
	pthread_mutex_unlock(&h->lock);
	return 0;
}

/* Takes the second notification over when it is there. */
static bool taken(struct job *j)
{
	struct handovers *h = procs_handovers(j->session->procs);
	bool given;

	pthread_mutex_lock(&h->lock);
	struct handover *e = find_locked(h, j);
	if (e->state == HANDOVER_AWAITED)
		soon_wait(&h->change, &h->lock, ROUND_NS);
	given = e->state == HANDOVER_GIVEN;
	if (given)
		j->notif.id = e->id;
	pthread_mutex_unlock(&h->lock);
	return given;
}

/* A handler's frame comes to lie where the path is. The call is made anew after it, as the caller made it, and decided anew. */
static int before_handler(struct job *j, pid_t tid, int sig)
{
	exec_regs regs;

	if (trace_regs(tid, &regs) == 0) {
		regs_exec_restore(&regs, (const uint64_t *)j->notif.data.args, j->notif.data.nr == __NR_execveat);
		trace_set_regs(tid, &regs);
	}
	handover_answered(j); /* before it goes on: its next call may be handed over to another worker */
	(void)walk_record(j, -EINTR);
	trace_release(tid, sig);
	return -ESRCH;
}

/* Waits for the second notification; meanwhile the caller may get signals, or end. */
static int take(struct job *j, pid_t *tid)
{
	int sig;

	while (!taken(j)) {
		int event = trace_poll(tid, &sig);

		if (event == TRACE_ENDED) {
			handover_answered(j);
			return -ESRCH;
		}
		if (event && sig && !plan_of(j)->mapped)
			return before_handler(j, *tid, sig);
		if (event)
			trace_continue(*tid, sig);
	}
	j->replied = false;
	if (trace_interrupt(*tid) == 0)
		return 0;
	handover_answered(j);
	return -ESRCH;
}

/* Lets the stopped caller go with ERROR as the result of its call, or, when a signal or a stop came first, to make the call anew. */
static void fail(struct job *j, pid_t tid, int error, int sig)
{
	exec_regs regs;

	(void)walk_record(j, error);
	if (error != -EINTR && trace_regs(tid, &regs) == 0) {
		REGS_SET_RESULT(&regs, error);
		trace_set_regs(tid, &regs);
	}
	trace_release(tid, sig);
}

int handover_restart(struct job *j, pid_t *tid)
{
	int sig;

	if (reply_send(j, 0, TRACE_RESTART, false) < 0) {
		trace_abandon(*tid);
		return -ESRCH;
	}
	if (trace_wait(tid, &sig) != TRACE_BACK)
		return -ESRCH;
	int err = exec_point(j, tid, &sig);
	if (err == -ESRCH) {
		trace_abandon(*tid);
		return err;
	}
	if (!err)
		err = await(j);
	if (err) {
		fail(j, *tid, err, sig);
		return -ESRCH;
	}
	trace_continue(*tid, sig);
	return take(j, tid);
}
