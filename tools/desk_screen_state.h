/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the full-screen desk share: the pages, their rows, and what is selected. */
#ifndef USHER_TOOLS_DESK_SCREEN_STATE_H
#define USHER_TOOLS_DESK_SCREEN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/desk_client.h"
#include "tools/desk_text.h"

#define SCREEN_TEXT DESK_TEXT

enum page { PAGE_QUESTIONS, PAGE_GRANTS, PAGE_REVIEWS, PAGE_HISTORY, PAGES };

struct row {
	struct desk_session *session;
	struct json_object *item; /* borrowed */
};

struct screen_desk {
	struct desk_sessions all;
	enum page page;
	struct json_object *replies[DESK_SESSIONS]; /* what the rows of other pages than the questions are in */
	struct row *rows;
	size_t n_rows;
	size_t at;
	pid_t chosen_pid;      /* the selected item */
	uint64_t chosen;
	int64_t since_ms;      /* when it came to the front by itself, or the last key since that it did not take; 0: a person chose it */
	unsigned scroll;       /* lines of the details that are above */
	bool more;             /* lines of the details that are below */
	bool help;             /* the keys instead of the details */
	int signals;           /* a descriptor for those that end or stop the desk; -1: none */
	int ended_by;          /* such a signal has come; 0: none */
	bool line;             /* screen_line() asks: Ctrl-C leaves that alone */
	bool line_left;
	char pattern[1024];    /* the next answer is for this pattern; "": for the object */
	char status[512];
	char text[SCREEN_TEXT];
};

/* The name of an item's number on a page. */
const char *page_key(enum page p);

/* All rows anew; the selection stays with its item, or moves to what took its place. */
void screen_collect(struct screen_desk *d);
void screen_choose(struct screen_desk *d, size_t at);

/* Takes the terminal; gives it back, and ends as the signal ended_by would have ended the program. (desk_screen_terminal.c) */
void screen_begin(struct screen_desk *d);
void screen_end(struct screen_desk *d);

/* For how long the selected question takes no answer yet: nobody can have read it. 0: it takes one. */
int screen_fresh_ms(const struct screen_desk *d);

/* The selected row has come to the front by itself: see screen_fresh_ms(). */
void screen_came(struct screen_desk *d);

/* A letter was typed: while it takes no answer it may belong to a line for one that has gone, and so may the next. */
void screen_typed(struct screen_desk *d);

/* Does what signals that have come ask for. */
void screen_signals(struct screen_desk *d);

/* Waits for keys, signals or news, at most a second, and takes up the news. */
void screen_listen(struct screen_desk *d);

void screen_draw(struct screen_desk *d);

/* A key was pressed. False: leave. */
bool screen_key(struct screen_desk *d, int key);

/*
 * A line from the person at the bottom, LINE being what it starts as. False when given up, or when the selected item went meanwhile
 * (said in the status).
 */
bool screen_line(struct screen_desk *d, const char *prompt, char *line, size_t cap);

#endif
