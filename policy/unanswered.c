/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that nobody answered, kept as rules for the end of the session.
 *
 * MUST: a rule is kept once, whatever asks again and again; how many are kept is bounded.
 */
#include "policy/unanswered.h"

#include <stdlib.h>
#include <string.h>

#include "policy/queue.h"
#include "policy/standing.h"
#include "rules/cleanup.h"

static bool known(const struct unanswered *u, uint64_t key, const char *text)
{
	for (unsigned i = 0; i < u->n; i++) {
		if (u->at[i].key == key || (text && strcmp(u->at[i].text, text) == 0))
			return true;
	}
	return false;
}

/* The rule that would have allowed A joins the others. False: there is none, or no memory. */
static bool add_rule(struct unanswered *u, struct policy *p, const struct asked *a)
{
	CLEANUP_FREE char *text = malloc(STANDING_TEXT);
	struct settlement allow = { .answer.kind = VERDICT_ALLOW };
	if (!text || standing_rule(p, a, &allow, text, STANDING_TEXT) < 0)
		return false; /* too long for a rule, or asked by a program without a name */
	if (known(u, a->of->sum.key, text))
		return true;
	char *kept = strdup(text);
	if (kept)
		u->at[u->n++] = (struct unanswered_rule){ .key = a->of->sum.key, .text = kept, .where = a->verdict.where };
	return true;
}

void unanswered_add(struct unanswered *u, struct policy *p, struct filed *f)
{
	u->count++;
	if (known(u, f->sum.key, NULL))
		return;
	struct asked *a = u->n < UNANSWERED_MAX ? filed_open(f) : NULL;
	if (!a || !add_rule(u, p, a))
		u->more = true;
	asked_free(a);
}

void unanswered_free(struct unanswered *u)
{
	for (unsigned i = 0; i < u->n; i++)
		free(u->at[i].text);
	u->n = 0;
}

uint32_t questions_unanswered(struct questions *qs, FILE *to)
{
	pthread_mutex_lock(&qs->lock);
	const struct unanswered *u = &qs->unanswered;
	for (unsigned i = 0; i < u->n; i++)
		fprintf(to, "# asked by %s\n%s", u->at[i].where ? u->at[i].where : "default", u->at[i].text);
	if (u->more)
		fprintf(to, "# and %s: 'usher log asked' has them all\n", u->n ? "more" : "some that no rule here could allow");
	uint32_t count = u->count;
	pthread_mutex_unlock(&qs->lock);
	return count;
}
