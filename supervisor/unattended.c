/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/unattended.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "policy/show.h"
#include "rules/rule.h"
#include "rules/ruleset.h"
#include "supervisor/voice.h"

#define TOLD_MAX 5

/* A rule that may ask: by itself, or beyond its limit. */
static bool may_ask(const struct rule *r)
{
	return (r->kind == VERDICT_ASK && !rule_asks_nobody(r)) || (r->limit && r->otherwise == VERDICT_ASK);
}

static bool builtin(const char *where)
{
	return strncmp(where, "builtin:", 8) == 0;
}

/* Calls EACH for every rule and default that may ask, until it says false. */
static void asking(const struct policy *p, bool (*each)(void *context, const char *where), void *context)
{
	const struct ruleset *layer;
	const struct rule *r;
	const char *where;

	for (size_t l = 0; (layer = policy_layer(p, l)); l++) {
		for (size_t i = 0; (r = ruleset_rule(layer, i)); i++) {
			if (may_ask(r) && !each(context, r->where))
				return;
		}
		if (ruleset_default(layer, &where) == VERDICT_ASK && !each(context, where))
			return;
	}
}

struct told {
	FILE *to;
	unsigned n;
	const char *own; /* the first that is not built in */
};

static bool count(void *context, const char *where)
{
	struct told *t = context;

	if (!builtin(where)) {
		if (!t->own)
			t->own = where;
		if (++t->n <= TOLD_MAX)
			fprintf(t->to, "%s%s", t->n > 1 ? ", " : "", where);
	}
	return true;
}

int unattended_refused(const struct policy *p, FILE *to)
{
	char *list = NULL;
	size_t len = 0;
	FILE *words = open_memstream(&list, &len);

	if (!words)
		return -1;
	struct told t = { .to = words };
	asking(p, count, &t);
	fclose(words);
	if (t.own)
		fprintf(to, "usher: %s%s: asks, and there is nobody to answer: no terminal, and no --ask\n"
			    "usher: name who answers (--ask=desk, --ask=exec:CMD), or say --ask=deny: every question is denied then\n",
			list, t.n > TOLD_MAX ? ", ..." : "");
	free(list);
	return t.own ? -1 : 0;
}

void unattended_start(const struct policy *p, bool chosen, FILE *to)
{
	char *list = NULL;
	size_t len = 0;
	FILE *words = open_memstream(&list, &len);

	if (!words)
		return;
	struct told t = { .to = words };
	asking(p, count, &t);
	fclose(words);
	if (t.own || !chosen) { /* a choice that concerns only the built-in rules needs no words */
		fprintf(to, "usher: nobody answers questions here (%s): what %s%s would ask is denied\n",
			chosen ? "--ask=deny" : "no terminal, no --ask", t.own ? list : "the built-in rules",
			t.n > TOLD_MAX ? ", ..." : "");
	}
	free(list);
}

char *unattended_rules(struct questions *qs)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = qs ? open_memstream(&text, &len) : NULL;

	if (!to)
		return NULL;
	uint32_t n = questions_unanswered(qs, to);
	fclose(to);
	if (n)
		return text;
	free(text);
	return NULL;
}

/* Where they belong is a comment, so that all behind the first line can be taken as it is. */
void unattended_end(const char *rules, struct voice *to)
{
	char grants[PATH_MAX], shown[4 * PATH_MAX + 1];
	bool kept = policy_grants_path(grants, sizeof(grants)) == 0;

	if (kept)
		show_escape((struct span){ grants, (uint32_t)strlen(grants) }, shown, sizeof(shown));
	if (rules)
		voice_say(to, "usher: questions that nobody answered, as rules that would allow them:\n"
			      "# for a rule file of your own: above the rule that asks, or above 'include builtin:agent'%s%s\n%s",
			  kept ? "; for all sessions: in " : "", kept ? shown : "", rules);
}

char *unattended_reviews(struct questions *qs, const char *journal)
{
	uint32_t beyond = 0, open = qs ? questions_reviews_open(qs, &beyond) : 0;
	char *text = NULL;

	if (!open && !beyond)
		return NULL;
	int n = asprintf(&text, "usher: allowed for review, and nobody has looked: %u kind%s of calls%s (usher desk review --journal=%s)\n", open,
			 open == 1 ? "" : "s", beyond ? " and more than are kept" : "", journal);
	return n < 0 ? NULL : text;
}
