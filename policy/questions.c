/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that puts questions, lets them time out and delivers answers.
 *
 * MUST: callbacks of the supervisor and of channels run with the lock released; an
 * answer is delivered by this thread only; nobody who asks ever waits for more than the lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "policy/limits.h"
#include "policy/policy.h"
#include "policy/queue.h"
#include "policy/reviews.h"
#include "policy/thread.h"
#include "rules/pages.h"

#define NS 1000000000ull
#define SLEEP_MOST (30 * NS) /* the wake-up clock stands still while the machine sleeps */

struct policy *questions_policy(struct questions *qs)
{
	return qs->options.policy;
}

/* When stage STAGE of A gives way to the next: an equal share each; 0 for the last. */
static uint64_t stage_end(const struct questions *qs, const struct filed *a, int stage)
{
	if (qs->together || stage + 1 >= qs->n_stages)
		return 0;
	uint64_t span = a->timeout_s * NS;
	return a->asked_ns + span / (unsigned)qs->n_stages * (unsigned)(stage + 1);
}

/* Puts G to its stage, or to all; the lock is released meanwhile, and G may be gone afterwards. */
static void put_group(struct questions *qs, struct group *g)
{
	g->state = GROUP_WAITING;
	int from = g->stage;
	g->shown = qs->together ? qs->n_stages : g->stage + 1;
	int to = g->shown;
	g->stage_end_ns = stage_end(qs, g->asked, g->stage);
	struct filed *a = filed_hold(g->asked);
	pthread_mutex_unlock(&qs->lock);
	for (int i = from; i < to; i++)
		qs->stage[i].row->put(qs->stage[i].state, a);
	filed_put(a);
	pthread_mutex_lock(&qs->lock);
}

static bool put_fresh(struct questions *qs)
{
	if (!qs->fresh)
		return false;
	for (struct group *g = qs->oldest; g; g = g->next) {
		if (g->state == GROUP_NEW) {
			put_group(qs, g);
			return true;
		}
	}
	qs->fresh = false;
	return false;
}

static bool tell_departed(struct questions *qs)
{
	struct departed *d = qs->departed;
	if (!d)
		return false;
	qs->departed = NULL;
	qs->departed_end = &qs->departed;
	pthread_mutex_unlock(&qs->lock);
	while (d) {
		struct departed *next = d->next;
		for (int i = 0; i < d->shown; i++) {
			if (qs->stage[i].row->gone)
				qs->stage[i].row->gone(qs->stage[i].state, d->id);
		}
		free(d);
		d = next;
	}
	pthread_mutex_lock(&qs->lock);
	return true;
}

static void deliver_one(struct questions *qs, struct waiter *w)
{
	static const struct answer denied = { .channel = "limit", .who = "out of memory" };
	struct answer a = w->answer ? w->answer->answer : denied;
	if (w->answer && --w->answer->refs == 0)
		free(w->answer);
	a.waited_us = (clock_now_ns() - w->asked_ns) / 1000;
	uint64_t token = w->token;
	free(w);
	pthread_mutex_unlock(&qs->lock);
	qs->options.answered(qs->options.context, token, &a);
	pthread_mutex_lock(&qs->lock);
}

static bool deliver_all(struct questions *qs)
{
	struct waiter *w = qs->delivery;
	if (!w)
		return false;
	qs->delivery = NULL;
	qs->delivery_end = &qs->delivery;
	while (w) {
		struct waiter *next = w->next;
		deliver_one(qs, w);
		w = next;
	}
	return true;
}

static void earlier(uint64_t *at, uint64_t candidate)
{
	if (candidate && (!*at || candidate < *at))
		*at = candidate;
}

static void expire_waiter(struct questions *qs, struct waiter *w)
{
	struct answer a;
	unanswered_add(&qs->unanswered, qs->options.policy, w->group->asked);
	answer_unanswered(w->group->asked, "timeout", "nobody answered in time", &a);
	queue_deliver_one(qs, w, &a);
}

/* Lets time pass: expired waiters, stages that were silent. *next gets the next instant that matters. */
static bool pass_time(struct questions *qs, uint64_t *next)
{
	uint64_t now = clock_now_ns();
	*next = 0;
	bool did = false;
	struct group *after;
	for (struct group *g = qs->oldest; g; g = after) {
		after = g->next;
		if (g->state == GROUP_SETTLING)
			continue;
		if (g->stage_end_ns && now >= g->stage_end_ns) {
			g->stage++;
			g->state = GROUP_NEW;
			g->stage_end_ns = 0;
			qs->fresh = did = true;
		}
		if (g->left_until_ns && now >= g->left_until_ns) {
			queue_drop_group(qs, g);
			did = true;
			continue;
		}
		earlier(next, g->left_until_ns);
		earlier(next, g->stage_end_ns);
		struct waiter *rest;
		for (struct waiter *w = g->waiters; w; w = rest) {
			rest = w->next;
			if (now < waiter_deadline_ns(w)) {
				earlier(next, waiter_deadline_ns(w));
				continue;
			}
			did = true;
			expire_waiter(qs, w); /* frees G with its last waiter */
		}
	}
	return did;
}

