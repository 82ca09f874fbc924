/* SPDX-License-Identifier: Apache-2.0 */
/* usher desk: answers questions from any terminal. Statuses: 0 done, 1 could not be done, 125 a wrong command line. */
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/question_json.h"
#include "tools/desk_client.h"
#include "tools/desk_options.h"
#include "tools/desk_review.h"
#include "tools/desk_screen.h"
#include "tools/desk_standing.h"
#include "tools/desk_text.h"
#include "tools/tool.h"

#define TEXT DESK_TEXT
#define WRONG_USAGE 125

static void usage(void)
{
	fputs("usage: usher desk                     the desk on the whole screen\n"
	      "       usher desk list [--json]       what waits for an answer, in all sessions\n"
	      "       usher desk show ID [--json]    one question in full\n"
	      "       usher desk allow ID [--for=once|session|tree|10m] [--always [--yes]] [--directory=DIR|--pattern=PATTERN] [--message=TEXT]\n"
	      "       usher desk deny ID [as allow]\n"
	      "       usher desk kill ID [--message=TEXT]          ends the whole session\n"
	      "       usher desk rewrite ID NAME [--message=TEXT]  another object instead\n"
	      "       usher desk watch [--json]      what waits, then what comes and goes (--json: events)\n"
	      "       usher desk grants [--json]     answers that hold on, those for ever among them (with their place: edit it to take one back)\n"
	      "       usher desk revoke ID           takes one back\n"
	      "       usher desk review [...]        what was allowed for review; see usher desk review --help\n"
	      "\n"
	      "An ID is SESSION:NUMBER as 'list' prints it, or NUMBER where only one session has it.\n"
	      "--always shows the rule it would write and asks; --yes does not ask.\n"
	      "The protocol is described in usher-desk(5).\n",
	      stdout);
}

struct desk_call {
	struct desk_sessions all;
	struct desk_options o;
	char text[TEXT];
};

static int complain(const char *what)
{
	fprintf(stderr, "usher: desk: %s\n", what);
	return 1;
}

static void print_json(pid_t pid, struct json_object *o)
{
	json_object_object_add(o, "usher", json_object_new_int(pid));
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(stdout);
}

static void print_question(struct desk_call *c, struct desk_session *s, struct json_object *q)
{
	char id[48];
	if (c->o.json) {
		print_json(s->pid, q);
		return;
	}
	desk_text_id(s->pid, q, id, sizeof(id));
	desk_text_line(q, c->text, sizeof(c->text));
	printf("%-12s %-12s %s\n", id, s->name, c->text);
	fflush(stdout);
}

static void tell_none(const struct desk_call *c)
{
	if (c->all.count == 0 && !c->o.json)
		fprintf(stderr, "usher: desk: no session asks here%s\n", c->all.refused ? " that lets you in" : "");
}

static int do_list(struct desk_call *c)
{
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct desk_session *s = &c->all.at[i];
		for (size_t k = 0; s->line.fd >= 0 && k < json_object_array_length(s->questions); k++)
			print_question(c, s, json_object_array_get_idx(s->questions, k));
	}
	if (c->all.more && !c->o.json)
		fprintf(stderr, "usher: desk: %llu more wait, for which there is no room before some of these are answered\n", (unsigned long long)c->all.more);
	tell_none(c);
	return 0;
}

static struct json_object *question_of(struct desk_session *s, uint64_t id)
{
	for (size_t k = 0; s->line.fd >= 0 && k < json_object_array_length(s->questions); k++) {
		struct json_object *q = json_object_array_get_idx(s->questions, k);
		if (desk_number(q, "id") == id)
			return q;
	}
	return NULL;
}

/* SESSION:NUMBER or NUMBER. With QUESTION the session must have that question; else it is enough that there is one session. */
static struct desk_session *find(struct desk_call *c, bool question, uint64_t *number)
{
	char *end;
	struct desk_session *found = NULL;
	unsigned long long first = strtoull(c->o.id, &end, 10);
	bool named = *end == ':';
	*number = named ? strtoull(end + 1, &end, 10) : first;
	if (*end || end == c->o.id || !*number) {
		complain("an ID is SESSION:NUMBER or NUMBER");
		return NULL;
	}
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct desk_session *s = &c->all.at[i];
		if (s->line.fd < 0 || (named && (unsigned long long)s->pid != first) || (question && !question_of(s, *number)))
			continue;
		if (found) {
			complain("several sessions have that number: name one, SESSION:NUMBER");
			return NULL;
		}
		found = s;
	}
	if (!found)
		complain(question ? "no such question: answered, withdrawn or timed out" : "no such session");
	return found;
}

