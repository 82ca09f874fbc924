/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/relay_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DEC private modes that outlive a question. The first three mean "alternate screen". */
static const struct {
	int number;
	bool input;   /* makes the terminal send something: off while a question is up */
	bool set;     /* its state after a reset */
} scan_modes[] = {
	{ 1049, false, false }, { 1047, false, false }, { 47, false, false },  { 25, false, true },
	{ 1, true, false },     { 9, true, false },     { 1000, true, false }, { 1001, true, false },
	{ 1002, true, false },  { 1003, true, false },  { 1004, true, false }, { 2004, true, false },
};

#define MODES (sizeof(scan_modes) / sizeof(scan_modes[0]))
#define FULL_SCREEN 0x7u

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

static void csi_end(struct scan *s, char final)
{
	if ((final != 'h' && final != 'l') || s->csi[0] != '?')
		return;
	s->csi[s->len] = '\0';
	for (char *p = s->csi; p && *p; p = strchr(p, ';')) {
		p++;
		mode_set(s, strtol(p, NULL, 10), final == 'h');
	}
}

static void step_escape(struct scan *s, char c)
{
	s->state = SCAN_GROUND;
	if (c == '[') {
		s->state = SCAN_CSI;
		s->len = 0;
	} else if (c == ']' || c == 'P' || c == '^' || c == '_' || c == 'X') {
		s->state = SCAN_STRING;
	} else if (c == 'c') {
		s->modes = 0;
	} else if (c == '\033') {
		s->state = SCAN_ESCAPE;
	} else if (c >= 0x20 && c <= 0x2f) {
		s->state = SCAN_CHARSET;
	}
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

static void step(struct scan *s, char c)
{
	switch (s->state) {
	case SCAN_GROUND:
		if (c == '\033')
			s->state = SCAN_ESCAPE;
		break;
	case SCAN_ESCAPE:
		step_escape(s, c);
		break;
	case SCAN_CHARSET:
		if (c < 0x20 || c > 0x2f)
			s->state = SCAN_GROUND;
		break;
	case SCAN_CSI:
		step_csi(s, c);
		break;
	case SCAN_STRING:
		if (c == '\a' || c == 0x18 || c == 0x1a)
			s->state = SCAN_GROUND;
		else if (c == '\033')
			s->state = SCAN_STRING_ESCAPE;
		break;
	case SCAN_STRING_ESCAPE:
		if (c == '\\')
			s->state = SCAN_GROUND;
		else
			step_escape(s, c);
		break;
	}
}

void scan_output(struct scan *s, const char *bytes, size_t n)
{
	const char *end = bytes + n;
	while (bytes < end) {
		if (s->state == SCAN_GROUND) {
			bytes = memchr(bytes, '\033', (size_t)(end - bytes));
			if (!bytes)
				return;
		}
		step(s, *bytes++);
	}
}

bool scan_full_screen(const struct scan *s)
{
	return (s->modes & FULL_SCREEN) != 0;
}

static size_t put_modes(const struct scan *s, bool restore, char *buf, size_t cap)
{
	size_t len = 0;
	for (size_t i = 0; i < MODES && len + 16 < cap; i++) {
		bool cursor = scan_modes[i].number == 25;
		if (!(s->modes & (1u << i)) || !(scan_modes[i].input || cursor))
			continue;
		bool on = restore != cursor; /* the cursor's deviation is to be hidden */
		len += (size_t)snprintf(buf + len, cap - len, "\033[?%d%c", scan_modes[i].number, on ? 'h' : 'l');
	}
	return len;
}

size_t scan_calm(const struct scan *s, char *buf, size_t cap)
{
	return put_modes(s, false, buf, cap);
}

size_t scan_restore(const struct scan *s, char *buf, size_t cap)
{
	return put_modes(s, true, buf, cap);
}
