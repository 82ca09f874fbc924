/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/history.h"

#include <stdio.h>
#include <time.h>

void history_add(struct history *h, struct filed *f, const struct answer *answer)
{
	struct past *p = &h->past[h->n++ % HISTORY_MAX];
	filed_put(p->asked);
	*p = (struct past){ .asked = filed_hold(f), .at = time(NULL), .callers = atomic_load(&f->count), .kind = answer->kind,
			    .scope = answer->scope };
	snprintf(p->channel, sizeof(p->channel), "%s", answer->channel);
	snprintf(p->who, sizeof(p->who), "%s", answer->who);
	snprintf(p->message, sizeof(p->message), "%s", answer->message);
}

void history_free(struct history *h)
{
	for (size_t i = 0; i < HISTORY_MAX; i++)
		filed_put(h->past[i].asked);
}

void history_each(const struct history *h, void (*each)(void *context, const struct past *p), void *context)
{
	uint64_t n = h->n < HISTORY_MAX ? h->n : HISTORY_MAX;
	for (uint64_t i = 0; i < n; i++)
		each(context, &h->past[(h->n - 1 - i) % HISTORY_MAX]);
}
