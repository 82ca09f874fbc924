/* SPDX-License-Identifier: Apache-2.0 */
/* What keys do, and the lines that some of them need. */
#include <curses.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "policy/question_json.h"
#include "policy/show.h"
#include "tools/desk_answer.h"
#include "tools/desk_screen_state.h"

/* One key into LINE, a byte of a letter beyond ASCII as names show it. 1: taken as it is, -1: given up, 0: go on. */
static int edit(char *line, size_t cap, int key)
{
	size_t len = strlen(line);
	if (key == '\n' || key == '\r' || key == KEY_ENTER)
		return 1;
	if (key == 27)
		return -1;
	if (key == KEY_BACKSPACE || key == 127 || key == 8)
		show_erase(line);
	else if (key == 21)
		line[0] = '\0';
	else if (key >= 0x20 && key < 0x7f && len + 1 < cap) {
		line[len] = (char)key;
		line[len + 1] = '\0';
	} else if (key >= 0x80 && key <= 0xff && len + 4 < cap)
		snprintf(line + len, cap - len, "\\x%02x", (unsigned)key);
	return 0;
}

static void draw_line(const char *prompt, const char *line)
{
	int room = COLS - (int)strlen(prompt) - 2, len = (int)strlen(line);
	move(LINES - 1, 0);
	clrtoeol();
	attron(A_BOLD);
	addnstr(prompt, COLS - 1);
	attroff(A_BOLD);
	if (room > 0)
		addstr(len > room ? line + len - room : line); /* the end is what is being typed */
	refresh();
}

bool screen_line(struct screen_desk *d, const char *prompt, char *line, size_t cap)
{
	pid_t pid = d->chosen_pid;
	uint64_t chosen = d->chosen;
	int done = 0;
	d->line = true;
	d->line_left = false;
	curs_set(1);
	while (!done) {
		draw_line(prompt, line);
		screen_listen(d);
		if (d->line_left || d->ended_by)
			done = -1;
		else if (d->chosen != chosen || d->chosen_pid != pid) {
			snprintf(d->status, sizeof(d->status), "%d:%llu has gone: answered, withdrawn or timed out", pid, (unsigned long long)chosen);
			done = -1;
		}
		for (int key = done ? ERR : getch(); !done && key != ERR; key = done ? ERR : getch())
			done = key == KEY_RESIZE ? 0 : edit(line, cap, key);
	}
	curs_set(0);
	d->line = false;
	return done > 0;
}

static bool agree(struct screen_desk *d, const char *prompt)
{
	char line[8] = "";
	return screen_line(d, prompt, line, sizeof(line)) && strcmp(line, "y") == 0;
}

/* Whether there is a question that a person has had time to read. */
static bool ready(struct screen_desk *d)
{
	if (d->n_rows == 0)
		return false;
	if (!screen_fresh_ms(d))
		return true;
	snprintf(d->status, sizeof(d->status), "this one has just come to the front: look again");
	return false;
}

static void send_answer(struct screen_desk *d, struct desk_answer *a)
{
	char error[256];
	unsigned long long id = d->chosen;
	pid_t pid = d->chosen_pid;
	if (d->pattern[0])
		a->pattern = d->pattern;
	bool bad = desk_answer(d->rows[d->at].session, id, a, error, sizeof(error)) < 0;
	if (bad)
		snprintf(d->status, sizeof(d->status), "%d:%llu: %s", pid, id, error);
	else
		snprintf(d->status, sizeof(d->status), "%d:%llu: %s%s%s", pid, id, a->word, a->scope ? ", " : "", a->scope ? a->scope : "");
}

/* Shows the rules exactly as they would be written, and writes them on y. */
static void answer_always(struct screen_desk *d, const char *word)
{
	struct desk_answer a = { .word = word, .scope = "always", .pattern = d->pattern[0] ? d->pattern : NULL };
	char file[4200];
	int rc = desk_answer_rule(d->rows[d->at].session, d->chosen, &a, d->text, sizeof(d->text), file, sizeof(file));
	if (rc < 0 || !file[0]) {
		snprintf(d->status, sizeof(d->status), "%.400s", rc < 0 ? d->text : "this session has no file of grants");
		return;
	}
	erase();
	mvprintw(0, 0, "to %s:\n\n%s", file, d->text);
	if (agree(d, "write it? y and Enter: "))
		send_answer(d, &a);
}

static void answer_time(struct screen_desk *d, const char *word, const char *prompt, const char *proposed)
{
	char scope[32];
	snprintf(scope, sizeof(scope), "%s", proposed);
	if (!screen_line(d, prompt, scope, sizeof(scope)))
		return;
	struct desk_answer a = { .word = word, .scope = scope };
	if (strcmp(scope, "always") == 0)
		answer_always(d, word);
	else
		send_answer(d, &a);
}

static void answer_message(struct screen_desk *d)
{
	char message[200] = "";
	if (!screen_line(d, "deny, and say: ", message, sizeof(message)))
		return;
	struct desk_answer a = { .word = "deny", .scope = "once", .message = message };
	send_answer(d, &a);
}

static void answer_rewrite(struct screen_desk *d)
{
	char target[2048] = "";
	if (!screen_line(d, "the object instead: ", target, sizeof(target)) || !target[0])
		return;
	struct desk_answer a = { .word = "rewrite", .scope = "once", .target = target };
	d->pattern[0] = '\0';
	send_answer(d, &a);
}

