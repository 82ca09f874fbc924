/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/relay_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/screen.h"

/*
 * DEC private modes that outlive a question. The first three mean "alternate screen"; then the cursor and how text is placed (reversed, wrapped,
 * between margins, inserted: an ANSI mode, as its negative number), what makes the terminal send something, and 2026, behind which nothing is shown: as
 * after a reset while a question is up. From FORMS on, how something is sent, and what is when the terminal itself is changed: they matter to
 * whoever has the terminal next.
 */
static const struct {
	int number;
	bool set; /* its state after a reset */
} scan_modes[] = {
	{ 1049, false }, { 1047, false }, { 47, false },   { 25, true },    { 5, false },    { 7, true },     { 69, false },   { -4, false },
	{ 1, false },    { 9, false },    { 1000, false }, { 1001, false }, { 1002, false }, { 1003, false }, { 1004, false }, { 2004, false }, { 2026, false },
	{ 66, false },   { 1005, false }, { 1006, false }, { 1015, false },  { 1016, false }, { 2031, false }, { 2048, false },
};

#define MODES (sizeof(scan_modes) / sizeof(scan_modes[0]))
#define SCREENS 3
#define FORMS (MODES - 7)
#define PUSHED_MOST 99
#define FULL_SCREEN ((1u << SCREENS) - 1)

/* xterm, VTE and screen take U+0080 to U+009F for ESC and '@' to '_'; others show them. */
#define C1_LEAD '\xc2'
#define C1_FIRST 0x80
#define C1_LAST 0x9f
#define STRING_KEPT 8

static void mode_set(struct scan *s, long number, bool on)
{
	for (size_t i = 0; i < MODES; i++) {
		if (scan_modes[i].number != number)
			continue;
		if (on != scan_modes[i].set)
			s->modes |= 1u << i;
		else
			s->modes &= ~(1u << i);
	}
}

static void modes_end(struct scan *s, bool on)
{
	bool private = s->csi[0] == '?';
	for (char *p = s->csi + private; p; p = strchr(p, ';')) {
		p += *p == ';';
		long number = strtol(p, NULL, 10);
		mode_set(s, private ? number : -number, on);
	}
}

static bool mode_named(const struct scan *s, long number)
{
	for (const char *p = s->csi; p; p = strchr(p, ';')) {
		p++; /* a question mark or a semicolon */
		if (strtol(p, NULL, 10) == number)
			return true;
	}
	return false;
}

static void margins_end(struct scan *s)
{
	char *rest;
	unsigned long top = strtoul(s->csi, &rest, 10), bottom = *rest == ';' ? strtoul(rest + 1, NULL, 10) : 0;
	bool given = (top || bottom) && top < 10000 && bottom < 10000;
	s->top = given ? (top ? (unsigned)top : 1) : 0;
	s->bottom = given ? (unsigned)bottom : 0;
}

/* Each of the two screens has a stack of kitty's flags. */
static void keys_stacked(struct scan *s)
{
	unsigned *n = &s->pushed[scan_full_screen(s)];
	unsigned long less = s->csi[1] ? strtoul(s->csi + 1, NULL, 10) : 1;

	if (s->csi[0] == '>')
		*n += *n < PUSHED_MOST;
	else if (s->csi[0] == '<')
		*n -= less < *n ? (unsigned)less : *n;
}

/* What keys send: CSI > FLAGS u, CSI = FLAGS u, CSI < u, and CSI > 4 ; N m. */
static void keys_end(struct scan *s, char final)
{
	if (final == 'u')
		keys_stacked(s);
	if (final == 'u' && s->csi[0] == '<')
		s->keys = 0;
	else if (final == 'u' && (s->csi[0] == '>' || s->csi[0] == '='))
		s->keys = (unsigned)strtoul(s->csi + 1, NULL, 10) & 0x1f;
	else if (final == 'm' && !strncmp(s->csi, ">4", 2))
		s->other_keys = s->csi[2] == ';' ? (unsigned)strtoul(s->csi + 3, NULL, 10) & 0x3 : 0;
}

