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
}

void squeezer_clear(struct squeezer *z)
{
	models_clear(z);
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

/* The bytes that were written to OUT, of which there are enough by deflateBound(); 0 without memory. */
static size_t deflated(z_stream *d, const struct squeeze_model *m, const unsigned char *content, size_t size, unsigned char *out, size_t cap)
{
	if (m && deflateSetDictionary(d, m->bytes, m->len) != Z_OK)
		return 0;
	d->next_out = out;
	d->avail_out = (uInt)cap;
	d->next_in = (unsigned char *)content;
	d->avail_in = (uInt)size;
	return deflate(d, Z_FINISH) == Z_STREAM_END ? cap - d->avail_out : 0;
}

static int squeeze_all(const struct squeeze_model *m, const unsigned char *content, size_t size, unsigned char **out, size_t *len)
{
	z_stream d = { 0 };

	if (deflateInit2(&d, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -SQUEEZE_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	size_t cap = deflateBound(&d, size);
	unsigned char *bytes = malloc(cap);
	size_t used = bytes ? deflated(&d, m, content, size, bytes, cap) : 0;
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
	struct squeezed *s = size <= UINT32_MAX && len <= UINT32_MAX ? malloc(offsetof(struct squeezed, bytes) + len) : NULL;

	if (!s)
		return NULL;
	s->model = NULL;
	s->size = (uint32_t)size;
	s->len = (uint32_t)len;
	s->plain = false;
	return s;
}

static int keep_plain(const struct iovec *parts, int n, size_t size, struct squeezed **out)
{
	struct squeezed *s = squeezed_new(size, size);

	if (!s)
		return -ENOMEM;
	s->plain = true;
	lay_out(parts, n, s->bytes);
	*out = s;
	return 0;
}

/* Takes over the hold of M. */
static int keep_squeezed(struct squeezer *z, struct squeeze_model *m, const unsigned char *content, size_t size, struct squeezed **out)
{
	unsigned char *bytes CLEANUP_FREE = NULL;
	size_t len;
	int rc = squeeze_all(m, content, size, &bytes, &len);
	struct squeezed *s = rc == 0 ? squeezed_new(size, len) : NULL;

	if (!s) {
		model_put(m);
		return -ENOMEM;
	}
	memcpy(s->bytes, bytes, len);
	s->model = m;
	models_learn(z, m, content, size, len);
	*out = s;
	return 0;
}

int squeeze(struct squeezer *z, const struct iovec *parts, int n, struct squeezed **out)
{
	size_t size = 0;

	for (int i = 0; i < n; i++)
		size += parts[i].iov_len;
	if (size > SQUEEZE_MOST)
		return keep_plain(parts, n, size, out);
	unsigned char *content CLEANUP_FREE = malloc(size + 1);
	if (!content)
		return -ENOMEM;
	lay_out(parts, n, content);
	return keep_squeezed(z, models_likest(z, content, size), content, size, out);
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
	if (inflateInit2(&d, -SQUEEZE_WINDOW_BITS) != Z_OK)
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
