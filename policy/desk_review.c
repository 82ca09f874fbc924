/* SPDX-License-Identifier: Apache-2.0 */
/* The desk's requests about what has happened: answers given, and what was allowed for review. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "policy/desk_state.h"
#include "policy/json_build.h"
#include "policy/question_json.h"
#include "policy/reviews.h"

static struct json_object *review_json(struct filed *f, const struct review *v)
{
	struct json_build b = json_build_of(question_json(f));
	if (b.broken)
		return NULL;
	json_object_object_del(b.o, "id"); /* a review is no question: nobody can answer it */
	json_object_object_del(b.o, "left");
	json_put(&b, "review", json_object_new_uint64(f->id));
	json_put(&b, "mark", json_object_new_string(review_word(v ? v->mark : REVIEW_OPEN)));
	if (v && v->mark != REVIEW_OPEN) {
		json_put(&b, "who", json_object_new_string(v->who));
		json_put(&b, "message", json_object_new_string(v->message));
	}
	return json_build_done(&b);
}

struct json_object *desk_event_review(struct filed *f)
{
	struct json_build b = json_build_new();
	json_put(&b, "event", json_object_new_string("review"));
	json_put(&b, "review", review_json(f, NULL));
	return json_build_done(&b);
}

static void add_review(void *context, const struct review *v)
{
	struct json_list *list = context;
	if (json_list_room(list))
		json_list_add(list, review_json(v->asked, v));
}

struct json_object *desk_do_reviews(struct desk *d, struct client *c, struct json_object *in)
{
	struct json_build b = json_build_of(desk_reply("reviews", NULL));
	struct json_list list = json_list_new(DESK_LIST);
	uint32_t beyond;
	reviews_each(questions_reviews(d->qs), add_review, &list);
	json_put_list(&b, "reviews", &list);
	reviews_open(questions_reviews(d->qs), &beyond);
	json_put(&b, "beyond", json_object_new_int64(beyond));
	return json_build_done(&b);
}

static const char *scope_word(enum answer_scope scope)
{
	static const char *const words[] = { "once", "time", "tree", "session", "always" };
	return words[scope];
}

static void add_past(void *context, const struct past *p)
{
	struct json_list *list = context;
	if (!json_list_room(list))
		return;
	struct json_build b = json_build_of(question_json(p->asked));
	if (!b.broken)
		json_object_object_del(b.o, "left");
	json_put(&b, "count", json_object_new_int64(p->callers));
	json_put(&b, "at", json_object_new_int64(p->at));
	json_put(&b, "answer", json_object_new_string(verdict_name(p->kind)));
	json_put(&b, "scope", json_object_new_string(scope_word(p->scope)));
	json_put(&b, "channel", json_object_new_string(p->channel));
	json_put(&b, "who", json_object_new_string(p->who));
	json_put(&b, "message", json_object_new_string(p->message));
	json_list_add(list, json_build_done(&b));
}

struct json_object *desk_do_history(struct desk *d, struct client *c, struct json_object *in)
{
	struct json_build b = json_build_of(desk_reply("history", NULL));
	struct json_list list = json_list_new(DESK_LIST);
	questions_past(d->qs, add_past, &list);
	json_put_list(&b, "history", &list);
	return json_build_done(&b);
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