/* A mode that may be 2 switched off or 38 switched on, by name or as it was before (XTRESTORE); printing; or more than is kept. */
static bool may_lead_elsewhere(const struct scan *s, char final)
{
	if (s->len == sizeof(s->csi) - 1)
		return true;
	if (final == 'i' || s->csi[0] != '?')
		return final == 'i';
	return (strchr("lr", final) && mode_named(s, 2)) || (strchr("hr", final) && mode_named(s, 38));
}

static void csi_known(struct scan *s, char final)
{
	s->csi[s->len] = '\0';
	s->elsewhere = s->elsewhere || may_lead_elsewhere(s, final);
	s->palette = s->palette || (final == 'Q' && strchr(s->csi, '#')); /* as they were before */
	if (final == 'q' && strchr(s->csi, ' '))
		s->cursor = strtoul(s->csi, NULL, 10) != 0;
	if (strpbrk(s->csi, " !\"#$%&'()*+,-./"))
		return; /* another one that ends in the same letter */
	if (final == 'h' || final == 'l')
		modes_end(s, final == 'h');
	else if (final == 'r' && (s->csi[0] == '\0' || s->csi[0] == ';' || (s->csi[0] >= '0' && s->csi[0] <= '9')))
		margins_end(s);
	else if (final == 'm' && (s->csi[0] < '<' || s->csi[0] > '?'))
		s->coloured = strspn(s->csi, "0;") != s->len;
	else if (final == 'u' || final == 'm')
		keys_end(s, final);
}

/* In a string that goes on for some terminals (tmux, screen) and has ended for others, and where some see no sequence: what it takes back may still be. */
static void csi_end(struct scan *s, char final)
{
	const struct scan before = *s;

	csi_known(s, final);
	if (!s->open && !s->c1)
		return;
	s->modes |= before.modes;
	if (!s->top) {
		s->top = before.top;
		s->bottom = before.bottom;
	}
	s->keys |= before.keys;
	s->other_keys |= before.other_keys;
	s->cursor |= before.cursor;
	s->coloured |= before.coloured;
}

/* Colours: OSC 4, 10, 11 and kitty's 21 with a value, its 30101, as they were before; the Linux console's have neither a semicolon nor an end. */
static void string_byte(struct scan *s, char c)
{
	s->palette = s->palette || (s->asks && c != '?');
	if (s->len >= STRING_KEPT || (c == '0' && !s->len))
		return;
	s->csi[s->len++] = c;
	s->csi[s->len] = '\0';
	if (s->len == 1 && c == 'P')
		s->console = true;
	long number = strtol(s->csi, NULL, 10);
	s->palette = s->palette || number == 30101;
	if (c != ';')
		return;
	s->asks = number == 4 || number == 10 || number == 11 || number == 21;
	s->len = STRING_KEPT;
}

static void step_escape(struct scan *s, char c)
{
	s->state = SCAN_GROUND;
	if (c == '[') {
		s->state = SCAN_CSI;
		s->len = 0;
	} else if (c == ']' || c == 'P' || c == '^' || c == '_' || c == 'X') {
		s->state = SCAN_STRING;
		s->asks = false;
		s->len = c == ']' ? 0 : STRING_KEPT; /* of the others nothing is wanted */
		s->open = s->open ? s->open : c;
	} else if (c == 'k') {
		s->open = s->open ? s->open : c; /* screen's title: letters for all others */
	} else if (c == '\\') {
		s->open = 0;
	} else if (c == 'c' && !s->open) {
		/* xterm and urxvt keep the colours. A VT52 does not take it for a reset. */
		*s = (struct scan){ .state = SCAN_GROUND, .palette = s->palette, .console = s->console, .elsewhere = s->elsewhere };
	} else if (c == '\033') {
		s->state = SCAN_ESCAPE;
	} else if (c == '=' || (c == '>' && !s->open)) {
		s->keypad = c == '=';
	} else if (c >= 0x20 && c <= 0x2f) {
		s->state = SCAN_CHARSET;
	}
}

