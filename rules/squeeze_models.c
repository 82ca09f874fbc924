/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/squeeze_models.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STRANGE_PART 28 /* more than that part of a content is left: it is like no model */
#define STRANGE_MOST 32 /* then the next is a model, whatever it is */

static struct squeeze_model *model_hold(struct squeeze_model *m)
{
	atomic_fetch_add(&m->refs, 1);
	return m;
}

void model_put(struct squeeze_model *m)
{
	if (m && atomic_fetch_sub(&m->refs, 1) == 1)
		free(m);
}

void models_clear(struct squeezer *z)
{
	while (z->n_models > 0)
		model_put(z->model[--z->n_models]);
}

/* How many words of the LEN bytes at A and at B are the same. */
static size_t same_words(const unsigned char *a, const unsigned char *b, size_t len)
{
	size_t same = 0;
	uint64_t x, y;

	for (; len >= sizeof(x); len -= sizeof(x), a += sizeof(x), b += sizeof(x)) {
		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		same += x == y;
	}
	return same;
}

/* A name of another length moves what is behind it: so both are also laid end to end. */
static size_t likeness(const struct squeeze_model *m, const unsigned char *content, size_t len)
{
	size_t both = m->len < len ? m->len : len;
	size_t front = same_words(m->bytes, content, both);

	if (m->len == len)
		return front;
	size_t back = same_words(m->bytes + m->len - both, content + len - both, both);
	return front > back ? front : back;
}

static uint32_t hold_all(struct squeezer *z, struct squeeze_model *held[SQUEEZE_MODELS])
{
	pthread_mutex_lock(&z->lock);
	uint32_t n = z->n_models;
	for (uint32_t i = 0; i < n; i++)
		held[i] = model_hold(z->model[i]);
	pthread_mutex_unlock(&z->lock);
	return n;
}

struct squeeze_model *models_likest(struct squeezer *z, const unsigned char *content, size_t len)
{
	struct squeeze_model *held[SQUEEZE_MODELS], *best = NULL;
	uint32_t n = hold_all(z, held);
	size_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		size_t l = likeness(held[i], content, len);
		struct squeeze_model *worse = held[i];
		if (!best || l > most) {
			worse = best;
			best = held[i];
			most = l;
		}
		model_put(worse);
	}
	return best;
}

/* Puts M in front; what stood before its place moves one back. Its place is free, or its own. */
static void to_front(struct squeezer *z, struct squeeze_model *m, uint32_t place)
{
	memmove(&z->model[1], &z->model[0], place * sizeof(z->model[0]));
	z->model[0] = m;
}

static void is_used(struct squeezer *z, const struct squeeze_model *used)
{
	for (uint32_t i = 0; i < z->n_models; i++) {
		if (z->model[i] == used) {
			to_front(z, z->model[i], i);
			return;
		}
	}
}

static bool seen_strange(const struct squeezer *z, size_t len)
{
	for (int i = 0; i < SQUEEZE_STRANGE; i++) {
		if (z->strange[i] == len)
			return true;
	}
	return false;
}

/* Of a content that is like no model: whether it is to be one. */
static bool wants_model(struct squeezer *z, size_t len)
{
	bool again = z->n_models < SQUEEZE_MODELS && seen_strange(z, len);

	z->strange[z->n_strange++ % SQUEEZE_STRANGE] = len;
	if (z->n_models > 0 && !again && z->n_strange <= STRANGE_MOST)
		return false;
	z->n_strange = 0;
	return true;
}

static void add_model(struct squeezer *z, struct squeeze_model *m)
{
	pthread_mutex_lock(&z->lock);
	bool full = z->n_models == SQUEEZE_MODELS;
	struct squeeze_model *last = full ? z->model[SQUEEZE_MODELS - 1] : NULL;
	to_front(z, m, full ? SQUEEZE_MODELS - 1 : z->n_models++);
	pthread_mutex_unlock(&z->lock);
	model_put(last);
}

void models_learn(struct squeezer *z, const struct squeeze_model *used, const unsigned char *content, size_t len, size_t kept)
{
	pthread_mutex_lock(&z->lock);
	is_used(z, used);
	bool wants = kept > len / STRANGE_PART && wants_model(z, len);
	pthread_mutex_unlock(&z->lock);
	if (!wants)
		return;

	size_t most = len < SQUEEZE_MODEL_MOST ? len : SQUEEZE_MODEL_MOST;
	struct squeeze_model *m = malloc(sizeof(*m) + most);
	if (!m)
		return;
	atomic_init(&m->refs, 1);
	m->len = (uint32_t)most;
	memcpy(m->bytes, content, most);
	add_model(z, m);
}
