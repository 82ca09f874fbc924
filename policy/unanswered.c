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

#define ONE_BY_ONE 3 /* rules on so many ports of an address are kept beside each other */

static bool known(const struct unanswered *u, uint64_t key, const char *text)
{
	for (unsigned i = 0; i < u->n; i++) {
		if ((key && u->at[i].key == key) || (text && strcmp(u->at[i].text, text) == 0))
			return true;
	}
	return false;
}

/* The port of a rule on a bind: *LEN digits; NULL where TEXT is not just that rule. */
static char *bound_port(char *text, size_t *len)
{
	char *end = strncmp(text, "allow bind ", 11) == 0 ? strchr(text + 11, ' ') : NULL;
	char *port = end, *line = end ? strchr(end, '\n') : NULL;

	while (port && port > text && port[-1] >= '0' && port[-1] <= '9')
		port--;
	if (!line || line[1] || port == end || port[-1] != ':')
		return NULL;
	*len = (size_t)(end - port);
	return port;
}

/* Whether A and B are rules on binds that differ in the port alone. */
static bool other_port(char *a, char *b)
{
	size_t a_len, b_len;
	char *pa = bound_port(a, &a_len), *pb = bound_port(b, &b_len);

	return pa && pb && pa - a == pb - b && memcmp(a, b, (size_t)(pa - a)) == 0 && strcmp(pa + a_len, pb + b_len) == 0;
}

static void any_port(char *text)
{
	size_t len;
	char *port = bound_port(text, &len);

	if (!port)
		return;
	*port = '*';
	memmove(port + 1, port + len, strlen(port + len) + 1);
}

/* Whether a rule on all ports is there that says what TEXT does. */
static bool covered(const struct unanswered *u, const char *text)
{
	CLEANUP_FREE char *any = strdup(text);

	if (!any)
		return false;
	any_port(any);
	return known(u, 0, any);
}

/*
 * Whoever binds some ports of one address binds any: a browser asks for another one each time, and no rule on one of them helps the next session. TEXT becomes
 * the rule on all ports, and those that it stands for are dropped.
 */
static void all_ports(struct unanswered *u, char *text)
{
	unsigned same = 0, kept = 0;

	for (unsigned i = 0; i < u->n; i++)
		same += other_port(u->at[i].text, text);
	if (same < ONE_BY_ONE)
		return;
	for (unsigned i = 0; i < u->n; i++) {
		if (other_port(u->at[i].text, text))
			free(u->at[i].text);
		else
			u->at[kept++] = u->at[i];
	}
	u->n = kept;
	any_port(text);
}

/* The rule that would have allowed A joins the others. False: there is none, or no memory. */
static bool add_rule(struct unanswered *u, struct policy *p, const struct asked *a)
{
	CLEANUP_FREE char *text = malloc(STANDING_TEXT);
	struct settlement allow = { .answer.kind = VERDICT_ALLOW };
	if (!text || standing_rule(p, a, &allow, text, STANDING_TEXT) < 0)
		return false; /* too long for a rule, or asked by a program without a name */
	if (known(u, a->of->sum.key, text) || covered(u, text))
		return true;
	all_ports(u, text);
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