/* A string that ESC began goes on for who knows no C1. */
static void step_c1(struct scan *s, char c)
{
	char open = s->open_c1 ? 0 : s->open;

	step_escape(s, c);
	s->c1 = s->state == SCAN_CSI;
	s->open_c1 = s->open && !open;
	if (open)
		s->open = open;
}

static void step_csi(struct scan *s, char c)
{
	if (c >= 0x40 && c <= 0x7e) {
		csi_end(s, c);
		s->state = SCAN_GROUND;
	} else if (c == '\033') {
		s->state = SCAN_ESCAPE;
	} else if (c == 0x18 || c == 0x1a) {
		s->state = SCAN_GROUND;
	} else if (s->len < sizeof(s->csi) - 1) {
		s->csi[s->len++] = c;
	}
}

/* Whether C is obeyed where it stands and the sequence goes on behind it: any control but those that end it or begin another one. */
static bool within_sequence(const struct scan *s, char c)
{
	if (s->state != SCAN_ESCAPE && s->state != SCAN_CHARSET && s->state != SCAN_CSI)
		return false;
	return c == 0x7f || ((unsigned char)c < 0x20 && c != '\033' && c != 0x18 && c != 0x1a);
}

static void step(struct scan *s, char c)
{
	bool led = s->lead;

	s->lead = c == C1_LEAD;
	if (led && (unsigned char)c >= C1_FIRST && (unsigned char)c <= C1_LAST) {
		step_c1(s, (char)((unsigned char)c - C1_FIRST + '@'));
		return;
	}
	if (c == '\033')
		s->c1 = s->open_c1 = false;
	if (within_sequence(s, c))
		return;
	switch (s->state) {
	case SCAN_GROUND:
		if (c == '\033')
			s->state = SCAN_ESCAPE;
		break;
	case SCAN_ESCAPE:
		step_escape(s, c);
		break;
	case SCAN_CHARSET:
		if (c == '\033')
			s->state = SCAN_ESCAPE;
		else if (c < 0x20 || c > 0x2f) {
			s->state = SCAN_GROUND;
			s->charset = c != 'B';
		}
		break;
	case SCAN_CSI:
		step_csi(s, c);
		break;
	case SCAN_STRING:
		if (c == '\a' && s->open == ']')
			s->open = 0;
		if (c == '\a' || c == 0x18 || c == 0x1a)
			s->state = SCAN_GROUND;
		else if (c == '\033')
			s->state = SCAN_STRING_ESCAPE;
		else
			string_byte(s, c);
		break;
	case SCAN_STRING_ESCAPE:
		step_escape(s, c);
		break;
	}
}

/* The first byte of BYTES to END that may begin a sequence, or END. *ESCAPE, the next ESC, is looked for once and not for each byte that may be another beginning. */
static const char *next_begin(const char *bytes, const char *end, const char **escape)
{
	if (!*escape || *escape < bytes) {
		*escape = memchr(bytes, '\033', (size_t)(end - bytes));
		*escape = *escape ? *escape : end;
	}
	const char *c1 = memchr(bytes, C1_LEAD, (size_t)(*escape - bytes));

	return c1 ? c1 : *escape;
}

void scan_output(struct scan *s, const char *bytes, size_t n)
{
	const char *end = bytes + n, *escape = NULL;
	while (bytes < end) {
		if (scan_between(s)) {
			bytes = next_begin(bytes, end, &escape);
			if (bytes == end)
				return;
		}
		step(s, *bytes++);
	}
}

bool scan_full_screen(const struct scan *s)
{
	return (s->modes & FULL_SCREEN) != 0;
}

static size_t put(char *buf, size_t cap, size_t len, const char *text)
{
	return len + strlen(text) < cap ? (size_t)(stpcpy(buf + len, text) - buf) : len;
}

