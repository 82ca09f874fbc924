/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way in and out of the queue, for the threads that ask.
 *
 * MUST: nobody who asks waits for more than the lock; a question that a grant has answered meanwhile, or that a
 * person has denied again and again, is put to nobody.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "policy/limits.h"
#include "policy/policy_state.h"
#include "policy/queue.h"
#include "rules/cleanup.h"
#include "rules/rule.h"

/* A question on its way in. */
struct asking {
	const struct question *q;
	struct question_sum sum;
	struct filed *filed; /* where no other is the same */
	struct waiter *waiter;
};

#define ASK_FILE 1

static uint32_t timeout_of(const struct questions *qs, const struct verdict *v)
{
	return v->rule && v->rule->timeout_s ? v->rule->timeout_s : qs->timeout_s;
}

/* What the command itself has started, with all below: the process under the command, or the caller where it is that or the command. */
static pid_t tree_of(const struct subject *by)
{
	return by->ancestors && by->n_ancestors >= 2 ? by->ancestors[by->n_ancestors - 2].pid : by->pid;
}

static struct waiter *waiter_new(struct questions *qs, const struct question *q, uint64_t token)
{
	struct waiter *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->token = token;
	w->tree = tree_of(&q->call->by);
	w->asked_ns = clock_now_ns();
	w->timeout_s = timeout_of(qs, q->verdict);
	return w;
}

static struct group *group_new(struct questions *qs, struct asking *a)
{
	struct group *g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->asked = steal_pointer(&a->filed);
	g->asked->session = qs->options.session;
	g->asked->asked_ns = a->waiter->asked_ns;
	g->asked->timeout_s = a->waiter->timeout_s;
	g->asked->asked_at = time(NULL);
	return g;
}

/* Half of all places at most for one tree: it cannot keep the others from asking. */
static bool too_many(const struct questions *qs, pid_t tree)
{
	uint32_t most = qs->options.max_waiting;
	if (qs->waiting >= most)
		return true;
	return qs->waiting >= most / 2 && queue_count_tree(qs, tree) >= most / 2;
}

/* A grant that came between the decision and this question answers it. */
static bool granted_meanwhile(struct questions *qs, const struct question *q, struct answer *out)
{
	struct verdict v;
	policy_decide_now(qs->options.policy, q->call, &v);
	return granted_answer(&v, out);
}

/* The same was denied again and again within a minute. */
static bool denied_unasked(struct questions *qs, const struct question_sum *sum, struct answer *out)
{
	if (!queue_insists(qs, sum->key))
		return false;
	*out = (struct answer){ .kind = VERDICT_DENY, .channel = "limit", .who = "usher" };
	snprintf(out->message, sizeof(out->message), "denied %d times within a minute", INSIST_MOST);
	return true;
}

/* Returns ASK_FILE where the question has to be filed first: not under the lock, which all others wait for. */
static int ask_locked(struct questions *qs, struct asking *a, uint64_t *id)
{
	struct waiter *w = a->waiter;
	if (qs->stopping || too_many(qs, w->tree))
		return -EAGAIN;
	int rc = queue_serve(qs);
	if (rc < 0)
		return rc;
	struct group *g = queue_same(qs, &a->sum);
	if (!g && !a->filed)
		return ASK_FILE;
	struct answer granted = { 0 };
	bool answered = !g && (late_take(&qs->late, a->sum.mark, w->tree, clock_now_ns(), &granted) || granted_meanwhile(qs, a->q, &granted) ||
			       denied_unasked(qs, &a->sum, &granted));
	if (g) {
		atomic_fetch_add(&g->asked->count, 1);
	} else {
		g = group_new(qs, a);
		if (!g)
			return -ENOMEM;
		g->asked->id = qs->next_id + 1;
		queue_add_group(qs, g);
	}
	*id = w->id = ++qs->next_id;
	queue_add_waiter(qs, g, w);
	if (answered)
		queue_deliver_group(qs, g, &granted);
	if (qs->fresh || !qs->sleeps_until || waiter_deadline_ns(w) < qs->sleeps_until)
		pthread_cond_signal(&qs->wake);
	return 0;
}

static int ask(struct questions *qs, struct asking *a, uint64_t *id)
{
	pthread_mutex_lock(&qs->lock);
	int rc = ask_locked(qs, a, id);
	pthread_mutex_unlock(&qs->lock);
	return rc;
}

int questions_ask(struct questions *qs, const struct question *q, uint64_t token, uint64_t *id)
{
	struct asking a = { .q = q, .waiter = waiter_new(qs, q, token) };
	if (!a.waiter)
		return -ENOMEM;
	question_sum(q, &a.sum);
	int rc = ask(qs, &a, id);
	if (rc == ASK_FILE)
		rc = filed_new(q, &a.sum, &qs->squeezer, &a.filed);
	if (rc == 0 && a.filed)
		rc = ask(qs, &a, id);
	filed_put(a.filed); /* somebody asked the same meanwhile */
	if (rc < 0)
		free(a.waiter);
	return rc;
}

int questions_withdraw(struct questions *qs, uint64_t id, bool comes_back)
{
	pthread_mutex_lock(&qs->lock);
	struct waiter *w = queue_waiter(qs, id);
	struct group *g = w ? w->group : NULL;
	if (!w || g->state == GROUP_SETTLING) {
		pthread_mutex_unlock(&qs->lock);
		return 1;
	}
	queue_remove_waiter(qs, w);
	if (!g->waiters && !(comes_back && queue_leave_group(qs, g, w->tree)))
		queue_drop_group(qs, g);
	pthread_mutex_unlock(&qs->lock);
	free(w);
	return 0;
}