static int do_show(struct desk_call *c)
{
	uint64_t id;
	struct desk_session *s = find(c, true, &id);
	if (!s)
		return 1;
	if (c->o.json) {
		print_json(s->pid, question_of(s, id));
		return 0;
	}
	desk_text_all(question_of(s, id), c->text, sizeof(c->text));
	fputs(c->text, stdout);
	return 0;
}

/* The rule for ever is shown exactly before it is written. */
static bool agreed(struct desk_call *c, struct desk_session *s, uint64_t id)
{
	char file[4200], line[16];
	if (desk_answer_rule(s, id, &c->o.answer, c->text, sizeof(c->text), file, sizeof(file)) < 0) {
		complain(c->text);
		return false;
	}
	if (!file[0]) {
		complain("this session has no file of grants");
		return false;
	}
	printf("to %s:\n%s", file, c->text);
	fflush(stdout);
	if (c->o.yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		complain("--always needs --yes where nobody can be asked");
		return false;
	}
	fputs("write it? [y/N] ", stdout);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) && strcmp(line, "y\n") == 0;
}

static int do_answer(struct desk_call *c)
{
	uint64_t id;
	char error[256];
	struct desk_session *s = find(c, true, &id);
	c->o.answer.word = c->o.word;
	if (!s)
		return 1;
	if (c->o.answer.scope && strcmp(c->o.answer.scope, "always") == 0 && !agreed(c, s, id))
		return 1;
	return desk_answer(s, id, &c->o.answer, error, sizeof(error)) < 0 ? complain(error) : 0;
}

static void watched(void *context, struct desk_session *s, struct json_object *event)
{
	struct desk_call *c = context;
	struct json_object *q;
	if (c->o.json)
		print_json(s->pid, event);
	else if (json_object_object_get_ex(event, "question", &q))
		print_question(c, s, q);
	else if (json_object_object_get_ex(event, "review", &q)) {
		desk_text_review(q, c->text, sizeof(c->text));
		printf("%d:r%-7llu review %s\n", s->pid, (unsigned long long)desk_number(q, "review"), c->text);
	}
	else
		printf("%d:%-8llu gone\n", s->pid, (unsigned long long)desk_number(event, "id"));
	fflush(stdout);
}

/* What waits in a session that has just been seen, as if it came now. */
static void print_waiting(struct desk_call *c, struct desk_session *s)
{
	for (size_t k = 0; s->line.fd >= 0 && k < json_object_array_length(s->questions); k++) {
		struct json_object *q = json_object_array_get_idx(s->questions, k), *event = c->o.json ? json_object_new_object() : NULL;
		if (event) {
			json_object_object_add(event, "event", json_object_new_string("question"));
			json_object_object_add(event, "question", json_object_get(q));
			print_json(s->pid, event);
			json_object_put(event);
		} else {
			print_question(c, s, q);
		}
	}
}

/* Takes up sessions that have begun; their first questions may be older than the sight of them. */
static void look_again(struct desk_call *c)
{
	pid_t before[DESK_SESSIONS];
	for (int i = 0; i < DESK_SESSIONS; i++)
		before[i] = c->all.at[i].line.fd >= 0 ? c->all.at[i].pid : 0;
	desk_look(&c->all);
	for (int i = 0; i < DESK_SESSIONS; i++)
		if (c->all.at[i].pid != before[i])
			print_waiting(c, &c->all.at[i]);
}

static int do_watch(struct desk_call *c)
{
	for (int i = 0; i < DESK_SESSIONS; i++)
		print_waiting(c, &c->all.at[i]);
	tell_none(c);
	for (;;) {
		struct pollfd p[DESK_SESSIONS];
		for (int i = 0; i < DESK_SESSIONS; i++)
			p[i] = (struct pollfd){ .fd = c->all.at[i].line.fd, .events = POLLIN };
		if (poll(p, DESK_SESSIONS, 1000) < 0)
			return 1;
		for (int i = 0; i < DESK_SESSIONS; i++) {
			if (p[i].revents)
				desk_read(&c->all.at[i], watched, c);
		}
		look_again(c);
	}
}

