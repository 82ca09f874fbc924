/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an answer brings about.
 *
 * MUST: of several answers to a question one is taken; a grant is noted in the journal
 * before it can answer anything; a grant covers only what was in the question.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "policy/policy_state.h"
#include "policy/queue.h"
#include "policy/standing.h"
#include "rules/rule.h"
#include "rules/ruleset.h"

#define NOTE_NAME 7000 /* characters of a name in a note, two of which fit beside the words */

_Static_assert(2 * NOTE_NAME + 1024 < STANDING_TEXT, "a note of a grant is whole");

int question_note(struct questions *qs, const char *event, const char *text)
{
	return qs->options.note ? qs->options.note(qs->options.context, event, text) : 0;
}

/* The shortest remember= of the rules that ask, where the answer does not say how long it holds. */
static void default_scope(const struct asked *a, struct answer *answer)
{
	const struct rule *rule = a->verdict.keeps;
	switch (rule ? rule->remember : REMEMBER_ONCE) {
	case REMEMBER_ONCE:
		answer->scope = SCOPE_ONCE;
		break;
	case REMEMBER_SESSION:
		answer->scope = SCOPE_SESSION;
		break;
	case REMEMBER_TREE:
		answer->scope = SCOPE_TREE;
		break;
	case REMEMBER_TIME:
		answer->scope = SCOPE_TIME;
		answer->scope_s = rule->remember_s;
		break;
	}
}

/* The pattern, as a rule, covers every object of the question. */
static bool pattern_answers(struct policy *p, const struct asked *a, const struct settlement *s)
{
	char text[STANDING_TEXT];
	return !s->directory.bytes && (s->answer.kind == VERDICT_ALLOW || s->answer.kind == VERDICT_DENY || s->answer.kind == VERDICT_KILL) &&
	       standing_rule(p, a, s, text, sizeof(text)) == 0;
}

/* A connection cannot be led to a file, a datagram to no stream: whoever says so has not answered. */
static bool leads_somewhere(const struct asked *a, const char *target)
{
	char name[PATH_MAX];
	size_t len;
	struct object to;
	uint32_t at = a->verdict.object < a->call.n_objects ? a->verdict.object : 0;
	return target[0] && object_answered(target, &a->call.object[at], name, &len, &to) == 0;
}

static bool answer_valid(struct policy *p, const struct asked *a, const struct settlement *s)
{
	const struct answer *n = &s->answer;
	switch (n->kind) {
	case VERDICT_ALLOW:
	case VERDICT_DENY:
	case VERDICT_KILL:
		break;
	case VERDICT_REWRITE:
		if (!leads_somewhere(a, n->target))
			return false;
		break;
	case VERDICT_ASK:
	case VERDICT_NONE:
		return false;
	}
	if (n->scope == SCOPE_TIME && !n->scope_s)
		return false;
	return !s->pattern || pattern_answers(p, a, s);
}

/* The directory of the answer, where it names one, holds every object. */
static bool directory_holds(const struct asked *a, const struct settlement *s)
{
	if (s->pattern || !s->directory.bytes)
		return true;
	for (uint32_t i = 0; i < a->call.n_objects; i++) {
		if (a->call.object[i].kind != OBJECT_FILE || !grants_below(s->directory, a->call.object[i].name))
			return false;
	}
	return true;
}

static int answer_check(struct policy *p, const struct asked *a, const struct settlement *s)
{
	return !answer_valid(p, a, s) ? -EINVAL : directory_holds(a, s) ? 0 : -ENOTDIR;
}

static const char *scope_name(enum answer_scope scope)
{
	static const char *const names[] = { "once", "time", "tree", "session", "always" };
	return names[scope];
}

/* A name may be long; what stands behind it is never lost for that. */
static int note_grant(struct questions *qs, const struct grant_request *r, const char *channel)
{
	char line[STANDING_TEXT];
	struct text_buffer t;
	text_start(&t, line, sizeof(line));
	text_add(&t, "%s ", verdict_name(r->kind));
	text_ops(&t, r->ops);
	text_add(&t, " ");
	if (r->rules) {
		text_add(&t, "pattern ");
		text_show(&t, (struct span){ r->pattern, (uint32_t)strlen(r->pattern) }, NOTE_NAME);
	} else if (r->directory.bytes) {
		text_add(&t, "directory ");
		text_show(&t, r->directory, NOTE_NAME);
	} else {
		text_object(&t, &r->call->object[r->object], NOTE_NAME);
	}
	text_add(&t, " by=");
	text_show(&t, r->call->by.image.exe, NOTE_NAME);
	text_add(&t, " scope=%s", scope_name(r->scope));
	if (r->scope == SCOPE_TIME)
		text_add(&t, " seconds=%u", r->seconds);
	text_add(&t, " channel=%s who=%s", channel, r->who);
	return question_note(qs, "grant", line);
}

