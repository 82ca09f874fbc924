/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews of the sessions that run, over the desk's sockets. */
#include "tools/desk_review.h"

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/question_json.h"
#include "tools/desk_client.h"
#include "tools/desk_text.h"
#include "tools/tool.h"

#define TEXT DESK_TEXT

static void usage(void)
{
	fputs("usage: usher desk review [list] [--all] [--json]        what was allowed for review; --all: what was marked, too\n"
	      "       usher desk review show ID [--json]               one in full\n"
	      "       usher desk review right|wrong ID [--message=TEXT]  the mark goes into the journal\n"
	      "       usher desk review rules --journal=DIR [--journal=DIR ...]\n"
	      "                                                        all but what was marked wrong, as a rule file that denies the rest;\n"
	      "                                                        of several sessions, what was done in any of them\n"
	      "\n"
	      "With --journal=DIR the same for a session that is over: its marks go into the file 'reviews' beside the journal.\n"
	      "An ID is SESSION:rNUMBER as 'list' prints it, or rNUMBER where only one session has it.\n",
	      stdout);
}

static int complain(const char *what)
{
	fprintf(stderr, "usher: desk review: %s\n", what);
	return 1;
}

struct live {
	const struct review_call *call;
	struct desk_sessions all;
	struct json_object *reply[DESK_SESSIONS];
	char text[TEXT];
};

static struct json_object *reviews_of(struct live *l, int i)
{
	struct json_object *list;
	bool good = l->reply[i] && json_object_object_get_ex(l->reply[i], "reviews", &list);
	return good && json_object_is_type(list, json_type_array) ? list : NULL;
}

static void load(struct live *l)
{
	desk_sessions_init(&l->all);
	desk_look(&l->all);
	for (int i = 0; i < DESK_SESSIONS; i++) {
		if (l->all.at[i].line.fd >= 0)
			l->reply[i] = desk_request(&l->all.at[i], desk_make("reviews", NULL, 0));
	}
}

static void unload(struct live *l)
{
	for (int i = 0; i < DESK_SESSIONS; i++)
		json_object_put(l->reply[i]);
	desk_sessions_free(&l->all);
	free(l);
}

static void print_json(pid_t pid, struct json_object *o)
{
	json_object_object_add(o, "usher", json_object_new_int(pid));
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void print_review(struct live *l, pid_t pid, struct json_object *v)
{
	char mark[8];
	if (!l->call->all && strcmp(desk_field(v, "mark", mark, sizeof(mark)), "open") != 0)
		return;
	if (l->call->json) {
		print_json(pid, v);
		return;
	}
	desk_text_review(v, l->text, sizeof(l->text));
	printf("%d:r%-5llu %s\n", pid, (unsigned long long)desk_number(v, "review"), l->text);
}

static int do_list(struct live *l)
{
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct json_object *list = reviews_of(l, i);
		for (size_t k = 0; list && k < json_object_array_length(list); k++)
			print_review(l, l->all.at[i].pid, json_object_array_get_idx(list, k));
		unsigned long long beyond = list ? desk_number(l->reply[i], "beyond") : 0;
		if (beyond && !l->call->json)
			printf("%d: and %llu calls more than are kept here; the journal has them\n", l->all.at[i].pid, beyond);
	}
	if (l->all.count == 0 && !l->call->json)
		fprintf(stderr, "usher: desk: no session is running here; --journal=DIR looks at one that is over\n");
	return 0;
}

/* The review that the ID names, and its session. NULL: said why. */
static struct json_object *find(struct live *l, struct desk_session **session)
{
	const char *colon = strchr(l->call->id, ':'), *at = colon ? colon + 1 : l->call->id;
	bool named = colon != NULL;
	char *end;
	unsigned long long first = named ? strtoull(l->call->id, NULL, 10) : 0;
	unsigned long long number = *at == 'r' ? strtoull(at + 1, &end, 10) : 0;
	struct json_object *found = NULL;
	if (!number || *end) {
		complain("an ID is SESSION:rNUMBER or rNUMBER");
		return NULL;
	}
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct json_object *list = reviews_of(l, i);
		for (size_t k = 0; list && k < json_object_array_length(list); k++) {
			struct json_object *v = json_object_array_get_idx(list, k);
			if (desk_number(v, "review") != number || (named && (unsigned long long)l->all.at[i].pid != first))
				continue;
			if (found) {
				complain("several sessions have that number: name one, SESSION:rNUMBER");
				return NULL;
			}
			found = v;
			*session = &l->all.at[i];
		}
	}
	if (!found)
		complain("no such review");
	return found;
}

