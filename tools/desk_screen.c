/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desk on the whole screen: the queue above, one question in full below.
 *
 * MUST: a key answers only the question that was on the screen when it was pressed (the
 * selection follows the question, not the row); nothing unescaped is drawn.
 */
#include "tools/desk_screen.h"

#include <curses.h>
#include <json-c/json.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/desk_answer.h"
#include "tools/desk_client.h"
#include "tools/desk_text.h"

#define TEXT 65536
#define FRESH_MS 500 /* a question that came to the front less than this ago takes no answer yet */
#define LOOK_MS 1000

struct row {
	struct desk_session *session;
	struct json_object *item; /* a question or a grant; borrowed */
};

struct screen_desk {
	struct desk_sessions all;
	bool grants;            /* shows the grants instead of the questions */
	struct json_object *replies[DESK_SESSIONS]; /* what the grants are in */
	struct row *rows;
	size_t n_rows;
	size_t at;
	pid_t chosen_pid;       /* the selected question */
	uint64_t chosen;
	int64_t since_ms;       /* when it was selected */
	char status[512];
	char text[TEXT];
};

static int64_t now_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static uint64_t number_of(const struct screen_desk *d, struct json_object *item)
{
	return desk_number(item, d->grants ? "grant" : "id");
}

static void add_rows(struct screen_desk *d, struct desk_session *s, struct json_object *list)
{
	size_t n = list ? json_object_array_length(list) : 0;
	struct row *more = n ? reallocarray(d->rows, d->n_rows + n, sizeof(*more)) : NULL;
	if (!more)
		return;
	d->rows = more;
	for (size_t i = 0; i < n; i++)
		d->rows[d->n_rows++] = (struct row){ s, json_object_array_get_idx(list, i) };
}

static void ask_for_grants(struct screen_desk *d, int i)
{
	struct json_object *list;
	json_object_put(d->replies[i]);
	d->replies[i] = desk_request(&d->all.at[i], desk_make("grants", NULL, 0));
	if (d->replies[i] && json_object_object_get_ex(d->replies[i], "grants", &list))
		add_rows(d, &d->all.at[i], list);
}

/* All rows anew; the selection stays with its item, or moves to the one that took its place. */
static void collect(struct screen_desk *d)
{
	d->n_rows = 0;
	for (int i = 0; i < DESK_SESSIONS; i++) {
		struct desk_session *s = &d->all.at[i];
		if (s->line.fd < 0)
			continue;
		if (d->grants)
			ask_for_grants(d, i);
		else
			add_rows(d, s, s->questions);
	}
	for (size_t i = 0; i < d->n_rows; i++) {
		if (d->rows[i].session->pid == d->chosen_pid && number_of(d, d->rows[i].item) == d->chosen) {
			d->at = i;
			return;
		}
	}
	if (d->at >= d->n_rows)
		d->at = d->n_rows ? d->n_rows - 1 : 0;
	d->since_ms = now_ms();
	d->chosen_pid = d->n_rows ? d->rows[d->at].session->pid : 0;
	d->chosen = d->n_rows ? number_of(d, d->rows[d->at].item) : 0;
}

static void choose(struct screen_desk *d, size_t at)
{
	if (at >= d->n_rows)
		return;
	d->at = at;
	d->chosen_pid = d->rows[at].session->pid;
	d->chosen = number_of(d, d->rows[at].item);
	d->since_ms = 0; /* a person chose it */
}

static void draw_rows(struct screen_desk *d, int height)
{
	size_t first = d->at >= (size_t)height ? d->at - (size_t)height + 1 : 0;
	for (size_t i = first; i < d->n_rows && i < first + (size_t)height; i++) {
		const struct row *r = &d->rows[i];
		if (d->grants)
			desk_text_grant(r->item, d->text, sizeof(d->text));
		else
			desk_text_line(r->item, d->text, sizeof(d->text));
		if (i == d->at)
			attron(A_REVERSE);
		mvprintw(1 + (int)(i - first), 0, "%d:%-6llu %-10.10s %.*s", r->session->pid,
			 (unsigned long long)number_of(d, r->item), r->session->name, COLS > 22 ? COLS - 22 : 0, d->text);
		attroff(A_REVERSE);
	}
}

static void draw_detail(struct screen_desk *d, int top, int bottom)
{
	int y = top;
	if (d->grants || d->n_rows == 0)
		return;
	desk_text_all(d->rows[d->at].item, d->text, sizeof(d->text));
	for (const char *line = d->text; *line && y < bottom;) {
		size_t len = strcspn(line, "\n"), width = COLS > 2 ? (size_t)COLS - 1 : 1;
		size_t n = len < width ? len : width;
		mvaddnstr(y++, 0, line, (int)n);
		line += n;
		if (*line == '\n')
			line++;
	}
}

