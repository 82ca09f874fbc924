/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: a waiter is in exactly one place: its group, the queue of deliveries, or
 * gone. So it is answered once.
 */
#include "policy/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/limits.h"

struct group *queue_group(struct questions *qs, uint64_t id)
{
	struct group *g = qs->oldest;
	while (g && g->asked->id != id)
		g = g->next;
	return g;
}

struct group *queue_same(struct questions *qs, const struct question_sum *sum)
{
	struct group *g = qs->by_key[sum->key % QUEUE_BUCKETS];
	while (g && (g->state == GROUP_SETTLING || !filed_same(g->asked, sum)))
		g = g->next_key;
	return g;
}

struct waiter *queue_waiter(struct questions *qs, uint64_t id)
{
	struct waiter *w = qs->by_id[id % QUEUE_BUCKETS];
	while (w && w->id != id)
		w = w->next_id;
	return w;
}

uint32_t queue_count_tree(const struct questions *qs, pid_t tree)
{
	uint32_t n = 0;
	for (const struct group *g = qs->oldest; g; g = g->next) {
		for (const struct waiter *w = g->waiters; w; w = w->next)
			n += w->tree == tree;
	}
	return n;
}

void queue_add_group(struct questions *qs, struct group *g)
{
	struct group **bucket = &qs->by_key[g->asked->sum.key % QUEUE_BUCKETS];
	g->next_key = *bucket;
	*bucket = g;
	g->next = NULL;
	g->prev = qs->newest;
	*(qs->newest ? &qs->newest->next : &qs->oldest) = g;
	qs->newest = g;
	qs->fresh = true;
}

/* Who comes back waits since they asked first: a signal every second would put off the end of the time else. */
static void come_back(struct questions *qs, struct group *g, struct waiter *w)
{
	if (!g->left_until_ns)
		return;
	if (g->left_by == w->tree)
		w->asked_ns = g->asked->asked_ns;
	g->left_until_ns = 0;
	qs->left--;
}

void queue_add_waiter(struct questions *qs, struct group *g, struct waiter *w)
{
	struct waiter **bucket = &qs->by_id[w->id % QUEUE_BUCKETS];
	w->next_id = *bucket;
	*bucket = w;
	w->group = g;
	come_back(qs, g, w);
	w->prev = NULL;
	w->next = g->waiters;
	if (w->next)
		w->next->prev = w;
	g->waiters = w;
	qs->waiting++;
}

void queue_remove_waiter(struct questions *qs, struct waiter *w)
{
	struct waiter **at = &qs->by_id[w->id % QUEUE_BUCKETS];
	while (*at != w)
		at = &(*at)->next_id;
	*at = w->next_id;
	*(w->prev ? &w->prev->next : &w->group->waiters) = w->next;
	if (w->next)
		w->next->prev = w->prev;
	w->next = w->prev = NULL;
	qs->waiting--;
	atomic_fetch_sub(&w->group->asked->count, 1);
}

static void tell_channels(struct questions *qs, const struct group *g)
{
	if (g->shown == 0)
		return;
	struct departed *d = malloc(sizeof(*d));
	if (!d) /* a channel that shows it too long learns from its answer that it is gone */
		return;
	*d = (struct departed){ .id = g->asked->id, .shown = g->shown };
	*qs->departed_end = d;
	qs->departed_end = &d->next;
	pthread_cond_signal(&qs->wake);
}

bool queue_leave_group(struct questions *qs, struct group *g, pid_t tree)
{
	if (qs->left >= LEFT_MOST)
		return false;
	qs->left++;
	g->left_by = tree;
	g->left_until_ns = clock_now_ns() + LEFT_NS;
	if (!qs->sleeps_until || g->left_until_ns < qs->sleeps_until)
		pthread_cond_signal(&qs->wake);
	return true;
}

