/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/reviews.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rules/cleanup.h"

#define EFFECT_S 60 /* a call that has not taken effect by then is taken for one that failed */

struct reviews {
	pthread_mutex_t lock;
	const char *session;
	uint64_t last_id;
	uint32_t beyond; /* calls for which there was no room */
	size_t n;
	struct squeezer squeezer;
	struct review *at[REVIEWS_MAX]; /* oldest first */
};

int reviews_new(const char *session, struct reviews **out)
{
	struct reviews *r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->session = session;
	pthread_mutex_init(&r->lock, NULL);
	squeezer_init(&r->squeezer);
	*out = r;
	return 0;
}

static void review_free(struct review *v)
{
	filed_put(v->asked);
	free(v);
}

void reviews_free(struct reviews *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		review_free(r->at[i]);
	pthread_mutex_destroy(&r->lock);
	squeezer_clear(&r->squeezer);
	free(r);
}

/* What was marked wrong and happens again is to be looked at again. */
static struct review *find_same(const struct reviews *r, const struct question_sum *sum)
{
	for (size_t i = 0; i < r->n; i++) {
		struct review *v = r->at[i];
		if (v->mark != REVIEW_WRONG && filed_same(v->asked, sum))
			return v;
	}
	return NULL;
}

static struct review *find_id(const struct reviews *r, uint64_t id)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->at[i]->asked->id == id)
			return r->at[i];
	}
	return NULL;
}

uint64_t reviews_known(struct reviews *r, const struct question *q)
{
	struct question_sum sum;
	question_sum(q, &sum);
	pthread_mutex_lock(&r->lock);
	const struct review *v = find_same(r, &sum);
	uint64_t id = v ? v->asked->id : 0;
	pthread_mutex_unlock(&r->lock);
	return id;
}

/* A person has done with it, or its call came to nothing. */
static bool spent(const struct review *v)
{
	return v->mark != REVIEW_OPEN || (atomic_load(&v->asked->count) == 0 && time(NULL) - v->asked->asked_at > EFFECT_S);
}

/* Room for one more: where there is none, the oldest that is spent goes. */
static bool make_room(struct reviews *r)
{
	if (r->n < REVIEWS_MAX)
		return true;
	for (size_t i = 0; i < r->n; i++) {
		if (!spent(r->at[i]))
			continue;
		review_free(r->at[i]);
		for (r->n--; i < r->n; i++)
			r->at[i] = r->at[i + 1];
		return true;
	}
	return false;
}

/* Takes the question. */
static struct review *review_new(struct reviews *r, struct filed **filed)
{
	struct review *v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->asked = steal_pointer(filed);
	v->asked->session = r->session;
	v->asked->asked_at = time(NULL);
	v->asked->id = ++r->last_id;
	atomic_store(&v->asked->count, 0);
	return v;
}

/* Whether there is none of that SUM, but room for one. */
static bool is_wanted(struct reviews *r, const struct question_sum *sum)
{
	pthread_mutex_lock(&r->lock);
	bool wanted = !find_same(r, sum) && make_room(r);
	pthread_mutex_unlock(&r->lock);
	return wanted;
}

uint64_t reviews_add(struct reviews *r, const struct question *q)
{
	struct question_sum sum;
	struct filed *filed = NULL;
	question_sum(q, &sum);
	if (is_wanted(r, &sum))
		(void)filed_new(q, &sum, &r->squeezer, &filed); /* without memory there is no room */
	pthread_mutex_lock(&r->lock);
	struct review *v = find_same(r, &sum); /* another thread may have been quicker */
	if (!v && filed && make_room(r) && (v = review_new(r, &filed)))
		r->at[r->n++] = v;
	uint64_t id = v ? v->asked->id : 0;
	if (!v)
		r->beyond++;
	pthread_mutex_unlock(&r->lock);
	filed_put(filed);
	return id;
}

struct filed *reviews_done(struct reviews *r, uint64_t id)
{
	struct filed *news = NULL;
	pthread_mutex_lock(&r->lock);
	struct review *v = find_id(r, id);
	if (v && atomic_fetch_add(&v->asked->count, 1) == 0)
		news = filed_hold(v->asked);
	pthread_mutex_unlock(&r->lock);
	return news;
}

uint32_t reviews_open(struct reviews *r, uint32_t *beyond)
{
	uint32_t n = 0;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->n; i++)
		n += r->at[i]->mark == REVIEW_OPEN && atomic_load(&r->at[i]->asked->count) > 0;
	*beyond = r->beyond;
	pthread_mutex_unlock(&r->lock);
	return n;
}

void reviews_each(struct reviews *r, void (*each)(void *context, const struct review *one), void *context)
{
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->n; i++) {
		if (atomic_load(&r->at[i]->asked->count) > 0)
			each(context, r->at[i]);
	}
	pthread_mutex_unlock(&r->lock);
}

bool reviews_is_open(struct reviews *r, uint64_t id, uint32_t *count)
{
	pthread_mutex_lock(&r->lock);
	const struct review *v = find_id(r, id);
	*count = v ? atomic_load(&v->asked->count) : 0;
	bool open = v && v->mark == REVIEW_OPEN && *count > 0;
	pthread_mutex_unlock(&r->lock);
	return open;
}

int reviews_mark(struct reviews *r, uint64_t id, enum review_mark mark, const char *who, const char *message)
{
	pthread_mutex_lock(&r->lock);
	struct review *v = find_id(r, id);
	bool open = v && v->mark == REVIEW_OPEN && mark != REVIEW_OPEN;
	if (open) {
		v->mark = mark;
		snprintf(v->who, sizeof(v->who), "%s", who);
		snprintf(v->message, sizeof(v->message), "%s", message);
	}
	pthread_mutex_unlock(&r->lock);
	return open ? 0 : -ENOENT;
}

const char *review_word(enum review_mark mark)
{
	static const char *const words[] = { "open", "right", "wrong" };
	return words[mark];
}