static void draw(struct screen_desk *d)
{
	int list = LINES / 3 > 3 ? LINES / 3 : 3;
	erase();
	attron(A_BOLD);
	mvprintw(0, 0, "usher desk: %u sessions, %zu %s", d->all.count, d->n_rows, d->grants ? "grants" : "questions");
	attroff(A_BOLD);
	draw_rows(d, list);
	mvhline(list + 1, 0, ACS_HLINE, COLS);
	draw_detail(d, list + 2, LINES - 3);
	mvprintw(LINES - 2, 0, "%.*s", COLS - 1, d->status);
	attron(A_BOLD);
	mvprintw(LINES - 1, 0, "%.*s", COLS - 1,
		 d->grants ? "[r] revoke  [g] questions  [q] leave" :
			     "[o] once [s] session [t] tree [m] 10 min [a] always  [d] deny [D] deny for session [k] kill  [g] grants [q] leave");
	attroff(A_BOLD);
	refresh();
}

static void answer(struct screen_desk *d, const char *word, const char *scope)
{
	struct desk_answer a = { .word = word, .scope = scope };
	char error[256];
	if (d->n_rows == 0)
		return;
	if (now_ms() - d->since_ms < FRESH_MS) {
		snprintf(d->status, sizeof(d->status), "this question has just come to the front: look again");
		return;
	}
	if (desk_answer(d->rows[d->at].session, d->chosen, &a, error, sizeof(error)) < 0)
		snprintf(d->status, sizeof(d->status), "%d:%llu: %s", d->chosen_pid, (unsigned long long)d->chosen, error);
	else
		snprintf(d->status, sizeof(d->status), "%d:%llu: %s %s", d->chosen_pid, (unsigned long long)d->chosen, word, scope);
}

/* Shows the rules exactly as they would be written, and writes them on y. */
static void answer_always(struct screen_desk *d)
{
	struct desk_answer a = { .word = "allow", .scope = "always" };
	char file[4200];
	if (d->n_rows == 0)
		return;
	int rc = desk_answer_rule(d->rows[d->at].session, d->chosen, &a, d->text, sizeof(d->text), file, sizeof(file));
	if (rc < 0 || !file[0]) {
		snprintf(d->status, sizeof(d->status), "%.400s", rc < 0 ? d->text : "this session has no file of grants");
		return;
	}
	erase();
	mvprintw(0, 0, "to %s:\n\n%s\nwrite it? [y/N]", file, d->text);
	refresh();
	timeout(-1);
	int key = getch();
	timeout(0);
	if (key == 'y')
		answer(d, "allow", "always");
}

static void take_back(struct screen_desk *d)
{
	const char *error;
	if (d->n_rows == 0)
		return;
	struct json_object *reply = desk_request(d->rows[d->at].session, desk_make("revoke", "grant", d->chosen));
	bool good = desk_ok(reply, &error);
	snprintf(d->status, sizeof(d->status), "%d:%llu: %s", d->chosen_pid, (unsigned long long)d->chosen, good ? "revoked" : error);
	json_object_put(reply);
}

static const struct {
	int key;
	const char *word;
	const char *scope;
} answers[] = {
	{ 'o', "allow", "once" }, { 's', "allow", "session" }, { 't', "allow", "tree" }, { 'm', "allow", "10m" },
	{ 'd', "deny", "once" },  { 'D', "deny", "session" },  { 'k', "kill", "once" },
};

/* False: leave. */
static bool on_key(struct screen_desk *d, int key)
{
	if (key == 'q')
		return false;
	if (key == KEY_UP || key == KEY_PPAGE)
		choose(d, d->at ? d->at - 1 : 0);
	else if (key == KEY_DOWN || key == KEY_NPAGE)
		choose(d, d->at + 1);
	else if (key == 'g')
		d->grants = !d->grants;
	else if (d->grants && key == 'r')
		take_back(d);
	else if (!d->grants && key == 'a')
		answer_always(d);
	for (size_t i = 0; !d->grants && i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].key == key)
			answer(d, answers[i].word, answers[i].scope);
	}
	return true;
}

static void listen_once(struct screen_desk *d)
{
	struct pollfd p[1 + DESK_SESSIONS] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	for (int i = 0; i < DESK_SESSIONS; i++)
		p[1 + i] = (struct pollfd){ .fd = d->all.at[i].line.fd, .events = POLLIN };
	if (poll(p, 1 + DESK_SESSIONS, LOOK_MS) < 0)
		return;
	for (int i = 0; i < DESK_SESSIONS; i++) {
		if (p[1 + i].revents)
			desk_read(&d->all.at[i], NULL, NULL);
	}
}

int desk_screen(void)
{
	struct screen_desk *d = calloc(1, sizeof(*d));
	if (!d)
		return 1;
	desk_sessions_init(&d->all);
	/* From now on nobody else of this user can open this terminal, to read answers or to draw questions. */
	ioctl(STDIN_FILENO, TIOCEXCL);
	setlocale(LC_ALL, "");
	initscr();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	timeout(0);
	curs_set(0);
	for (bool stay = true; stay;) {
		desk_look(&d->all);
		collect(d);
		draw(d);
		listen_once(d);
		collect(d); /* what is selected may have gone, and with it what the rows point to */
		for (int key = getch(); stay && key != ERR; key = getch()) {
			stay = on_key(d, key);
			collect(d);
		}
	}
	endwin();
	ioctl(STDIN_FILENO, TIOCNXCL);
	for (int i = 0; i < DESK_SESSIONS; i++)
		json_object_put(d->replies[i]);
	free(d->rows);
	desk_sessions_free(&d->all);
	free(d);
	return 0;
}