void queue_drop_group(struct questions *qs, struct group *g)
{
	struct group **at = &qs->by_key[g->asked->sum.key % QUEUE_BUCKETS];
	while (*at != g)
		at = &(*at)->next_key;
	*at = g->next_key;
	*(g->prev ? &g->prev->next : &qs->oldest) = g->next;
	*(g->next ? &g->next->prev : &qs->newest) = g->prev;
	qs->left -= g->left_until_ns != 0;
	tell_channels(qs, g);
	filed_put(g->asked);
	free(g);
}

/* The thread delivers it. */
static void append(struct questions *qs, struct waiter *w, struct shared_answer *answer)
{
	w->answer = answer;
	if (answer)
		answer->refs++;
	*qs->delivery_end = w;
	qs->delivery_end = &w->next;
	pthread_cond_signal(&qs->wake);
}

static void deliver(struct questions *qs, struct waiter *w, struct shared_answer *answer)
{
	queue_remove_waiter(qs, w);
	w->group = NULL;
	append(qs, w, answer);
}

/* NULL when memory is short: the waiters are denied then. */
static struct shared_answer *share(const struct answer *answer)
{
	struct shared_answer *s = malloc(sizeof(*s));
	if (s)
		*s = (struct shared_answer){ .answer = *answer };
	return s;
}

/* Nobody waits in G at the moment: the answer is for who comes back. What ends the tree needs nobody. */
static void deliver_left(struct questions *qs, const struct group *g, const struct answer *answer)
{
	struct waiter *nobody = answer->kind == VERDICT_KILL ? calloc(1, sizeof(*nobody)) : NULL;

	if (!nobody) {
		late_keep(&qs->late, g->asked->sum.mark, g->left_by, g->left_until_ns, answer);
		return;
	}
	nobody->asked_ns = g->asked->asked_ns;
	append(qs, nobody, share(answer));
}

void queue_deliver_group(struct questions *qs, struct group *g, const struct answer *answer)
{
	struct shared_answer *s = g->waiters ? share(answer) : NULL;
	if (g->left_until_ns && !qs->stopping)
		deliver_left(qs, g, answer);
	if (g->waiters)
		history_add(&qs->history, g->asked, answer);
	while (g->waiters)
		deliver(qs, g->waiters, s);
	queue_drop_group(qs, g);
}

void queue_deliver_one(struct questions *qs, struct waiter *w, const struct answer *answer)
{
	struct group *g = w->group;
	if (!w->next && !w->prev) /* the last of them stands for all */
		history_add(&qs->history, g->asked, answer);
	deliver(qs, w, share(answer));
	if (!g->waiters)
		queue_drop_group(qs, g);
}

void queue_person_answered(struct questions *qs, uint64_t key, bool denied)
{
	struct insistence *i = &qs->insistence[key % INSIST_PLACES];
	uint64_t now = clock_now_ns();
	if (i->key != key || !denied || now - i->last_ns > INSIST_NS)
		*i = (struct insistence){ .key = key };
	i->denials += denied;
	i->last_ns = now;
}

bool queue_insists(const struct questions *qs, uint64_t key)
{
	const struct insistence *i = &qs->insistence[key % INSIST_PLACES];
	return i->key == key && i->denials >= INSIST_MOST && clock_now_ns() - i->last_ns <= INSIST_NS;
}

bool granted_answer(const struct verdict *v, struct answer *out)
{
	if (v->kind == VERDICT_ASK || v->kind == VERDICT_NONE)
		return false;
	*out = (struct answer){ .kind = v->kind == VERDICT_REWRITE ? VERDICT_ALLOW : v->kind, .channel = "grant" };
	snprintf(out->who, sizeof(out->who), "%s", v->where ? v->where : "");
	return true;
}

void answer_unanswered(const struct filed *f, const char *channel, const char *message, struct answer *out)
{
	*out = (struct answer){ .kind = VERDICT_DENY };
	if (f->unanswered == VERDICT_ALLOW || f->unanswered == VERDICT_KILL)
		out->kind = f->unanswered;
	snprintf(out->channel, sizeof(out->channel), "%s", channel);
	snprintf(out->who, sizeof(out->who), "else=%s", verdict_name(out->kind));
	snprintf(out->message, sizeof(out->message), "%s", message);
}
