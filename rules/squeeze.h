/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept long and looked at rarely, in little memory: deflated (RFC 1951), with the likest content of before as the dictionary. Of a
 * thousand calls that wait for a person most are alike in some few ways, and each is a fraction of what it is by itself.
 */
#ifndef USHER_RULES_SQUEEZE_H
#define USHER_RULES_SQUEEZE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct squeezed;
struct z_stream_s;

#define SQUEEZE_MODELS 12 /* of up to 8 KiB: more kinds of questions at once are rare */
#define SQUEEZE_STRANGE 16

/* For contents of one kind of thing: see rules/squeeze_models.h. */
struct squeezer {
	pthread_mutex_t lock;
	struct squeeze_model *model[SQUEEZE_MODELS]; /* the contents that the next ones are likened to; the one used last comes first */
	uint32_t n_models;
	uint32_t n_strange;                /* contents since the last model was taken that were like none */
	size_t strange[SQUEEZE_STRANGE];   /* bytes of the last such ones */
	pthread_mutex_t at_work;           /* one squeezes at a time: what it works in are 50 KiB, which would stay with each thread that once did */
	struct z_stream_s *deflate;        /* NULL: nothing was squeezed yet */
};

void squeezer_init(struct squeezer *z);
/* What was squeezed by Z stays good. */
void squeezer_clear(struct squeezer *z);

/*
 * The content of the N PARTS, one after the other. More than SQUEEZE_MOST bytes are kept as they are: they would cost the caller milliseconds.
 * *out is one allocation: HEAD bytes for what the caller has beside it, a multiple of 8, and behind them what was squeezed. squeezed_drop() that
 * before *out is freed. Any thread. Returns 0 or -ENOMEM.
 */
int squeeze(struct squeezer *z, const struct iovec *parts, int n, size_t head, void **out);
#define SQUEEZE_MOST (64 * 1024)

static inline struct squeezed *squeezed_behind(void *block, size_t head)
{
	return (struct squeezed *)((char *)block + head);
}

/* Bytes of the content, and bytes that it takes. */
size_t squeezed_size(const struct squeezed *s);
size_t squeezed_kept(const struct squeezed *s);

/* Lays the content of S into the N PARTS, or as much of its beginning as they have room for. Any thread. Returns 0 or -ENOMEM. */
int unsqueeze(const struct squeezed *s, const struct iovec *parts, int n);

/* Lets go of what S shares with others. Its memory is the caller's. */
void squeezed_drop(struct squeezed *s);

#endif