/* It starts as the object's directory; a person edits it. Characters that patterns give a meaning are quoted. */
static void edit_pattern(struct screen_desk *d)
{
	char line[sizeof(d->pattern)], object[sizeof(d->pattern)];
	size_t n = 0;
	desk_field(d->rows[d->at].item, "object", object, sizeof(object));
	char *slash = object[0] == '/' ? strrchr(object, '/') : NULL;
	if (slash)
		slash[1] = '\0';
	for (const char *p = object; *p && n + 4 < sizeof(line); p++) {
		if (strchr("*?[]{}", *p) || *p == '"')
			line[n++] = '\\';
		line[n++] = *p;
	}
	snprintf(line + n, sizeof(line) - n, "%s", slash ? "**" : "");
	if (screen_line(d, "for which names, then a key: ", line, sizeof(line)))
		snprintf(d->pattern, sizeof(d->pattern), "%s", line);
}

/* Ctrl-Space is key 0, which strchr() finds at the end of every text. */
static bool is_one_of(int key, const char *letters)
{
	return key > 0 && strchr(letters, key);
}

static void on_question(struct screen_desk *d, int key)
{
	static const struct {
		int key;
		const char *word;
		const char *scope;
	} plain[] = { { 'o', "allow", "once" }, { 's', "allow", "session" }, { 't', "allow", "tree" }, { 'd', "deny", "once" } };
	if (!is_one_of(key, "ostdmaDxrkp") || !ready(d))
		return;
	d->status[0] = '\0';
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct desk_answer a = { .word = plain[i].word, .scope = plain[i].scope };
		if (plain[i].key == key)
			send_answer(d, &a);
	}
	if (key == 'm')
		answer_time(d, "allow", "allow for (10m, 2h): ", "10m");
	if (key == 'a')
		answer_always(d, "allow");
	if (key == 'D')
		answer_time(d, "deny", "deny for (session, tree, 10m, always): ", "session");
	if (key == 'x')
		answer_message(d);
	if (key == 'r')
		answer_rewrite(d);
	if (key == 'p')
		edit_pattern(d);
	struct desk_answer end = { .word = "kill", .scope = "once" };
	if (key == 'k' && agree(d, "kill every process of the command? y and Enter: ")) {
		d->pattern[0] = '\0';
		send_answer(d, &end);
	}
}

static void tell(struct screen_desk *d, struct json_object *request, const char *done)
{
	const char *error;
	unsigned long long id = d->chosen;
	struct json_object *reply = desk_request(d->rows[d->at].session, request);
	bool good = desk_ok(reply, &error);
	snprintf(d->status, sizeof(d->status), "%llu: %s", id, good ? done : error);
	json_object_put(reply);
}

static void mark(struct screen_desk *d, const char *word, bool message)
{
	char said[200] = "";
	if (message && !screen_line(d, "wrong, because: ", said, sizeof(said)))
		return;
	struct json_object *o = desk_make("review", "review", d->chosen);
	json_object_object_add(o, "mark", json_object_new_string(word));
	json_object_object_add(o, "message", json_object_new_string(said));
	tell(d, o, word);
}

static void turn_to(struct screen_desk *d, enum page page)
{
	d->page = page;
	d->help = false;
	d->chosen = 0;
	d->at = 0;
	d->status[0] = '\0';
}

static bool move_key(struct screen_desk *d, int key)
{
	size_t page = LINES > 9 ? (size_t)LINES / 3 : 3, last = d->n_rows ? d->n_rows - 1 : 0;
	switch (key) {
	case KEY_UP:
		screen_choose(d, d->at ? d->at - 1 : 0);
		return true;
	case KEY_DOWN:
		screen_choose(d, d->at < last ? d->at + 1 : last);
		return true;
	case KEY_PPAGE:
		screen_choose(d, d->at > page ? d->at - page : 0);
		return true;
	case KEY_NPAGE:
		screen_choose(d, d->at + page < last ? d->at + page : last);
		return true;
	case KEY_HOME:
		screen_choose(d, 0);
		return true;
	case KEY_END:
		screen_choose(d, last);
		return true;
	case ' ':
		d->scroll += d->more ? 5 : 0;
		return true;
	case 'b':
		d->scroll -= d->scroll < 5 ? d->scroll : 5;
		return true;
	default:
		return false;
	}
}

/* What stood behind the help has not been read: it is as if it had just come. */
static void turn_help(struct screen_desk *d, bool help)
{
	d->help = help;
	d->scroll = 0;
	screen_came(d);
}

/* A key that means something to the selected row. */
static void on_row(struct screen_desk *d, int key)
{
	if (d->page == PAGE_QUESTIONS)
		on_question(d, key);
	else if (d->page == PAGE_GRANTS && key == 'R' && d->n_rows)
		tell(d, desk_make("revoke", "grant", d->chosen), "revoked");
	else if (d->page == PAGE_REVIEWS && is_one_of(key, "ynN") && d->n_rows)
		mark(d, key == 'y' ? "right" : "wrong", key == 'N');
}

bool screen_key(struct screen_desk *d, int key)
{
	if (key < 0x100)
		screen_typed(d);
	if (key == 'q')
		return false;
	if (key >= '1' && key <= '4')
		turn_to(d, (enum page)(key - '1'));
	else if (key == 'g')
		turn_to(d, d->page == PAGE_GRANTS ? PAGE_QUESTIONS : PAGE_GRANTS);
	else if (key == '\t')
		turn_to(d, (enum page)((d->page + 1) % PAGES));
	else if (key == '?')
		turn_help(d, !d->help);
	else if (!move_key(d, key) && key < 0x100) {
		if (d->help)
			turn_help(d, false);
		else
			on_row(d, key);
	}
	return true;
}