/* The pattern's rules, loaded. */
static int pattern_rules(struct policy *p, const struct asked *a, const struct settlement *s, struct ruleset **out)
{
	char text[STANDING_TEXT];
	struct diagnostics found = { 0 };
	struct ruleset_source none = { .path = "grant" };
	int rc = standing_rule(p, a, s, text, sizeof(text));
	if (rc == 0)
		rc = ruleset_parse("grant", text, strlen(text), &none, &found, out);
	diagnostics_free(&found);
	return rc ? -EINVAL : 0;
}

/* One grant for each object of the question, for those operations that asked. */
static void make_grants(struct questions *qs, const struct asked *a, const struct settlement *s)
{
	struct policy *p = qs->options.policy;
	for (uint32_t i = 0; i < a->call.n_objects; i++) {
		op_set ops = 0;
		const struct rule *only = NULL; /* an exec is one operation */
		for (unsigned rest = a->call.object[i].ops; rest; rest &= rest - 1) {
			op_set op = (op_set)(rest & -rest);
			if (policy_asks(p, &a->call, i, op, &only))
				ops |= op;
		}
		if (!ops)
			continue;
		struct ruleset *rules = NULL;
		if (s->pattern && pattern_rules(p, a, s, &rules) < 0)
			return;
		struct grant_request r = { .rules = rules, .pattern = s->pattern, .call = &a->call, .object = i, .ops = ops, .only = only, .directory = s->directory,
					   .kind = s->answer.kind, .scope = s->answer.scope,
					   .seconds = s->answer.scope_s, .who = s->answer.who };
		uint64_t id;
		int rc = note_grant(qs, &r, s->answer.channel);
		if (rc == 0)
			rc = grants_add(policy_grants(p), &r, &id);
		if (rc < 0 && rules)
			ruleset_free(rules);
		if (rc < 0)
			question_note(qs, "grant-failed", strerror(-rc));
	}
}

/* Writes the standing rule; an answer that could not be kept holds for the session. */
static int make_standing(struct questions *qs, const struct asked *a, const struct settlement *s)
{
	char line[STANDING_TEXT];
	const char *file = policy_grants_file(qs->options.policy);
	int rc = standing_rule(qs->options.policy, a, s, line, sizeof(line));
	bool sayable = rc != -EINVAL; /* of a program that gets one empty argument, say, no argv= speaks alone */
	if (rc == 0)
		rc = question_note(qs, "grant-always", line);
	if (rc == 0)
		rc = standing_append(file, line);
	if (rc < 0)
		question_note(qs, "grant-always-failed", sayable ? strerror(-rc) : "no rule says exactly this");
	return file ? -rc : 0;
}

/* Returns 0, or the errno for which an answer for ever could not be written. */
static int keep_answer(struct questions *qs, const struct asked *a, const struct settlement *s)
{
	if (s->answer.kind == VERDICT_ALLOW)
		policy_favour(qs->options.policy, &a->call);
	if (s->answer.scope == SCOPE_ONCE || s->answer.kind == VERDICT_REWRITE)
		return 0;
	int unkept = s->answer.scope == SCOPE_ALWAYS ? make_standing(qs, a, s) : 0;
	make_grants(qs, a, s);
	return unkept;
}

#define LOOK_AT 64

/* The next questions behind number *last, up to number TO, held. How many. */
static uint32_t hold_some(struct questions *qs, uint64_t *last, uint64_t to, struct filed *out[LOOK_AT])
{
	uint32_t n = 0;
	for (const struct group *g = qs->oldest; g && g->asked->id <= to && n < LOOK_AT; g = g->next) {
		if (g->asked->id > *last && g->state != GROUP_SETTLING)
			out[n++] = filed_hold(g->asked);
	}
	if (n)
		*last = out[n - 1]->id;
	return n;
}

/* Without memory to open it, it waits on. */
static bool answered_now(struct questions *qs, struct filed *f, struct answer *out)
{
	struct asked *q = filed_open(f);
	struct verdict v;
	if (!q)
		return false;
	policy_decide_now(qs->options.policy, &q->call, &v);
	asked_free(q);
	return granted_answer(&v, out);
}

static void settle_one(struct questions *qs, struct filed *f)
{
	struct answer a;
	if (!answered_now(qs, f, &a))
		return;
	pthread_mutex_lock(&qs->lock);
	struct group *g = queue_same(qs, &f->sum); /* of several that are the same each is as good */
	if (g)
		queue_deliver_group(qs, g, &a);
	pthread_mutex_unlock(&qs->lock);
}

