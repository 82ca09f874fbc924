/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person types at a question that is more than a key: a line, and the keys that want one.
 *
 * MUST: a rule for ever is shown whole as it will be written, and agreed to, before it is an answer.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/guard.h"
#include "policy/policy_state.h"
#include "policy/screen.h"
#include "policy/show.h"
#include "policy/standing.h"
#include "policy/tty_state.h"
#include "policy/tty_text.h"
#include "rules/cleanup.h"

void tty_show_line(struct tty_channel *c, const char *words, const char *typed)
{
	char buf[4096];
	struct text_buffer t;
	text_start(&t, buf, sizeof(buf));
	tty_prompt(&c->frame, words, typed, &t);
	size_t len = t.len;
	if (c->frame.dumb && len < c->line) { /* what was rubbed out is blank */
		text_add(&t, "%*s", (int)(c->line - len), "");
		tty_prompt(&c->frame, words, typed, &t);
	}
	tty_write(c, &t);
	c->line = len;
}

void tty_end_line(struct tty_channel *c)
{
	struct text_buffer t;
	char buf[8];
	text_start(&t, buf, sizeof(buf));
	text_add(&t, "\r\n");
	if (c->frame.dumb && c->line)
		tty_write(c, &t);
	c->line = 0;
}

/* Takes over what is printable of a burst, and bytes of other letters as names show them; Enter in one is no end. 1 at the end, -1 when given up, 0 to go on. */
static int edit(char *line, size_t cap, const char *keys, ssize_t n)
{
	size_t len = strlen(line);
	if (n == 1 && (keys[0] == '\r' || keys[0] == '\n'))
		return 1;
	if (n == 1 && (keys[0] == '\033' || keys[0] == 3))
		return -1;
	if (n > 1 && keys[0] == '\033')
		return 0;
	for (ssize_t i = 0; i < n; i++) {
		if (keys[i] == 127 || keys[i] == 8) {
			show_erase(line);
			len = strlen(line);
		} else if (keys[i] == 21)
			line[len = 0] = '\0';
		else if (keys[i] >= 0x20 && keys[i] < 0x7f && len + 1 < cap) {
			line[len++] = keys[i];
			line[len] = '\0';
		} else if ((unsigned char)keys[i] >= 0x80 && len + 4 < cap) {
			snprintf(line + len, cap - len, "\\x%02x", (unsigned char)keys[i]);
			len += 4;
		}
	}
	return 0;
}

/* True at the end of LINE. False when given up, or when the question is no longer to be shown. */
static bool type_line(struct tty_channel *c, const struct asked *a, const char *words, char *line, size_t cap)
{
	for (bool changed = true;;) {
		char keys[256];
		if (changed || !c->frame.dumb) /* lines one after the other are not drawn anew for nothing */
			tty_show_line(c, words, line);
		changed = false;
		short come = tty_wait(c, 1000);
		if (tty_disturbed(c, a))
			return false;
		if (!(come & POLLIN))
			continue;
		int done = edit(line, cap, keys, read(c->screen->fd, keys, sizeof(keys)));
		if (done)
			return done > 0;
		changed = true;
	}
}

/* A line from the person, LINE being what it starts as. */
static bool read_line(struct tty_channel *c, const struct asked *a, const char *words, char *line, size_t cap)
{
	tty_end_line(c);
	bool typed = type_line(c, a, words, line, cap);
	tty_end_line(c);
	return typed;
}

static bool agree(struct tty_channel *c, const struct asked *a, const char *words)
{
	char line[8] = "";
	return read_line(c, a, words, line, sizeof(line)) && strcmp(line, "y") == 0;
}

void tty_tell(struct tty_channel *c, const struct asked *a, const char *words)
{
	agree(c, a, words);
}

/* The directory that NAME lies in. */
static struct span directory_of(struct span name)
{
	uint32_t len = name.len;
	while (len > 1 && name.bytes[len - 1] != '/')
		len--;
	return (struct span){ name.bytes, len > 1 ? len - 1 : len };
}

/* What a pattern begins as: the directory with all below it, or the address itself. False where that has no room. */
static bool scope_start(const struct object *o, char *out, size_t cap)
{
	struct settlement wide = { .directory = o->kind == OBJECT_FILE ? directory_of(o->name) : (struct span){ 0 } };
	struct strbuf text = { 0 };
	CLEANUP_FREE char *rule = NULL;
	size_t n = 0;
	standing_pattern(&text, o, &wide); /* a star in a name stands for itself */
	if (strbuf_end(&text, &rule, &n) < 0 || n > cap)
		return false;
	size_t quoted = n > 2 && rule[1] == '"'; /* what is typed is put between quotes */
	memcpy(out, rule + 1 + quoted, n - 1 - 2 * quoted);
	out[n - 1 - 2 * quoted] = '\0';
	return true;
}

/* Whether the pattern of S would answer A. */
static bool covers(struct tty_channel *c, const struct asked *a, struct settlement s)
{
	CLEANUP_FREE char *rule = malloc(STANDING_TEXT);
	s.answer.kind = VERDICT_ALLOW;
	return rule && standing_rule(questions_policy(c->qs), a, &s, rule, STANDING_TEXT) == 0;
}

