/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tty_text.h"

#include <string.h>
#include <sys/random.h>

#include "policy/limits.h"
#include "policy/question_json.h"
#include "policy/screen.h"

#define ALLOW_KEYS "  [o] allow once  [m] minutes  [t] process tree  [s] session  [a] always"
#define SCOPE_KEYS "  [p] for a directory or a pattern  [r] another object instead"
#define DENY_KEYS "  [d] or Enter: deny  [D] deny for longer  [x] with a message  [k] kill all"

#define KEYS ALLOW_KEYS "\n" SCOPE_KEYS "\n" DENY_KEYS

#define KEY_ROWS 7
#define NARROWEST 30 /* columns: fewer have no room for a value beside its label */

/* Where the pen is; lines beyond the last row are dropped, and counted. */
struct pen {
	const struct tty_frame *f;
	struct text_buffer *t; /* NULL: a dry pen, which counts */
	unsigned row;
	unsigned last;
	unsigned dropped;
};

static void pen_line(struct pen *p, const char *text, size_t len)
{
	if (p->row > p->last) {
		p->dropped++;
		return;
	}
	if (p->t && p->f->dumb)
		text_add(p->t, "%.*s\r\n", (int)len, text);
	else if (p->t)
		text_add(p->t, "\033[%u;1H\033[2K%.*s", p->row, (int)len, text);
	p->row++;
}

/* How much of TEXT fits into WIDTH: to a blank where there is one near the end. */
static size_t fitting(const char *text, size_t len, size_t width)
{
	size_t n = width;
	if (len <= width)
		return len;
	while (n > width - width / 4 && text[n] != ' ')
		n--;
	return text[n] == ' ' ? n : width;
}

/* Folds at the width; what follows is indented under the values, behind a mark where it goes on without a blank: one name, or two, is seen. */
static void pen_fold(struct pen *p, const char *text, size_t len)
{
	static const char indent[] = "            ", within[] = "          > ";
	unsigned width = p->f->cols > NARROWEST ? p->f->cols : NARROWEST;
	char line[512];
	size_t first = fitting(text, len, width);
	pen_line(p, text, first);
	for (size_t at = first; at < len;) {
		bool blank = text[at] == ' ';
		at += blank;
		size_t n = fitting(text + at, len - at, width - (sizeof(indent) - 1));
		if (n > sizeof(line) - sizeof(indent))
			n = sizeof(line) - sizeof(indent);
		memcpy(line, blank ? indent : within, sizeof(indent) - 1);
		memcpy(line + sizeof(indent) - 1, text + at, n);
		pen_line(p, line, n + sizeof(indent) - 1);
		at += n;
	}
}

static void pen_text(struct pen *p, const char *text)
{
	while (*text) {
		const char *end = strchrnul(text, '\n');
		pen_fold(p, text, (size_t)(end - text));
		text = *end ? end + 1 : end;
	}
}

/* Who decides is told that there is more than the terminal shows: instead of the last line. */
static void pen_more(struct pen *p)
{
	char line[80];
	struct text_buffer l;
	if (!p->dropped)
		return;
	p->row = p->last;
	text_start(&l, line, sizeof(line));
	text_add(&l, "  ... %u more lines: no room", p->dropped + 1);
	pen_line(p, line, l.len);
}

/* What the keys take, folded as they are, with the seconds above them and the line that is typed into below. */
static unsigned key_rows(const struct tty_frame *f)
{
	struct pen dry = { .f = f, .row = 1, .last = 10000 };
	pen_text(&dry, KEYS);
	dry.row += f->cols < 40; /* the seconds */
	unsigned rows = dry.row - 1 + 2;
	return rows > KEY_ROWS ? rows : KEY_ROWS;
}

static unsigned seconds_left(const struct asked *a)
{
	uint64_t now = clock_now_ns();
	uint64_t end = a->of ? filed_deadline_ns(a->of) : 0;
	return end > now ? (unsigned)((end - now) / 1000000000u) : 0;
}

/* Whether BODY has room, at least up to what is asked about: all that stands above the program that asks. KEYS is what the keys take. */
static bool has_room(const struct tty_frame *f, const char *body, unsigned keys)
{
	const char *by = strstr(body, "\n  by "); /* a line of usher's: a newline in a value is escaped */
	struct pen dry = { .f = f, .row = 2, .last = 10000 };
	unsigned room = f->rows > keys ? f->rows - keys : 0;
	char first[12 * 1024];
	if (f->dumb)
		return true;
	if (f->cols < NARROWEST || !by || (size_t)(by - body) >= sizeof(first))
		return false;
	memcpy(first, body, (size_t)(by - body));
	first[by - body] = '\0';
	pen_text(&dry, first);
	return dry.row <= room; /* and a line that says what has no room */
}