static void sleep_until(struct questions *qs, uint64_t at)
{
	qs->sleeps_until = at;
	if (!at) {
		pthread_cond_wait(&qs->wake, &qs->lock);
		return;
	}
	uint64_t now = clock_now_ns();
	uint64_t span = at > now ? at - now : 0;
	if (span > SLEEP_MOST)
		span = SLEEP_MOST;
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	uint64_t abs = (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec + span;
	ts = (struct timespec){ .tv_sec = (time_t)(abs / NS), .tv_nsec = (long)(abs % NS) };
	pthread_cond_timedwait(&qs->wake, &qs->lock, &ts);
}

static void *questions_main(void *arg)
{
	struct questions *qs = arg;
	uint64_t next;
	pthread_mutex_lock(&qs->lock);
	for (;;) {
		if (deliver_all(qs) || tell_departed(qs) || put_fresh(qs) || pass_time(qs, &next))
			continue;
		if (qs->stopping)
			break;
		sleep_until(qs, next);
	}
	pthread_mutex_unlock(&qs->lock);
	return NULL;
}

int queue_serve(struct questions *qs)
{
	int rc = qs->served ? 0 : thread_start(&qs->thread, questions_main, qs);

	qs->served = rc == 0;
	return rc;
}

static void close_stages(struct questions *qs)
{
	for (int i = 0; i < qs->n_stages; i++) {
		if (qs->stage[i].open)
			qs->stage[i].row->close(qs->stage[i].state);
		qs->stage[i].open = false;
	}
}

static void questions_free(struct questions *qs)
{
	close_stages(qs);
	for (int i = 0; i < qs->n_stages; i++)
		free(qs->stage[i].argument);
	unanswered_free(&qs->unanswered);
	reviews_free(qs->reviews);
	history_free(&qs->history);
	late_free(&qs->late);
	squeezer_clear(&qs->squeezer);
	pthread_mutex_destroy(&qs->lock);
	pthread_cond_destroy(&qs->wake);
	pthread_cond_destroy(&qs->idle);
	pages_free(qs, sizeof(*qs));
}

/* Where no rule asks no terminal was made to ask on, and none is missed: whoever else was named is there for reviews. */
static void leave_out_terminal(struct questions *qs)
{
	const struct questions_options *o = &qs->options;
	int n = 0;

	if (o->screen || !o->policy || policy_may_ask(o->policy))
		return;
	for (int i = 0; i < qs->n_stages; i++) {
		if (qs->stage[i].row != &channel_tty)
			qs->stage[n++] = qs->stage[i];
	}
	if (n == 0)
		qs->stage[n++] = (struct stage){ .row = &channel_deny };
	qs->n_stages = n;
}

static int open_stages(struct questions *qs, const char **why)
{
	for (int i = 0; i < qs->n_stages; i++) {
		struct stage *s = &qs->stage[i];
		int rc = s->row->open(qs, &qs->options, s->argument, &s->state, why);
		if (rc < 0)
			return rc;
		s->open = true;
		if (s->row->timeout_s > qs->timeout_s)
			qs->timeout_s = s->row->timeout_s;
	}
	return 0;
}

int questions_start(const struct questions_options *options, struct questions **out, const char **why)
{
	struct questions *qs = pages_new(sizeof(*qs));
	*why = "out of memory";
	if (!qs)
		return -ENOMEM;
	qs->options = *options;
	squeezer_init(&qs->squeezer);
	if (!qs->options.max_waiting)
		qs->options.max_waiting = WAITING_DEFAULT;
	qs->delivery_end = &qs->delivery;
	qs->departed_end = &qs->departed;
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&qs->lock, NULL);
	pthread_cond_init(&qs->wake, &attr);
	pthread_cond_init(&qs->idle, NULL);
	pthread_condattr_destroy(&attr);
	int rc = reviews_new(options->session, &qs->reviews);
	if (rc == 0)
		rc = channels_parse(options->channel, qs->stage, &qs->together, why);
	if (rc > 0) {
		qs->n_stages = rc;
		leave_out_terminal(qs);
		rc = open_stages(qs, why);
	}
	if (rc == 0 && (!options->policy || policy_may_ask(options->policy))) {
		*why = "no thread for questions";
		rc = queue_serve(qs);
	}
	if (rc < 0) {
		questions_free(qs);
		return rc;
	}
	*out = qs;
	return 0;
}

/* Whatever waits is denied, whatever its rule says: nobody can want an effect now. */
static void deny_rest(struct questions *qs)
{
	struct answer ended = { .channel = "limit", .who = "usher", .message = "the session has ended" };
	struct group *after;
	for (struct group *g = qs->oldest; g; g = after) {
		after = g->next;
		queue_deliver_group(qs, g, &ended);
	}
}

void questions_end(struct questions *qs)
{
	if (!qs)
		return;
	pthread_mutex_lock(&qs->lock);
	qs->stopping = true;
	while (qs->settling)
		pthread_cond_wait(&qs->idle, &qs->lock);
	deny_rest(qs);
	pthread_cond_signal(&qs->wake);
	bool served = qs->served;
	pthread_mutex_unlock(&qs->lock);
	if (served)
		pthread_join(qs->thread, NULL);
	close_stages(qs);
}

void questions_stop(struct questions *qs)
{
	questions_end(qs);
	if (qs)
		questions_free(qs);
}
