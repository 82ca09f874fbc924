/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desk's protocol, as usher-desk(5) describes it: a request is a line, and
 * gets one line back.
 *
 * MUST: nothing is told or done before the token was shown; a request that is not understood
 * changes nothing.
 */
#include <errno.h>
#include <json-c/json.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/desk_state.h"
#include "policy/json_build.h"
#include "policy/limits.h"
#include "policy/policy_state.h"
#include "policy/question_json.h"
#include "policy/standing.h"

#define NO_GRANTS "the file of grants cannot be written by this user: another scope can be answered"
#define UNKEPT "answered for this session only: the file of grants could not be written (the journal has why: grant-always-failed)"

bool desk_send(struct client *c, struct json_object *o)
{
	size_t len = 0;
	char *line = json_line(o, &len);
	bool sent = line && desk_line_put(&c->line, line, len);
	free(line);
	json_object_put(o);
	return sent;
}

struct json_object *desk_reply(const char *to, const char *error)
{
	struct json_build b = json_build_new();
	json_put(&b, "reply", json_object_new_string(to));
	json_put(&b, "ok", json_object_new_boolean(error == NULL));
	if (error)
		json_put(&b, "error", json_object_new_string(error));
	return json_build_done(&b);
}

struct json_object *desk_event_question(struct filed *f)
{
	struct json_build b = json_build_new();
	json_put(&b, "event", json_object_new_string("question"));
	json_put(&b, "question", question_json(f));
	return json_build_done(&b);
}

struct json_object *desk_event_gone(uint64_t id)
{
	struct json_build b = json_build_new();
	json_put(&b, "event", json_object_new_string("gone"));
	json_put(&b, "id", json_object_new_uint64(id));
	return json_build_done(&b);
}

/* The number under KEY, 0 when there is none. */
uint64_t desk_number_of(struct json_object *o, const char *key)
{
	struct json_object *v;
	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_int))
		return 0;
	return json_object_get_uint64(v);
}

static struct filed *open_question(struct desk *d, uint64_t id)
{
	for (struct paper *p = d->open; p; p = p->next) {
		if (p->id == id)
			return p->asked;
	}
	return NULL;
}

static struct json_object *do_hello(struct desk *d, struct client *c, struct json_object *in)
{
	const char *token = json_text(in, "token");
	if (!token || strlen(token) != DESK_TOKEN || sodium_memcmp(token, d->token, DESK_TOKEN) != 0)
		return desk_reply("hello", "wrong token");
	c->known = true;
	struct json_build b = json_build_of(desk_reply("hello", NULL));
	json_put(&b, "protocol", json_object_new_int(DESK_PROTOCOL));
	json_put(&b, "pid", json_object_new_int(d->number));
	char session[256];
	show_escape((struct span){ d->session, (uint32_t)strlen(d->session) }, session, sizeof(session));
	json_put(&b, "session", json_object_new_string(session));
	return json_build_done(&b);
}

static struct json_object *questions_reply(struct desk *d, const char *to)
{
	struct json_build b = json_build_of(desk_reply(to, NULL));
	struct json_list list = json_list_new(DESK_LIST);
	for (struct paper *p = d->open; list.o && p; p = p->next) {
		if (!p->answered && json_list_room(&list))
			json_list_add(&list, question_json(p->asked));
	}
	json_put_list(&b, "questions", &list);
	return json_build_done(&b);
}

static struct json_object *do_list(struct desk *d, struct client *c, struct json_object *in)
{
	return questions_reply(d, "list");
}

static struct json_object *do_watch(struct desk *d, struct client *c, struct json_object *in)
{
	c->watches = true;
	return questions_reply(d, "watch");
}

/* False where there is a file of grants and it cannot be written. Without one an answer for ever holds for the session. */
static bool may_keep(const struct desk *d)
{
	const char *file = policy_grants_file(questions_policy(d->qs));
	return !file || standing_writable(file);
}

/* What is said of question_answer()'s result, or -EROFS; NULL: nothing. */
static const char *answer_error(int rc)
{
	if (rc > 0)
		return UNKEPT;
	switch (rc) {
	case 0:
		return NULL;
	case -EROFS:
		return NO_GRANTS;
	case -EINVAL:
		return "the answer does not fit the question";
	case -ENOTDIR:
		return "the directory does not hold what is asked about";
	case -ENOMEM:
		return "out of memory";
	default:
		return "no such question: answered, withdrawn or timed out";
	}
}

static void mark_answered(struct desk *d, uint64_t id)
{
	for (struct paper *p = d->open; p; p = p->next) {
		if (p->id == id)
			p->answered = true;
	}
}

static struct json_object *do_answer(struct desk *d, struct client *c, struct json_object *in)
{
	const char *error = "out of memory";
	uint64_t id = desk_number_of(in, "id");
	struct filed *f = open_question(d, id);
	struct answer_read *r = malloc(sizeof(*r));
	size_t len = 0;
	if (!f)
		error = "no such question: answered, withdrawn or timed out";
	else if (r && answer_json(in, r, &error) == 0) {
		struct answer *n = &r->settlement.answer;
		snprintf(n->channel, sizeof(n->channel), "desk");
		snprintf(n->who, sizeof(n->who), "uid %u pid %d", c->uid, c->pid);
		struct json_object *q = question_json(f);
		char *line = json_line(q, &len);
		if (line)
			asked_shown(line, len, n->shown);
		free(line);
		json_object_put(q);
		bool kept = n->scope != SCOPE_ALWAYS || may_keep(d);
		int rc = kept ? question_answer(d->qs, id, &r->settlement) : -EROFS;
		error = answer_error(rc);
		if (rc >= 0)
			mark_answered(d, id);
	}
	free(r);
	return desk_reply("answer", error);
}

