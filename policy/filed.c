/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/filed.h"

#include <errno.h>
#include <stdlib.h>

static struct filed *filed_of(const struct question *q, const struct question_sum *sum, struct squeezed *content)
{
	struct filed *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	atomic_init(&f->refs, 1);
	atomic_init(&f->count, 1);
	f->sum = *sum;
	f->unanswered = q->verdict->unanswered;
	f->content = content;
	return f;
}

int filed_new(const struct question *q, const struct question_sum *sum, struct squeezer *z, struct filed **out)
{
	struct squeezed *content = NULL;
	struct asked *a;
	size_t size;
	int rc = asked_new(q, &a, &size);
	if (rc < 0)
		return rc;
	asked_rebase(a, (uintptr_t)a, 0); /* the same wherever it was: alike ones are squeezed to less */
	rc = squeeze(z, &(struct iovec){ a, size }, 1, &content);
	free(a);
	if (rc < 0)
		return rc;
	*out = filed_of(q, sum, content);
	if (*out)
		return 0;
	squeezed_free(content);
	return -ENOMEM;
}

struct filed *filed_hold(struct filed *f)
{
	atomic_fetch_add(&f->refs, 1);
	return f;
}

void filed_put(struct filed *f)
{
	if (!f || atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	squeezed_free(f->content);
	free(f);
}

struct asked *filed_open(struct filed *f)
{
	size_t size = squeezed_size(f->content);
	struct asked *a = malloc(size);
	if (!a)
		return NULL;
	if (unsqueeze(f->content, &(struct iovec){ a, size }, 1) < 0) {
		free(a);
		return NULL;
	}
	asked_rebase(a, 0, (uintptr_t)a);
	a->of = filed_hold(f);
	return a;
}