/* What is typed stands for more than this object. Sets the pattern of S, or none. */
static void read_scope(struct tty_channel *c, const struct asked *a, struct settlement *s, struct pick *k)
{
	const struct object *o = &a->call.object[a->verdict.object < a->call.n_objects ? a->verdict.object : 0];
	s->pattern = NULL;
	if (!scope_start(o, k->pattern, sizeof(k->pattern)))
		k->pattern[0] = '\0';
	if (!read_line(c, a, "  for which names, then a key above: ", k->pattern, sizeof(k->pattern)) || !k->pattern[0])
		return;
	s->pattern = k->pattern;
	if (covers(c, a, *s))
		return;
	s->pattern = NULL;
	tty_tell(c, a, "  no pattern that covers what is asked: Enter goes back ");
}

/* How many rows of COLS columns TEXT takes, its last line included. */
static size_t rows_of(const char *text, unsigned cols)
{
	size_t rows = 0;
	for (;;) {
		size_t len = strcspn(text, "\r\n");
		rows += len > cols ? (len + cols - 1) / cols : 1;
		text += len;
		if (!*text)
			return rows;
		text += strspn(text, "\r") + 1;
	}
}

/* The rule of S is shown exactly as it will be written, then asked for. */
static bool read_always(struct tty_channel *c, const struct asked *a, struct settlement *s)
{
	CLEANUP_FREE char *rule = malloc(STANDING_TEXT);
	CLEANUP_FREE char *screen = malloc(2 * STANDING_TEXT);
	const char *file = policy_grants_file(questions_policy(c->qs));
	struct text_buffer t;
	s->answer.scope = SCOPE_ALWAYS;
	if (!standing_writable(file)) {
		tty_tell(c, a, "  the file of grants cannot be written by this user: Enter goes back ");
		return false;
	}
	if (!rule || !screen)
		return false;
	if (standing_rule(questions_policy(c->qs), a, s, rule, STANDING_TEXT) < 0) { /* of a program that gets one empty argument, say */
		tty_tell(c, a, "  no rule says exactly this: Enter goes back ");
		return false;
	}
	text_start(&t, screen, 2 * STANDING_TEXT);
	text_add(&t, "%s  to ", c->frame.dumb ? "" : "\033[H\033[2J");
	text_show(&t, (struct span){ file, (uint32_t)strlen(file) }, 0);
	text_add(&t, ":\r\n\r\n");
	for (const char *at = rule; *at; at++)
		text_add(&t, *at == '\n' ? "\r\n" : "%c", *at);
	if (!c->frame.dumb && rows_of(screen, c->frame.cols) > c->frame.rows - 1) { /* what has scrolled away nobody has seen; the last row is for the answer */
		tty_tell(c, a, "  no room for all of the rule; Enter: ");
		return false;
	}
	tty_write(c, &t);
	return agree(c, a, "  write it? y and Enter: ");
}

/* How long S holds, SCOPE being what is proposed; what is no scope is asked for again. False when given up. */
static bool read_for(struct tty_channel *c, const struct asked *a, const char *words, const char *scope, struct settlement *s)
{
	char line[32], again[64];
	snprintf(line, sizeof(line), "%s", scope);
	snprintf(again, sizeof(again), "  not understood; %s", words + 2);
	do {
		if (!read_line(c, a, words, line, sizeof(line)))
			return false;
		words = again;
	} while (!tty_scope(line, &s->answer));
	return s->answer.scope != SCOPE_ALWAYS || read_always(c, a, s);
}

/* A name as names are shown. */
static bool read_target(struct tty_channel *c, const struct asked *a, char *out, size_t cap)
{
	char line[4096] = "";
	if (!read_line(c, a, "  the object instead: ", line, sizeof(line)))
		return false;
	long n = show_unescape(line, out, cap - 1);
	out[n > 0 ? n : 0] = '\0';
	if (n > 0 && memchr(out, '\0', (size_t)n))
		out[0] = '\0';
	return line[0]; /* what is no name is refused as an answer, which is said */
}

bool tty_read_more(struct tty_channel *c, const struct asked *a, int key, struct settlement *s, struct pick *k)
{
	if (key == 'p') {
		read_scope(c, a, s, k);
		return false;
	}
	s->answer.kind = key == 'D' ? VERDICT_DENY : VERDICT_ALLOW;
	if (key == 'a')
		return read_always(c, a, s);
	if (key == 'm')
		return read_for(c, a, "  allow for (10m, 2h): ", "10m", s);
	if (key == 'D')
		return read_for(c, a, "  deny for (session, tree, 10m, always): ", "session", s);
	if (key == 'k') {
		s->answer.kind = VERDICT_KILL;
		return agree(c, a, "  kill every process of the command? y and Enter: ");
	}
	if (key == 'x') {
		s->answer.kind = VERDICT_DENY;
		return read_line(c, a, "  denied, and say: ", s->answer.message, sizeof(s->answer.message));
	}
	if (key != 'r')
		return false;
	s->answer.kind = VERDICT_REWRITE;
	return read_target(c, a, s->answer.target, sizeof(s->answer.target));
}
