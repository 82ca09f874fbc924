/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desk on the whole screen: a list above, the selected item in full below.
 *
 * MUST: a key answers only the question that was on the screen when it was pressed (the
 * selection follows the question, not the row), and none that goes on with what was typed for another; nothing unescaped is drawn.
 */
#include "tools/desk_screen.h"

#include <curses.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/desk_screen_state.h"

#define LOOK_MS 1000
#define FRESH_MS 500 /* for as long without a key a question that came to the front takes no answer yet */

static int64_t now_ms(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

const char *page_key(enum page p)
{
	static const char *const keys[PAGES] = { "id", "grant", "review", "id" };
	return keys[p];
}

static void add_rows(struct screen_desk *d, struct desk_session *s, struct json_object *list)
{
	size_t n = list && json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	struct row *more = n ? reallocarray(d->rows, d->n_rows + n, sizeof(*more)) : NULL;
	if (!more)
		return;
	d->rows = more;
	for (size_t i = 0; i < n; i++)
		d->rows[d->n_rows++] = (struct row){ s, json_object_array_get_idx(list, i) };
}

static void ask_for(struct screen_desk *d, int i, const char *what)
{
	struct json_object *list;
	json_object_put(d->replies[i]);
	d->replies[i] = desk_request(&d->all.at[i], desk_make(what, NULL, 0));
	if (d->replies[i] && json_object_object_get_ex(d->replies[i], what, &list))
		add_rows(d, &d->all.at[i], list);
}

void screen_collect(struct screen_desk *d)
{
	static const char *const lists[PAGES] = { NULL, "grants", "reviews", "history" };
	d->n_rows = 0;
	for (int i = 0; i < DESK_SESSIONS; i++) {
		if (d->all.at[i].line.fd < 0)
			continue;
		if (lists[d->page])
			ask_for(d, i, lists[d->page]);
		else
			add_rows(d, &d->all.at[i], d->all.at[i].questions);
	}
	for (size_t i = 0; i < d->n_rows; i++) {
		if (d->rows[i].session->pid == d->chosen_pid && desk_number(d->rows[i].item, page_key(d->page)) == d->chosen) {
			d->at = i;
			return;
		}
	}
	screen_choose(d, d->at < d->n_rows ? d->at : d->n_rows ? d->n_rows - 1 : 0);
	screen_came(d); /* nobody chose it */
}

void screen_came(struct screen_desk *d)
{
	d->since_ms = now_ms();
}

void screen_choose(struct screen_desk *d, size_t at)
{
	bool some = at < d->n_rows;
	if (!some && d->n_rows)
		return;
	d->at = at;
	d->chosen_pid = some ? d->rows[at].session->pid : 0;
	d->chosen = some ? desk_number(d->rows[at].item, page_key(d->page)) : 0;
	d->since_ms = 0;
	d->scroll = 0;
	d->pattern[0] = '\0';
}

int screen_fresh_ms(const struct screen_desk *d)
{
	int64_t left = d->page == PAGE_QUESTIONS && d->n_rows ? d->since_ms + FRESH_MS - now_ms() : 0;
	return left > 0 ? (int)left : 0;
}

void screen_typed(struct screen_desk *d)
{
	if (screen_fresh_ms(d))
		d->since_ms = now_ms();
}

void screen_listen(struct screen_desk *d)
{
	struct pollfd p[2 + DESK_SESSIONS] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = d->signals, .events = POLLIN } };
	for (int i = 0; i < DESK_SESSIONS; i++)
		p[2 + i] = (struct pollfd){ .fd = d->all.at[i].line.fd, .events = POLLIN };
	int fresh = screen_fresh_ms(d); /* it is drawn when that is over */
	int n = poll(p, 2 + DESK_SESSIONS, fresh ? fresh : LOOK_MS);
	for (int i = 0; n > 0 && i < DESK_SESSIONS; i++) {
		if (p[2 + i].revents)
			desk_read(&d->all.at[i], NULL, NULL);
	}
	screen_signals(d);
	desk_look(&d->all);
	screen_collect(d); /* what is selected may have gone, and with it what the rows point to */
}

int desk_screen(void)
{
	struct screen_desk *d = calloc(1, sizeof(*d));
	if (!d)
		return 1;
	desk_sessions_init(&d->all);
	screen_begin(d);
	desk_look(&d->all);
	screen_collect(d);
	for (bool stay = true; stay && !d->ended_by;) {
		screen_draw(d);
		screen_listen(d);
		for (int key = d->ended_by ? ERR : getch(); stay && key != ERR; key = d->ended_by ? ERR : getch()) {
			stay = screen_key(d, key);
			screen_collect(d);
		}
	}
	screen_end(d);
	for (int i = 0; i < DESK_SESSIONS; i++)
		json_object_put(d->replies[i]);
	free(d->rows);
	desk_sessions_free(&d->all);
	free(d);
	return 0;
}
