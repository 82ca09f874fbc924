/* SPDX-License-Identifier: Apache-2.0 */
/* The desk's requests about what has happened: answers given, and what was allowed for review. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "policy/desk_state.h"
#include "policy/question_json.h"
#include "policy/reviews.h"

static struct json_object *review_json(const struct asked *a, const struct review *v)
{
	struct json_object *o = question_json(a);
	if (!o)
		return NULL;
	json_object_object_del(o, "id"); /* a review is no question: nobody can answer it */
	json_object_object_del(o, "left");
	json_object_object_add(o, "review", json_object_new_uint64(a->id));
	json_object_object_add(o, "mark", json_object_new_string(review_word(v ? v->mark : REVIEW_OPEN)));
	if (v && v->mark != REVIEW_OPEN) {
		json_object_object_add(o, "who", json_object_new_string(v->who));
		json_object_object_add(o, "message", json_object_new_string(v->message));
	}
	return o;
}

struct json_object *desk_event_review(const struct asked *a)
{
	struct json_object *o = json_object_new_object();
	json_object_object_add(o, "event", json_object_new_string("review"));
	json_object_object_add(o, "review", review_json(a, NULL));
	return o;
}

static void add_review(void *list, const struct review *v)
{
	json_object_array_add(list, review_json(v->asked, v));
}

struct json_object *desk_do_reviews(struct desk *d, struct client *c, struct json_object *in)
{
	struct json_object *o = desk_reply("reviews", NULL), *list = json_object_new_array();
	uint32_t beyond;
	reviews_each(questions_reviews(d->qs), add_review, list);
	json_object_object_add(o, "reviews", list);
	reviews_open(questions_reviews(d->qs), &beyond);
	json_object_object_add(o, "beyond", json_object_new_int64(beyond));
	return o;
}

static const char *scope_word(enum answer_scope scope)
{
	static const char *const words[] = { "once", "time", "tree", "session", "always" };
	return words[scope];
}

static void add_past(void *list, const struct past *p)
{
	struct json_object *o = question_json(p->asked);
	if (!o)
		return;
	json_object_object_del(o, "left");
	json_object_object_add(o, "count", json_object_new_int64(p->callers));
	json_object_object_add(o, "at", json_object_new_int64(p->at));
	json_object_object_add(o, "answer", json_object_new_string(verdict_name(p->kind)));
	json_object_object_add(o, "scope", json_object_new_string(scope_word(p->scope)));
	json_object_object_add(o, "channel", json_object_new_string(p->channel));
	json_object_object_add(o, "who", json_object_new_string(p->who));
	json_object_object_add(o, "message", json_object_new_string(p->message));
	json_object_array_add(list, o);
}

struct json_object *desk_do_history(struct desk *d, struct client *c, struct json_object *in)
{
	struct json_object *o = desk_reply("history", NULL), *list = json_object_new_array();
	questions_past(d->qs, add_past, list);
	json_object_object_add(o, "history", list);
	return o;
}

static enum review_mark mark_of(const char *word)
{
	if (word && strcmp(word, "right") == 0)
		return REVIEW_RIGHT;
	return word && strcmp(word, "wrong") == 0 ? REVIEW_WRONG : REVIEW_OPEN;
}

struct json_object *desk_do_review(struct desk *d, struct client *c, struct json_object *in)
{
	char who[64], message[ANSWER_TEXT];
	enum review_mark mark = mark_of(json_text(in, "mark"));
	const char *said = json_text(in, "message");
	if (mark == REVIEW_OPEN)
		return desk_reply("review", "\"mark\" must be right or wrong");
	snprintf(who, sizeof(who), "uid %u pid %d", c->uid, c->pid);
	snprintf(message, sizeof(message), "%s", said ? said : "");
	show_clean(message);
	int rc = question_review(d->qs, desk_number_of(in, "review"), mark, who, message);
	return desk_reply("review", rc == 0 ? NULL : "no such review, or it was marked before");
}
