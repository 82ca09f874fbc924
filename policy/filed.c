/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/filed.h"

#include <errno.h>
#include <stdlib.h>

static struct squeezed *content(struct filed *f)
{
	return squeezed_behind(f, sizeof(*f));
}

int filed_new(const struct question *q, const struct question_sum *sum, struct squeezer *z, struct filed **out)
{
	struct asked *a;
	void *block;
	size_t size;
	int rc = asked_new(q, &a, &size);
	if (rc < 0)
		return rc;
	asked_rebase(a, (uintptr_t)a, 0); /* the same wherever it was: alike ones are squeezed to less */
	rc = squeeze(z, &(struct iovec){ a, size }, 1, sizeof(struct filed), &block);
	free(a);
	if (rc < 0)
		return rc;
	struct filed *f = block;
	*f = (struct filed){ .refs = 1, .count = 1, .sum = *sum, .unanswered = q->verdict->unanswered };
	*out = f;
	return 0;
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
	squeezed_drop(content(f));
	free(f);
}

struct asked *filed_open(struct filed *f)
{
	size_t size = squeezed_size(content(f));
	struct asked *a = malloc(size);
	if (!a)
		return NULL;
	if (unsqueeze(content(f), &(struct iovec){ a, size }, 1) < 0) {
		free(a);
		return NULL;
	}
	asked_rebase(a, 0, (uintptr_t)a);
	a->of = filed_hold(f);
	return a;
}