/*
 * Grants that were just made may answer other questions too: those that wait now, for the others look by themselves.
 * The lock is released while one is opened.
 */
static void settle_granted(struct questions *qs)
{
	struct filed *some[LOOK_AT];
	uint64_t last = 0;
	uint64_t newest = qs->next_id;
	for (uint32_t n; (n = hold_some(qs, &last, newest, some)) > 0;) {
		pthread_mutex_unlock(&qs->lock);
		for (uint32_t i = 0; i < n; i++) {
			settle_one(qs, some[i]);
			filed_put(some[i]);
		}
		pthread_mutex_lock(&qs->lock);
	}
}

static int stage_of(const struct questions *qs, const char *channel)
{
	for (int i = 0; i < qs->n_stages; i++) {
		if (strcmp(qs->stage[i].row->word, channel) == 0)
			return i;
	}
	return -1;
}

int question_answer(struct questions *qs, uint64_t id, const struct settlement *given)
{
	struct settlement s = *given;
	pthread_mutex_lock(&qs->lock);
	struct group *g = queue_group(qs, id);
	struct asked *a = g && g->state != GROUP_SETTLING ? filed_open(g->asked) : NULL;
	int rc = !g || g->state == GROUP_SETTLING ? -ENOENT : !a ? -ENOMEM : answer_check(qs->options.policy, a, &s);
	if (rc < 0) {
		pthread_mutex_unlock(&qs->lock);
		asked_free(a);
		return rc;
	}
	if (!s.scope_given)
		default_scope(a, &s.answer);
	g->state = GROUP_SETTLING;
	qs->settling++;
	pthread_mutex_unlock(&qs->lock);

	int unkept = keep_answer(qs, a, &s); /* may write to the journal and to a file; G stays while it settles */

	pthread_mutex_lock(&qs->lock);
	if (strcmp(s.answer.channel, "tty") == 0 || strcmp(s.answer.channel, "desk") == 0)
		queue_person_answered(qs, g->asked->sum.key, s.answer.kind == VERDICT_DENY);
	if (strcmp(s.answer.channel, "deny") == 0)
		unanswered_add(&qs->unanswered, qs->options.policy, g->asked);
	queue_deliver_group(qs, g, &s.answer);
	if (s.answer.scope != SCOPE_ONCE || (s.answer.kind == VERDICT_ALLOW && policy_counts_favours(qs->options.policy)))
		settle_granted(qs);
	qs->settling--;
	pthread_cond_broadcast(&qs->idle);
	pthread_mutex_unlock(&qs->lock);
	asked_free(a);
	return unkept;
}

/* The channel of STAGE has given up on G. */
static void group_passed(struct questions *qs, struct group *g, int stage, const char *why)
{
	unsigned all = (1u << qs->n_stages) - 1;
	if (stage < 0)
		return;
	g->passed |= 1u << stage;
	if (g->passed == all) {
		struct answer a;
		unanswered_add(&qs->unanswered, qs->options.policy, g->asked);
		answer_unanswered(g->asked, qs->stage[stage].row->word, why, &a);
		queue_deliver_group(qs, g, &a);
	} else if (!qs->together && g->state == GROUP_WAITING && g->stage == stage && stage + 1 < qs->n_stages) {
		g->stage++;
		g->state = GROUP_NEW;
		g->stage_end_ns = 0;
		qs->fresh = true;
		pthread_cond_signal(&qs->wake);
	}
}

void question_pass(struct questions *qs, uint64_t id, const char *channel, const char *why)
{
	char line[512];
	snprintf(line, sizeof(line), "channel=%s question=%llu %s", channel, (unsigned long long)id, why);
	question_note(qs, "channel-failed", line);
	pthread_mutex_lock(&qs->lock);
	struct group *g = queue_group(qs, id);
	if (g && g->state != GROUP_SETTLING)
		group_passed(qs, g, stage_of(qs, channel), why);
	pthread_mutex_unlock(&qs->lock);
}

void questions_past(struct questions *qs, void (*each)(void *context, const struct past *p), void *context)
{
	pthread_mutex_lock(&qs->lock);
	history_each(&qs->history, each, context);
	pthread_mutex_unlock(&qs->lock);
}

int question_revoke(struct questions *qs, uint64_t grant, const char *who)
{
	char line[128];
	int rc = grants_revoke(policy_grants(qs->options.policy), grant);
	if (rc == 0) {
		snprintf(line, sizeof(line), "grant:%llu who=%s", (unsigned long long)grant, who);
		question_note(qs, "revoke", line);
	}
	return rc;
}