/* Nobody can tell what it would be that he allows. */
static void draw_small(struct pen *p)
{
	static const char *const lines[] = { "  no room to ask:", "  enlarge the window", "  [d] or Enter: deny" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		pen_line(p, lines[i], strnlen(lines[i], p->f->cols));
	text_add(p->t, "\033[J");
}

/* What comes of A unanswered. */
static const char *silence(const struct asked *a)
{
	if (a->verdict.unanswered == VERDICT_ALLOW)
		return "allowed";
	return a->verdict.unanswered == VERDICT_KILL ? "all is killed" : "denied";
}

bool tty_draw(const struct tty_frame *f, const struct asked *a, unsigned of, bool armed, struct text_buffer *t)
{
	char line[256], body[24 * 1024];
	struct text_buffer l, b;
	struct pen p = { .f = f, .t = t, .row = 1, .last = f->dumb ? 10000 : f->rows };
	if (f->dumb && armed) {
		text_add(t, "%s\r\n%s\r\n%s\r\n", ALLOW_KEYS, SCOPE_KEYS, DENY_KEYS);
		return true;
	}
	text_start(&l, line, sizeof(line));
	text_add(&l, "== usher asks [%s] ==", f->mark);
	if (of > 1)
		text_add(&l, " %u more wait%s ==", of - 1, of == 2 ? "s" : "");
	pen_line(&p, line, f->dumb || l.len < f->cols ? l.len : f->cols);
	text_start(&b, body, sizeof(body));
	asked_text(a, f->cols, &b);
	unsigned keys = key_rows(f);
	if (!has_room(f, body, keys)) {
		draw_small(&p);
		return false;
	}
	if (!f->dumb)
		p.last -= keys; /* the keys always have room */
	pen_text(&p, body);
	pen_more(&p);
	p.last = f->dumb ? 10000 : f->rows;
	text_start(&l, line, sizeof(line));
	text_add(&l, "  %s in %u s if nobody answers", silence(a), seconds_left(a));
	pen_text(&p, line);
	if (!f->dumb) {
		pen_text(&p, armed ? KEYS : "  ...");
		text_add(t, "\033[J");
	}
	return true;
}

void tty_prompt(const struct tty_frame *f, const char *prompt, const char *typed, struct text_buffer *t)
{
	unsigned width = f->cols > NARROWEST ? f->cols : NARROWEST;
	size_t asks = strlen(prompt);
	if (!f->dumb && f->rows > 1 && asks > width / 2 && asks + strlen(typed) >= width) { /* a line of its own: what is typed is to be seen */
		text_add(t, "\033[%u;1H\033[2K%.*s", f->rows - 1, (int)width, prompt);
		prompt = "  ";
	}
	size_t have = strlen(prompt) + strlen(typed);
	size_t skip = have >= width ? have - width + 1 : 0; /* the end is what is being typed */
	if (skip > strlen(typed))
		skip = strlen(typed);
	if (f->dumb)
		text_add(t, "\r%s%s", prompt, typed + skip);
	else
		text_add(t, "\033[%u;1H\033[2K%s%s\033[J", f->rows, prompt, typed + skip);
}

/* Ends a sequence or string that the program has begun. */
#define END "\030\033\\" SCREEN_AS_EVER

/*
 * As after a reset, whatever the program has done to hide a text, and by whatever sequences the relay did not follow (XTRESTORE): lines count from the
 * top, no margins (DECLRMM), what is written is shown (2026), letters are letters, and what was protected (SPA, DECSCA) is erased like the rest.
 */
#define PLAIN "\033[?6l\033[?69l\033[r\033[?2026l\033[0\"q\033(B\017"

/* White on black by what they are made of: neither urxvt nor, once they lay on its stack, xterm lets the colours that text has be reset. */
#define DYED "\033[38;2;255;255;255;48;2;0;0;0m"

void tty_enter(const struct tty_frame *f, bool full, bool dyed, struct text_buffer *t)
{
	if (f->dumb) {
		text_add(t, "\r\n\a");
		return;
	}
	text_add(t, END "%s" PLAIN "\033[0m%s\033[2J\033[H\a", full ? "" : "\0337\033[?1049h", dyed ? DYED : "");
}

void tty_leave(const struct tty_frame *f, bool full, struct text_buffer *t)
{
	if (f->dumb)
		return;
	text_add(t, "\033[0m\033[2J%s", full ? "\033[H" : "\033[?1049l\0338");
}

bool tty_key(int key, struct answer *a)
{
	a->kind = VERDICT_ALLOW;
	switch (key) {
	case 'o':
		a->scope = SCOPE_ONCE;
		return true;
	case 's':
		a->scope = SCOPE_SESSION;
		return true;
	case 't':
		a->scope = SCOPE_TREE;
		return true;
	case 'd':
	case '\r':
	case '\n':
		a->kind = VERDICT_DENY;
		return true;
	default:
		return false;
	}
}

bool tty_scope(const char *word, struct answer *a)
{
	static const char *const words[] = { [SCOPE_TREE] = "tree", [SCOPE_SESSION] = "session", [SCOPE_ALWAYS] = "always" };
	for (int i = SCOPE_TREE; i <= SCOPE_ALWAYS; i++) {
		if (strcmp(word, words[i]) == 0) {
			a->scope = (enum answer_scope)i;
			return true;
		}
	}
	a->scope = SCOPE_TIME;
	a->scope_s = duration_parse(word);
	return a->scope_s > 0;
}

void tty_mark(char mark[8])
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	unsigned char random[6] = { 0 };
	if (getrandom(random, sizeof(random), 0) < 0)
		return;
	for (int i = 0; i < 6; i++)
		mark[i] = letters[random[i] % 32];
}
