/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/squeeze.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "rules/cleanup.h"
#include "rules/squeeze_models.h"

#define MEMORY_LEVEL 5  /* 48 KiB while one is squeezed, not 256 */

struct squeezed {
	struct squeeze_model *model; /* NULL: none */
	uint32_t size;
	uint32_t len;
	bool plain;
	unsigned char bytes[];
};

void squeezer_init(struct squeezer *z)
{
	*z = (struct squeezer){ .n_models = 0 };
	pthread_mutex_init(&z->lock, NULL);
	pthread_mutex_init(&z->at_work, NULL);
}

void squeezer_clear(struct squeezer *z)
{
	models_clear(z);
	if (z->deflate)
		(void)deflateEnd(z->deflate);
	free(z->deflate);
	pthread_mutex_destroy(&z->at_work);
	pthread_mutex_destroy(&z->lock);
}

static void lay_out(const struct iovec *parts, int n, unsigned char *to)
{
	for (int i = 0; i < n; i++) {
		if (parts[i].iov_len)
			memcpy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}
}

/* Ready for the next content; NULL without memory. */
static z_stream *deflate_ready(struct squeezer *z)
{
	if (z->deflate)
		return deflateReset(z->deflate) == Z_OK ? z->deflate : NULL;
	z_stream *d CLEANUP_FREE = calloc(1, sizeof(*d));
	if (!d || deflateInit2(d, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -SQUEEZE_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	return z->deflate = steal_pointer(&d);
}

/* The bytes that were written to *OUT; 0 without memory. */
static size_t deflated(struct squeezer *z, const struct squeeze_model *m, const unsigned char *content, size_t size, unsigned char **out)
{
	z_stream *d = deflate_ready(z);

	if (!d || (m && deflateSetDictionary(d, m->bytes, m->len) != Z_OK))
		return 0;
	size_t cap = deflateBound(d, size);
	*out = malloc(cap);
	if (!*out)
		return 0;
	d->next_out = *out;
	d->avail_out = (uInt)cap;
	d->next_in = (unsigned char *)content;
	d->avail_in = (uInt)size;
	return deflate(d, Z_FINISH) == Z_STREAM_END ? cap - d->avail_out : 0;
}

static void *block_new(size_t head, size_t size, size_t len)
{
	if (size > UINT32_MAX || len > UINT32_MAX)
		return NULL;
	char *block = malloc(head + offsetof(struct squeezed, bytes) + len);
	if (!block)
		return NULL;
	struct squeezed *s = squeezed_behind(block, head);
	s->model = NULL;
	s->size = (uint32_t)size;
	s->len = (uint32_t)len;
	s->plain = false;
	return block;
}

static int keep_plain(const struct iovec *parts, int n, size_t size, size_t head, void **out)
{
	void *block = block_new(head, size, size);

	if (!block)
		return -ENOMEM;
	struct squeezed *s = squeezed_behind(block, head);
	s->plain = true;
	lay_out(parts, n, s->bytes);
	*out = block;
	return 0;
}

/* Takes over the hold of M. */
static int keep_squeezed(struct squeezer *z, struct squeeze_model *m, const unsigned char *content, size_t size, size_t head, void **out)
{
	unsigned char *bytes CLEANUP_FREE = NULL;

	pthread_mutex_lock(&z->at_work);
	size_t len = deflated(z, m, content, size, &bytes);
	pthread_mutex_unlock(&z->at_work);
	void *block = len ? block_new(head, size, len) : NULL;
	if (!block) {
		model_put(m);
		return -ENOMEM;
	}
	struct squeezed *s = squeezed_behind(block, head);
	memcpy(s->bytes, bytes, len);
	s->model = m;
	models_learn(z, m, content, size, len);
	*out = block;
	return 0;
}

int squeeze(struct squeezer *z, const struct iovec *parts, int n, size_t head, void **out)
{
	size_t size = 0;

	for (int i = 0; i < n; i++)
		size += parts[i].iov_len;
	if (size > SQUEEZE_MOST)
		return keep_plain(parts, n, size, head, out);
	unsigned char *content CLEANUP_FREE = malloc(size + 1);
	if (!content)
		return -ENOMEM;
	lay_out(parts, n, content);
	return keep_squeezed(z, models_likest(z, content, size), content, size, head, out);
}

size_t squeezed_size(const struct squeezed *s)
{
	return s->size;
}

size_t squeezed_kept(const struct squeezed *s)
{
	return offsetof(struct squeezed, bytes) + s->len;
}

static void split(const struct squeezed *s, const struct iovec *parts, int n)
{
	size_t at = 0;

	for (int i = 0; i < n; i++) {
		if (parts[i].iov_len)
			memcpy(parts[i].iov_base, s->bytes + at, parts[i].iov_len);
		at += parts[i].iov_len;
	}
}

static bool inflated(z_stream *d, const struct squeezed *s, const struct iovec *parts, int n)
{
	int rc = s->model ? inflateSetDictionary(d, s->model->bytes, s->model->len) : Z_OK;
	size_t room = 0;

	d->next_in = (unsigned char *)s->bytes;
	d->avail_in = s->len;
	for (int i = 0; i < n && rc == Z_OK; i++) {
		room += parts[i].iov_len;
		d->next_out = parts[i].iov_base;
		d->avail_out = (uInt)parts[i].iov_len;
		while (rc == Z_OK && d->avail_out > 0)
			rc = inflate(d, Z_NO_FLUSH);
	}
	return (rc == Z_OK || rc == Z_STREAM_END) && d->total_out == room;
}

int unsqueeze(const struct squeezed *s, const struct iovec *parts, int n)
{
	z_stream d = { 0 };

	if (s->plain) {
		split(s, parts, n);
		return 0;
	}
	if (inflateInit2(&d, -SQUEEZE_WINDOW_BITS) != Z_OK)
		return -ENOMEM;
	bool there = inflated(&d, s, parts, n);
	(void)inflateEnd(&d);
	return there ? 0 : -ENOMEM;
}

void squeezed_drop(struct squeezed *s)
{
	model_put(s->model);
}
