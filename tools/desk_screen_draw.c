/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing. The keys have room on every screen: a small one shows the most important and '?' the rest.
 *
 * MUST: bold and reverse only, so that it reads without colour; what is too long loses its middle, never its end alone.
 */
#include <curses.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/desk_screen_state.h"
#include "tools/desk_text.h"
#include "tools/tool.h"

#define LABEL_COLUMN 10 /* where values stand in the details */

static const char *const keys[PAGES] = {
	[PAGE_QUESTIONS] = "[o]nce [s]ession [t]ree [m]inutes [a]lways | [d]eny [D]eny longer [x]with message | [p]attern [r]ewrite [k]ill",
	[PAGE_GRANTS] = "[R]evoke",
	[PAGE_REVIEWS] = "[y] was right  [n] was wrong  [N] wrong, with a message",
	[PAGE_HISTORY] = "",
};

#define NARROW 60 /* fewer columns have room for the letters alone */
static const char narrow_keys[] = "allow o s t m a  deny d D x  p r k";
static const char narrow_pages[] = "1-4 pages  ? keys  q quit";
static const char pages[] = "[1]questions [2]grants [3]reviews [4]history [?]keys [q]uit";

static const char help[] =
	"up, down        another row; page keys, home, end\n"
	"space, b        further and back in the details\n"
	"1 2 3 4, tab    questions, grants, reviews, history\n"
	"\n"
	"o   allow once\n"
	"m   allow for a time: 10m, 2h\n"
	"t   allow for the asking process and what it starts\n"
	"s   allow for the session\n"
	"a   allow always: the rule is shown before it is written\n"
	"p   the next answer is for a pattern instead of the object\n"
	"d   deny once\n"
	"D   deny for the session, a time, the process tree, or always\n"
	"x   deny, with a message on the command's terminal\n"
	"r   another object instead\n"
	"k   kill the whole command\n"
	"R   grants: revoke the selected one\n"
	"y n reviews: it was right, it was wrong (N: with a message)\n"
	"q   leave; questions wait on\n"
	"?   or any other key: back from here\n";

/* What the rows of P are, N of them. */
static const char *page_name(enum page p, size_t n)
{
	static const char *const names[PAGES] = { "questions", "grants", "reviews", "history" }, *const one[PAGES] = { "question", "grant", "review", "history" };
	return n == 1 ? one[p] : names[p];
}

/* What a page without rows says. */
static const char *const nothing[PAGES] = { "nothing waits for an answer", "none in a session that runs; 'usher desk grants' lists answers for ever, too",
					    "none in a session that runs", "none in a session that runs" };

/* At most WIDTH characters of TEXT: its beginning and its end. */
static void put_cut(int y, int x, const char *text, int width)
{
	int len = (int)strlen(text);
	if (width <= 0)
		return;
	if (len <= width || width < 12) {
		mvaddnstr(y, x, text, width);
		return;
	}
	int tail = (width - 3) / 2, head = width - 3 - tail;
	mvaddnstr(y, x, text, head);
	addstr("...");
	addnstr(text + len - tail, tail);
}

/* Where the whole line has no ROOM the object has it first. */
static void question_text(struct screen_desk *d, struct json_object *item, int room)
{
	size_t alone = desk_text_line(item, d->text, sizeof(d->text));

	if (room < 0 || strlen(d->text) > (size_t)room)
		d->text[alone] = '\0';
}

static void row_text(struct screen_desk *d, struct json_object *item, int room)
{
	switch (d->page) {
	case PAGE_GRANTS:
		desk_text_grant(item, d->text, sizeof(d->text));
		break;
	case PAGE_REVIEWS:
		desk_text_review(item, d->text, sizeof(d->text));
		break;
	case PAGE_HISTORY:
		desk_text_past(item, d->text, sizeof(d->text));
		break;
	case PAGE_QUESTIONS:
	case PAGES:
		question_text(d, item, room);
		break;
	}
}

static void draw_rows(struct screen_desk *d, int top, int height)
{
	size_t first = d->at >= (size_t)height ? d->at - (size_t)height + 1 : 0;
	for (size_t i = first; i < d->n_rows && i < first + (size_t)height; i++) {
		const struct row *r = &d->rows[i];
		char id[32];
		int y = top + (int)(i - first);
		int n = snprintf(id, sizeof(id), "%d:%s%llu ", r->session->pid, d->page == PAGE_REVIEWS ? "r" : "",
				 (unsigned long long)desk_number(r->item, page_key(d->page)));
		if (i == d->at)
			attron(A_REVERSE);
		mvaddnstr(y, 0, id, COLS);
		if (COLS > 70) {
			mvprintw(y, n, "%-10.10s ", r->session->name);
			n += 11;
		}
		row_text(d, r->item, COLS - n);
		put_cut(y, n, d->text, COLS - n);
		if (i == d->at)
			attroff(A_REVERSE);
	}
	if (!d->n_rows)
		mvaddnstr(top, 2, nothing[d->page], COLS - 2);
}