/* The rules that "always" would write, exactly. */
static struct json_object *do_rule(struct desk *d, struct client *c, struct json_object *in)
{
	const char *error = "no such question: answered, withdrawn or timed out";
	struct filed *f = open_question(d, desk_number_of(in, "id"));
	struct asked *a = f ? filed_open(f) : NULL;
	struct answer_read *r = malloc(sizeof(*r));
	char *text = malloc(STANDING_TEXT);
	struct json_object *o = NULL;
	if (a && r && text && answer_json(in, r, &error) == 0) {
		bool kept = may_keep(d);
		error = kept ? "no rule of the grants file can say this" : NO_GRANTS;
		if (kept && standing_rule(questions_policy(d->qs), a, &r->settlement, text, STANDING_TEXT) == 0) {
			struct json_build b = json_build_of(desk_reply("rule", NULL));
			json_put(&b, "text", json_object_new_string(text));
			const char *file = policy_grants_file(questions_policy(d->qs));
			if (file)
				json_put(&b, "file", json_object_new_string(file));
			o = json_build_done(&b);
		}
	}
	asked_free(a);
	free(text);
	free(r);
	return o ? o : desk_reply("rule", error);
}

static void put_span(struct json_build *b, const char *key, struct span v)
{
	if (v.bytes)
		json_put(b, key, json_span(v));
}

/* Of one that covers more than an object of its name, which: a name can look like either. */
static void put_reach(struct json_build *b, const struct grant *g)
{
	if (g->below)
		put_span(b, "directory", g->object.name);
	else if (g->pattern)
		json_put(b, "pattern", json_object_new_string_len(g->object.name.bytes, (int)g->object.name.len));
}

static void add_grant(void *context, const struct grant *g)
{
	static const char *const scopes[] = { "once", "time", "tree", "session", "always" };
	char name[96];
	struct text_buffer t;
	struct json_list *list = context;
	if (!json_list_room(list))
		return;
	struct json_build b = json_build_new();
	json_put(&b, "grant", json_object_new_uint64(g->id));
	json_put(&b, "answer", json_object_new_string(verdict_name(g->kind)));
	text_start(&t, name, sizeof(name));
	text_ops(&t, g->ops);
	json_put(&b, "op", json_object_new_string(name));
	json_put_name(&b, &g->object, !g->below ? "" : g->object.name.len == 1 ? "**" : "/**");
	put_reach(&b, g);
	put_span(&b, "exe", g->exe);
	put_span(&b, "argv0", g->argv0);
	put_span(&b, "argv", g->argv);
	json_put(&b, "scope", json_object_new_string(scopes[g->scope]));
	if (g->tree)
		json_put(&b, "tree", json_object_new_int(g->tree));
	if (g->until_ns) {
		uint64_t now = clock_now_ns();
		uint64_t left = g->until_ns > now ? (g->until_ns - now) / 1000000000u : 0;
		json_put(&b, "left", json_object_new_uint64(left));
	}
	json_put(&b, "who", json_object_new_string(g->who));
	json_list_add(list, json_build_done(&b));
}

static struct json_object *do_grants(struct desk *d, struct client *c, struct json_object *in)
{
	struct json_build b = json_build_of(desk_reply("grants", NULL));
	struct json_list list = json_list_new(DESK_LIST);
	grants_each(policy_grants(questions_policy(d->qs)), add_grant, &list);
	json_put_list(&b, "grants", &list);
	return json_build_done(&b);
}

static struct json_object *do_revoke(struct desk *d, struct client *c, struct json_object *in)
{
	char who[64];
	snprintf(who, sizeof(who), "uid %u pid %d", c->uid, c->pid);
	return desk_reply("revoke", question_revoke(d->qs, desk_number_of(in, "grant"), who) == 0 ? NULL : "no such grant");
}

static const struct {
	const char *word;
	struct json_object *(*serve)(struct desk *d, struct client *c, struct json_object *in);
} requests[] = {
	{ "hello", do_hello }, { "list", do_list },     { "watch", do_watch },   { "answer", do_answer },
	{ "rule", do_rule },   { "grants", do_grants }, { "revoke", do_revoke },
	{ "history", desk_do_history }, { "reviews", desk_do_reviews }, { "review", desk_do_review },
};

bool desk_serve(struct desk *d, struct client *c, const char *line, size_t len)
{
	struct json_object *in = json_read(line, len);
	const char *word = in ? json_text(in, "do") : NULL;
	struct json_object *out = NULL;
	bool served = false;
	for (size_t i = 0; word && i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(word, requests[i].word) == 0 && (c->known || i == 0)) {
			out = requests[i].serve(d, c, in);
			served = true; /* without memory for the reply the connection ends */
		}
	}
	if (!served)
		out = desk_reply("error", !in ? "not a JSON object" : c->known ? "unknown request" : "say hello with the token first");
	json_object_put(in);
	return desk_send(c, out) && c->known;
}