static int do_show(struct live *l)
{
	struct desk_session *s;
	struct json_object *v = find(l, &s);
	if (!v)
		return 1;
	if (l->call->json) {
		print_json(s->pid, v);
		return 0;
	}
	desk_text_all(v, l->text, sizeof(l->text));
	fputs(l->text, stdout);
	return 0;
}

static int do_mark(struct live *l)
{
	struct desk_session *s;
	const char *error;
	struct json_object *v = find(l, &s);
	if (!v)
		return 1;
	struct json_object *o = desk_make("review", "review", desk_number(v, "review"));
	json_object_object_add(o, "mark", json_object_new_string(l->call->word));
	json_object_object_add(o, "message", json_object_new_string(l->call->message));
	struct json_object *reply = desk_request(s, o);
	int rc = desk_ok(reply, &error) ? 0 : complain(error);
	json_object_put(reply);
	return rc;
}

/* A line about word WORD of the review; false, as it is none to go on with. */
static bool refuse(const char *word, const char *what)
{
	fprintf(stderr, "usher desk review%s%s: %s\n", word ? " " : "", word ? word : "", what);
	return false;
}

static bool unknown(const char *word)
{
	tool_unexpected("desk review", word);
	return false;
}

/* Whether all that was given belongs to C's word, and has an effect; told if not. */
static bool holds(const struct review_call *c)
{
	bool list = strcmp(c->word, "list") == 0, show = strcmp(c->word, "show") == 0, rules = strcmp(c->word, "rules") == 0;
	bool mark = strcmp(c->word, "right") == 0 || strcmp(c->word, "wrong") == 0;
	if (!list && !show && !rules && !mark)
		return unknown(c->word);
	if (c->id && (list || rules))
		return refuse(c->word, "it takes no ID");
	if (!c->id && (show || mark))
		return refuse(c->word, "of which? 'usher desk review' shows the IDs");
	if (c->json && (mark || rules))
		return refuse(c->word, "it has no --json; 'usher desk review --help' tells what has");
	if (c->all && !list)
		return refuse(c->word, "it has no --all; 'usher desk review --help' tells what has");
	if (c->message[0] && !mark)
		return refuse(c->word, "it has no --message; 'usher desk review --help' tells what has");
	if (c->journals > 1 && !rules)
		return refuse(c->word, "it looks at one journal");
	if (rules && !c->journals)
		return refuse(c->word, "of which session? --journal=DIR names its journal; 'usher log sessions' lists them");
	return true;
}

static bool parse(struct review_call *c, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = NULL;
		if (strcmp(argv[i], "--json") == 0)
			c->json = true;
		else if (strcmp(argv[i], "--all") == 0)
			c->all = true;
		else if (tool_value("--message", argc, argv, &i, &value) && value)
			c->message = value;
		else if (tool_value("--journal", argc, argv, &i, &value) && value) {
			if (c->journals == REVIEW_JOURNALS)
				return refuse(NULL, "more than 64 journals");
			c->journal[c->journals++] = value;
		}
		else if (strcmp(argv[i], "--message") == 0 || strcmp(argv[i], "--journal") == 0)
			return refuse(NULL, argv[i][2] == 'm' ? "--message needs a value behind it" : "--journal needs a value behind it: the directory of a journal");
		else if (argv[i][0] == '-' || c->id)
			return unknown(argv[i]);
		else if (!c->word)
			c->word = argv[i];
		else
			c->id = argv[i];
	}
	if (!c->word)
		c->word = "list";
	return holds(c);
}

int desk_review(int argc, char **argv)
{
	struct review_call c = { .message = "" };
	if (tool_help(argc, argv)) {
		usage();
		return 0;
	}
	if (!parse(&c, argc, argv))
		return 125;
	if (c.journals)
		return review_journal(&c);
	struct live *l = calloc(1, sizeof(*l));
	if (!l)
		return complain("out of memory");
	l->call = &c;
	load(l);
	int rc = !c.id ? do_list(l) : strcmp(c.word, "show") == 0 ? do_show(l) : do_mark(l);
	unload(l);
	return rc;
}