/* One line of the details, folded under its value. Counts lines in *n; those before d->scroll are not drawn. */
static int put_folded(struct screen_desk *d, const char *line, size_t len, int y, int bottom, unsigned *n)
{
	size_t indent = 0, width = COLS > 2 ? (size_t)COLS - 1 : 1;
	for (size_t at = 0; at < len || at == 0;) {
		size_t most = width - indent, take = len - at < most ? len - at : most;
		if ((*n)++ >= d->scroll) {
			if (y >= bottom) {
				d->more = true;
				return y;
			}
			mvaddnstr(y++, (int)indent, line + at, (int)take);
		}
		at += take;
		if (at >= len)
			break;
		indent = width > 3 * LABEL_COLUMN ? LABEL_COLUMN : 0;
	}
	return y;
}

static void draw_text(struct screen_desk *d, const char *text, int top, int bottom)
{
	unsigned n = 0;
	int y = top;
	d->more = false;
	while (*text && !d->more) {
		size_t len = strcspn(text, "\n");
		y = put_folded(d, text, len, y, bottom, &n);
		text += len + (text[len] == '\n');
	}
}

static void draw_details(struct screen_desk *d, int top, int bottom)
{
	d->more = false;
	if (d->help) {
		draw_text(d, help, top, bottom);
		return;
	}
	if (!d->n_rows)
		return;
	struct json_object *item = d->rows[d->at].item;
	if (d->page == PAGE_GRANTS) {
		desk_text_grant(item, d->text, sizeof(d->text));
	} else {
		desk_text_all(item, d->text, sizeof(d->text));
	}
	draw_text(d, d->text, top, bottom);
}

/* WORDS, folded at blanks, at the bottom of the screen; at most MOST lines. Returns how many. */
static int draw_words(const char *words, int bottom, int most)
{
	const char *line[4];
	size_t len[4];
	int n = 0;
	while (*words && n < most && n < 4) {
		size_t width = COLS > 1 ? (size_t)COLS - 1 : 1, take = strlen(words);
		if (take > width) {
			take = width;
			while (take > 0 && words[take] != ' ')
				take--;
			take = take ? take : width;
		}
		line[n] = words;
		len[n++] = take;
		words += take;
		while (*words == ' ')
			words++;
	}
	attron(A_BOLD);
	for (int i = 0; i < n; i++)
		mvaddnstr(bottom - n + i, 0, line[i], (int)len[i]);
	attroff(A_BOLD);
	return n;
}

static void draw_head(const struct screen_desk *d)
{
	attron(A_BOLD);
	mvprintw(0, 0, "%-*.*s", COLS, COLS, "");
	mvprintw(0, 0, "usher desk: %u session%s, %zu %s", d->all.count, tool_plural(d->all.count), d->n_rows, page_name(d->page, d->n_rows));
	if (d->all.more)
		printw(", %llu more when some of these are answered", (unsigned long long)d->all.more);
	if (d->all.refused)
		printw(", %u refused", d->all.refused);
	attroff(A_BOLD);
}

/* Between list and details: what the next answer is for, how long the question stands, and whether there is more below. */
static void draw_line(const struct screen_desk *d, int y)
{
	char words[160] = "";
	mvhline(y, 0, ACS_HLINE, COLS);
	if (d->page == PAGE_QUESTIONS && d->n_rows) {
		int64_t left = (int64_t)desk_number(d->rows[d->at].item, "deadline") - (int64_t)time(NULL);
		if (screen_fresh_ms(d))
			snprintf(words, sizeof(words), " just come: no answer yet ");
		else
			snprintf(words, sizeof(words), " %lld s left ", left > 0 ? (long long)left : 0ll);
	}
	if (words[0])
		mvaddnstr(y, 2, words, COLS - 2);
	if (d->more && COLS > 40)
		mvaddstr(y, COLS - 18, " space for more ");
}

void screen_draw(struct screen_desk *d)
{
	erase();
	int bottom = LINES;
	int room = LINES >= 20 ? 3 : 1;
	bool narrow = COLS < NARROW;
	bottom -= draw_words(narrow ? narrow_pages : pages, bottom, LINES >= 20 ? 2 : 1);
	if (LINES >= 10 && keys[d->page][0])
		bottom -= draw_words(narrow && d->page == PAGE_QUESTIONS ? narrow_keys : keys[d->page], bottom, room);
	int status = bottom - 1, list = (status - 1) / 3;
	if (list < 2)
		list = 2;
	if ((int)d->n_rows < list) /* a short list leaves its room to the details */
		list = d->n_rows > 2 ? (int)d->n_rows : 2;
	draw_head(d);
	draw_rows(d, 1, list);
	draw_details(d, list + 2, status);
	draw_line(d, list + 1);
	if (d->pattern[0]) {
		attron(A_BOLD);
		mvprintw(status, 0, "for: %.*s", COLS - 6 > 0 ? COLS - 6 : 0, d->pattern);
		attroff(A_BOLD);
	} else {
		put_cut(status, 0, d->status, COLS - 1);
	}
	refresh();
}
