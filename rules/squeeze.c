/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/squeeze.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "rules/cleanup.h"

#define WINDOW_BITS 13  /* 8 KiB: a call that waits is hardly more */
#define MEMORY_LEVEL 5  /* 48 KiB while one is squeezed, not 256 */
#define MODEL_MOST (1 << WINDOW_BITS)
#define POOR_PART 4     /* more than a quarter is left: the content is not like the model */
#define POOR_MOST 32    /* then another model is taken; the old one goes with the last that was squeezed by it */

struct squeeze_model {
	atomic_uint refs;
	uint32_t len;
	unsigned char bytes[];
};

struct squeezed {
	struct squeeze_model *model; /* NULL: none */
	size_t size;
	uint32_t len;
	bool plain;
	unsigned char bytes[];
};

void squeezer_init(struct squeezer *z)
{
	*z = (struct squeezer){ .model = NULL };
	pthread_mutex_init(&z->lock, NULL);
}

static struct squeeze_model *model_hold(struct squeeze_model *m)
{
	if (m)
		atomic_fetch_add(&m->refs, 1);
	return m;
}

static void model_put(struct squeeze_model *m)
{
	if (m && atomic_fetch_sub(&m->refs, 1) == 1)
		free(m);
}

void squeezer_clear(struct squeezer *z)
{
	model_put(steal_pointer(&z->model));
	pthread_mutex_destroy(&z->lock);
}

static struct squeeze_model *model_now(struct squeezer *z)
{
	pthread_mutex_lock(&z->lock);
	struct squeeze_model *m = model_hold(z->model);
	pthread_mutex_unlock(&z->lock);
	return m;
}

static size_t lay_out(const struct iovec *parts, int n, unsigned char *to, size_t most)
{
	size_t at = 0;

	for (int i = 0; i < n && at < most; i++) {
		size_t len = parts[i].iov_len < most - at ? parts[i].iov_len : most - at;
		if (len)
			memcpy(to + at, parts[i].iov_base, len);
		at += len;
	}
	return at;
}

/* The content is the model for those that come. Without memory the old one stays. */
static void take_as_model(struct squeezer *z, const struct iovec *parts, int n, size_t size)
{
	size_t len = size < MODEL_MOST ? size : MODEL_MOST;
	struct squeeze_model *m = malloc(sizeof(*m) + len);

	if (!m)
		return;
	atomic_init(&m->refs, 1);
	m->len = (uint32_t)lay_out(parts, n, m->bytes, len);
	pthread_mutex_lock(&z->lock);
	struct squeeze_model *before = z->model;
	z->model = m;
	z->poor = 0;
	pthread_mutex_unlock(&z->lock);
	model_put(before);
}

static bool wants_model(struct squeezer *z, size_t size, size_t kept)
{
	pthread_mutex_lock(&z->lock);
	bool wants = !z->model || (kept > size / POOR_PART && ++z->poor > POOR_MOST);
	pthread_mutex_unlock(&z->lock);
	return wants;
}

/* The bytes that were written to OUT, of which there are enough by deflateBound(); 0 without memory. */
static size_t deflated(z_stream *d, const struct squeeze_model *m, const struct iovec *parts, int n, unsigned char *out, size_t cap)
{
	if (m && deflateSetDictionary(d, m->bytes, m->len) != Z_OK)
		return 0;
	d->next_out = out;
	d->avail_out = (uInt)cap;
	for (int i = 0; i < n; i++) {
		d->next_in = parts[i].iov_base;
		d->avail_in = (uInt)parts[i].iov_len;
		if (d->avail_in && deflate(d, Z_NO_FLUSH) != Z_OK)
			return 0;
	}
	return deflate(d, Z_FINISH) == Z_STREAM_END ? cap - d->avail_out : 0;
}

static int squeeze_all(const struct squeeze_model *m, const struct iovec *parts, int n, size_t size, unsigned char **out, size_t *len)
{
	z_stream d = { 0 };

	if (deflateInit2(&d, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	size_t cap = deflateBound(&d, size);
	unsigned char *bytes = malloc(cap);
	size_t used = bytes ? deflated(&d, m, parts, n, bytes, cap) : 0;
	(void)deflateEnd(&d);
	if (!used) {
		free(bytes);
		return -ENOMEM;
	}
	*out = bytes;
	*len = used;
	return 0;
}

static struct squeezed *squeezed_new(size_t size, size_t len)
{
	struct squeezed *s = len <= UINT32_MAX ? malloc(sizeof(*s) + len) : NULL;

	if (s)
		*s = (struct squeezed){ .size = size, .len = (uint32_t)len };
	return s;
}

static int keep_plain(const struct iovec *parts, int n, size_t size, struct squeezed **out)
{
	struct squeezed *s = squeezed_new(size, size);

	if (!s)
		return -ENOMEM;
	s->plain = true;
	(void)lay_out(parts, n, s->bytes, size);
	*out = s;
	return 0;
}

int squeeze(struct squeezer *z, const struct iovec *parts, int n, struct squeezed **out)
{
	unsigned char *bytes CLEANUP_FREE = NULL;
	size_t size = 0, len;

	for (int i = 0; i < n; i++)
		size += parts[i].iov_len;
	if (size > SQUEEZE_MOST)
		return keep_plain(parts, n, size, out);
	struct squeeze_model *m = model_now(z);
	int rc = squeeze_all(m, parts, n, size, &bytes, &len);
	struct squeezed *s = rc == 0 ? squeezed_new(size, len) : NULL;
	if (!s) {
		model_put(m);
		return -ENOMEM;
	}
	memcpy(s->bytes, bytes, len);
	s->model = m;
	if (wants_model(z, size, len))
		take_as_model(z, parts, n, size);
	*out = s;
	return 0;
}

size_t squeezed_size(const struct squeezed *s)
{
	return s->size;
}

size_t squeezed_kept(const struct squeezed *s)
{
	return sizeof(*s) + s->len;
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

	d->next_in = (unsigned char *)s->bytes;
	d->avail_in = s->len;
	for (int i = 0; i < n && rc == Z_OK; i++) {
		d->next_out = parts[i].iov_base;
		d->avail_out = (uInt)parts[i].iov_len;
		while (rc == Z_OK && d->avail_out > 0)
			rc = inflate(d, Z_NO_FLUSH);
	}
	return (rc == Z_OK || rc == Z_STREAM_END) && d->total_out == s->size;
}

int unsqueeze(const struct squeezed *s, const struct iovec *parts, int n)
{
	z_stream d = { 0 };

	if (s->plain) {
		split(s, parts, n);
		return 0;
	}
	if (inflateInit2(&d, -WINDOW_BITS) != Z_OK)
		return -ENOMEM;
	bool whole = inflated(&d, s, parts, n);
	(void)inflateEnd(&d);
	return whole ? 0 : -ENOMEM;
}

void squeezed_free(struct squeezed *s)
{
	if (!s)
		return;
	model_put(s->model);
	free(s);
}
