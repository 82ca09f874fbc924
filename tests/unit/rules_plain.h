/* SPDX-License-Identifier: Apache-2.0 */
/* A matcher that is plain enough to be believed: what the compiled one is compared with. */
#ifndef USHER_TESTS_RULES_PLAIN_H
#define USHER_TESTS_RULES_PLAIN_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- the plain matcher: absolute pattern P from PAT on, against the absolute name S ---- */

static bool in_class(const char **p, char c)
{
	const char *at = *p + 1;
	bool negated = *at == '!', hit = false;
	at += negated;
	for (const char *first = at; at == first || *at != ']'; at++) {
		if (at[1] == '-' && at[2] != ']') {
			hit |= at[0] <= c && c <= at[2];
			at += 2;
		} else {
			hit |= *at == c;
		}
	}
	*p = at + 1;
	return hit != negated;
}

static bool plain(const char *pat, const char *p, const char *s)
{
	if (!*p)
		return !*s;
	while (strncmp(p, "/**/**", 6) == 0 && (p[6] == '/' || !p[6]))
		p += 3;
	if (strcmp(p, "/**") == 0 && (!*s || *s == '/'))
		return true;
	if (p[0] == '*' && p[1] == '*') {
		bool whole = (p == pat || p[-1] == '/') && (p[2] == '/' || !p[2]);
		if (whole && p[2] == '/') {
			if (plain(pat, p + 3, s))
				return true;
			for (const char *t = s; (t = strchr(t, '/')); t++)
				if (plain(pat, p + 3, t + 1))
					return true;
			return false;
		}
		for (size_t k = 0; k <= strlen(s); k++)
			if (plain(pat, p + 2, s + k))
				return true;
		return false;
	}
	if (*p == '*') {
		for (size_t k = 0;; k++) {
			if (plain(pat, p + 1, s + k))
				return true;
			if (!s[k] || s[k] == '/')
				return false;
		}
	}
	if (!*s)
		return false;
	if (*p == '[')
		return *s != '/' && in_class(&p, *s) && plain(pat, p, s + 1);
	if (*p == '?')
		return *s != '/' && plain(pat, p + 1, s + 1);
	return *p == *s && plain(pat, p + 1, s + 1);
}

/* {a,b} first, then the match; both without their leading slash. */
static bool reference(const char *p, const char *s)
{
	const char *open = strchr(p, '{');
	/* No component is empty: the root is matched by its own name and by nothing but globstars. */
	if (!open && !s[1] && strspn(p, "/*") != strlen(p))
		return false;
	if (!open && !s[1] && (strcmp(p, "/*") == 0 || strstr(p, "/*/") || (strlen(p) > 2 && strcmp(p + strlen(p) - 2, "/*") == 0)))
		return false;
	if (!open)
		return plain(p + (*p == '/'), p + (*p == '/'), s + 1);
	const char *close = strchr(open, '}');
	for (const char *from = open + 1; from <= close;) {
		const char *end = from + strcspn(from, ",}");
		char form[512];
		snprintf(form, sizeof(form), "%.*s%.*s%s", (int)(open - p), p, (int)(end - from), from, close + 1);
		if (reference(form, s))
			return true;
		from = end + 1;
	}
	return false;
}

#endif
