/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a caller repeats a call at most once for its stack; who is traced already, or finds no place here, is unwound as far as it goes.
 */
#include "supervisor/stack_stop.h"

#include <stdlib.h>
#include <string.h>

#include "rules/clock.h"
#include "supervisor/exec_trace.h"
#include "supervisor/patience.h"
#include "supervisor/pool.h"
#include "supervisor/procs.h"
#include "supervisor/reply.h"
#include "supervisor/session.h"

#define REPEATED_WITHIN_NS (1000 * 1000 * 1000ull)

static bool is_call(const struct stack_place *p, const struct job *j)
{
	return p->proc == j->proc && p->tid == (pid_t)j->notif.pid && !memcmp(&p->call, &j->notif.data, sizeof(p->call));
}

/* What was found when J's caller was stopped; NULL: it was not. */
static struct unwound *fetch(struct stacks *s, struct job *j)
{
	struct unwound *found = NULL;
	bool mine = false;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < STACKS_KEPT && !mine; i++) {
		struct stack_place *p = &s->at[i];

		mine = p->stack && is_call(p, j);
		if (!mine)
			continue;
		found = p->stack;
		*p = (struct stack_place){ .proc = NULL };
	}
	pthread_mutex_unlock(&s->lock);
	if (mine)
		proc_put(j->proc);
	return found;
}

/* A place for J, its with *TICKET; NULL: none is free. */
static struct stack_place *reserve_place(struct stacks *s, const struct job *j, uint64_t *ticket)
{
	struct proc *old = NULL;
	struct unwound *stale = NULL;
	struct stack_place *found = NULL;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < STACKS_KEPT && !found; i++) {
		struct stack_place *p = &s->at[i];

		if (p->proc && p->until > now)
			continue;
		found = p;
		old = p->proc;
		stale = p->stack;
		*p = (struct stack_place){ .proc = proc_hold(j->proc), .call = j->notif.data, .tid = (pid_t)j->notif.pid,
					   .until = now + REPEATED_WITHIN_NS, .ticket = *ticket = ++s->tickets };
	}
	pthread_mutex_unlock(&s->lock);
	proc_put(old);
	free(stale);
	return found;
}

/* Fills the place, or gives it up (STACK NULL), unless it is another's by now. */
static void settle_place(struct stacks *s, struct stack_place *p, uint64_t ticket, struct unwound *stack)
{
	struct proc *old = NULL;

	pthread_mutex_lock(&s->lock);
	bool mine = p->ticket == ticket;
	if (mine && stack) {
		p->stack = stack;
	} else if (mine) {
		old = p->proc;
		*p = (struct stack_place){ .proc = NULL };
	}
	pthread_mutex_unlock(&s->lock);
	proc_put(old);
	if (!mine)
		free(stack);
}

/* False when it does not repeat it: it cannot be stopped, or has ended, and what was decided is still recorded. */
static bool repeat_call(struct stacks *s, struct job *j)
{
	pid_t tid = (pid_t)j->notif.pid;
	uint64_t ticket = 0;
	struct stack_place *p = reserve_place(s, j, &ticket);
	exec_regs regs;
	int sig;

	if (!p || seize_patiently(j->worker, tid) < 0) {
		if (p)
			settle_place(s, p, ticket, NULL);
		return false;
	}
	if (reply_send(j, 0, TRACE_RESTART, false) < 0) {
		trace_abandon(tid);
		settle_place(s, p, ticket, NULL);
		return false;
	}
	bool stopped = trace_wait(&tid, &sig) == TRACE_BACK;
	bool known = stopped && trace_regs(tid, &regs) == 0;
	settle_place(s, p, ticket, known ? unwind_thread(&s->files, tid, &regs) : NULL);
	if (stopped)
		trace_release(tid, sig);
	return stopped;
}

bool stack_take(struct job *j, bool repeat)
{
	struct stacks *s = &j->session->pool->stacks;

	if (j->stack)
		return true;
	j->stack = fetch(s, j);
	if (j->stack)
		return true;
	/* Who once needed its registers for it will again. */
	if (repeat && proc_stopped_for_stack(j->proc) && repeat_call(s, j))
		return false;
	j->stack = unwind_thread(&s->files, (pid_t)j->notif.pid, NULL);
	if (!repeat || !unwound_lacks(j->stack) || !repeat_call(s, j))
		return true;
	proc_stop_for_stack(j->proc);
	return false;
}

void stacks_init(struct stacks *s, struct voice *voice)
{
	*s = (struct stacks){ 0 };
	pthread_mutex_init(&s->lock, NULL);
	unwind_init(&s->files, voice);
}