/* The modes of the table from place FROM to END that are not as after a reset. */
static size_t put_some(const struct scan *s, size_t from, size_t end, bool restore, char *buf, size_t cap)
{
	size_t len = 0;
	for (size_t i = from; i < end && len + 16 < cap; i++) {
		int number = scan_modes[i].number;
		if (!(s->modes & (1u << i)))
			continue;
		bool on = restore != scan_modes[i].set;
		len += (size_t)snprintf(buf + len, cap - len, "\033[%s%d%c", number > 0 ? "?" : "", abs(number), on ? 'h' : 'l');
	}
	return len;
}

static size_t put_modes(const struct scan *s, bool restore, char *buf, size_t cap)
{
	return put_some(s, SCREENS, FORMS, restore, buf, cap);
}

static size_t put_keys(const struct scan *s, bool restore, char *buf, size_t cap, size_t len)
{
	char text[32];
	if (s->keys) {
		snprintf(text, sizeof(text), "\033[=%u;1u", restore ? s->keys : 0);
		len = put(buf, cap, len, text);
	}
	if (s->other_keys) {
		snprintf(text, sizeof(text), "\033[>4;%um", restore ? s->other_keys : 0);
		len = put(buf, cap, len, text);
	}
	return len;
}

static size_t put_palette(const struct scan *s, char *buf, size_t cap, size_t len)
{
	if (s->console)
		len = put(buf, cap, len, "\033]R\033\\");
	return s->palette ? put(buf, cap, len, "\033]104\a\033]110\a\033]111\a") : len;
}

/* What ends whatever the output stopped in the middle of: a sequence ends with CAN, a string with ST: tmux would take all behind it for the rest of it. */
static size_t put_end(const struct scan *s, char *buf, size_t cap)
{
	size_t len = s->open || s->state != SCAN_GROUND ? put(buf, cap, 0, "\030\033\\") : 0;

	return s->elsewhere ? put(buf, cap, len, SCREEN_AS_EVER) : len;
}

size_t scan_calm(struct scan *s, char *buf, size_t cap)
{
	size_t len = put_end(s, buf, cap);
	s->open = 0;
	s->state = SCAN_GROUND;
	s->lead = s->elsewhere = false;
	len += put_modes(s, false, buf + len, cap - len);
	len = put_keys(s, false, buf, cap, len);
	return put_palette(s, buf, cap, len);
}

size_t scan_restore(const struct scan *s, char *buf, size_t cap)
{
	char text[48];
	size_t len = put_modes(s, true, buf, cap);
	len = put_keys(s, true, buf, cap, len);
	if (!s->top)
		return len;
	/* setting them moves the cursor */
	snprintf(text, sizeof(text), s->bottom ? "\0337\033[%u;%ur\0338" : "\0337\033[%ur\0338", s->top, s->bottom);
	return put(buf, cap, len, text);
}

static size_t put_pops(unsigned n, char *buf, size_t cap, size_t len)
{
	char text[32];

	snprintf(text, sizeof(text), "\033[<%uu", n);
	return n ? put(buf, cap, len, text) : len;
}

size_t scan_leave(const struct scan *s, char *buf, size_t cap)
{
	bool full = scan_full_screen(s);
	size_t len = put_end(s, buf, cap);

	len += put_some(s, SCREENS, MODES, false, buf + len, cap - len);
	len = put_keys(s, false, buf, cap, len);
	len = put_palette(s, buf, cap, len);
	if (full)
		len = put_pops(s->pushed[1], buf, cap, len);
	if (s->top) /* it moves the cursor, which on the other screen has its place again anyhow */
		len = put(buf, cap, len, full ? "\033[r" : "\0337\033[r\0338");
	len += put_some(s, 0, SCREENS, false, buf + len, cap - len);
	len = put_pops(s->pushed[0], buf, cap, len);
	if (s->keypad)
		len = put(buf, cap, len, "\033>");
	if (s->cursor)
		len = put(buf, cap, len, "\033[0 q");
	if (s->charset)
		len = put(buf, cap, len, "\033(B\017");
	return s->coloured || full ? put(buf, cap, len, "\033[0m") : len;
}