static int do_grants(struct desk_call *c)
{
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct desk_session *s = &c->all.at[i];
		struct json_object *list, *reply = s->line.fd >= 0 ? desk_request(s, desk_make("grants", NULL, 0)) : NULL;
		bool good = reply && json_object_object_get_ex(reply, "grants", &list) && json_object_is_type(list, json_type_array);
		for (size_t k = 0; good && k < json_object_array_length(list); k++) {
			struct json_object *g = json_object_array_get_idx(list, k);
			if (c->o.json) {
				print_json(s->pid, g);
				continue;
			}
			desk_text_grant(g, c->text, sizeof(c->text));
			printf("%d:%-6llu %s\n", s->pid, (unsigned long long)desk_number(g, "grant"), c->text);
		}
		json_object_put(reply);
	}
	int rc = desk_standing(c->o.json);
	return rc < 0 ? complain(strerror(-rc)) : rc;
}

static int do_revoke(struct desk_call *c)
{
	uint64_t id;
	const char *error;
	struct desk_session *s = find(c, false, &id);
	if (!s)
		return 1;
	struct json_object *reply = desk_request(s, desk_make("revoke", "grant", id));
	int rc = desk_ok(reply, &error) ? 0 : complain(error);
	json_object_put(reply);
	return rc;
}

static const struct {
	const char *word;
	bool id;
	unsigned has; /* options */
	int (*run)(struct desk_call *c);
} words[] = {
	{ "list", false, DESK_JSON, do_list },
	{ "show", true, DESK_JSON, do_show },
	{ "allow", true, DESK_SCOPE | DESK_MESSAGE, do_answer },
	{ "deny", true, DESK_SCOPE | DESK_MESSAGE, do_answer },
	{ "kill", true, DESK_MESSAGE, do_answer },
	{ "rewrite", true, DESK_MESSAGE, do_answer },
	{ "watch", false, DESK_JSON, do_watch },
	{ "grants", false, DESK_JSON, do_grants },
	{ "revoke", true, 0, do_revoke },
};

static int perform(struct desk_call *c)
{
	size_t i = 0, n = sizeof(words) / sizeof(words[0]);
	while (i < n && strcmp(words[i].word, c->o.word) != 0)
		i++;
	if (i == n) {
		tool_unexpected("desk", c->o.word);
		return WRONG_USAGE;
	}
	if (words[i].id != (c->o.id != NULL)) {
		fprintf(stderr, "usher desk %s: %s\n", c->o.word, c->o.id ? "it takes no ID" :
			"of which? 'usher desk list' and 'usher desk grants' show the IDs");
		return WRONG_USAGE;
	}
	if (!desk_options_hold(&c->o, words[i].has))
		return WRONG_USAGE;
	desk_sessions_init(&c->all);
	desk_look(&c->all);
	int rc = words[i].run(c);
	desk_sessions_free(&c->all);
	return rc;
}

static int whole_screen(void)
{
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (terminal && desk_screen_possible())
		return desk_screen();
	fprintf(stderr, "usher desk: the whole screen needs a terminal%s; 'usher desk list', show, allow and deny do without\n",
		terminal ? " whose cursor can be moved, and TERM names none" : "");
	return WRONG_USAGE;
}

static int desk_main(int argc, char **argv)
{
	if (argc < 2)
		return whole_screen();
	if (strcmp(argv[1], "review") == 0)
		return desk_review(argc - 1, argv + 1);
	if (tool_help(argc, argv)) {
		usage();
		return 0;
	}
	struct desk_call *c = calloc(1, sizeof(*c));
	if (!c)
		return complain("out of memory");
	int rc = desk_options_parse(&c->o, argc, argv) ? perform(c) : WRONG_USAGE;
	free(c);
	return rc;
}

const struct tool tool_desk = {
	.name = "desk",
	.usage = "[list|show|allow|deny|kill|rewrite|watch|grants|revoke|review] [ID] [--json]",
	.summary = "answer questions from any terminal",
	.main = desk_main,
};
