/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names in queries: see query.h. */
#include "audit/query.h"

#include <string.h>

static bool glob_at(const char *g, const char *g_end, const char *s, const char *end, unsigned depth);

/* The end of the alternative at G: its comma, or, where COMMAS do not count, the brace that closes all. NULL when there is none. */
static const char *alternative_end(const char *g, const char *g_end, bool commas)
{
	unsigned open = 0;
	for (; g < g_end; g++) {
		if (!open && (*g == '}' || (commas && *g == ',')))
			return g;
		open += *g == '{';
		open -= *g == '}';
		g += *g == '\\' && g + 1 < g_end;
	}
	return NULL;
}

/* The alternatives of {a,b} at G, each with what follows the brace. */
static bool match_braces(const char *g, const char *g_end, const char *s, const char *end, unsigned depth)
{
	const char *close = alternative_end(g + 1, g_end, false);
	if (!close)
		return s < end && *s == '{' && glob_at(g + 1, g_end, s + 1, end, depth + 1);
	for (const char *alt = g + 1; alt <= close;) {
		const char *stop = alternative_end(alt, g_end, true);
		for (const char *to = s; to <= end; to++)
			if (glob_at(alt, stop, s, to, depth + 1) && glob_at(close + 1, g_end, to, end, depth + 1))
				return true;
		alt = stop + 1;
	}
	return false;
}

/* Whether C is in the class that begins at *g ("[...]"); *g is moved behind it. */
static bool match_class(const char **g, const char *g_end, char c)
{
	const char *p = *g + 1;
	bool not = p < g_end && (*p == '!' || *p == '^'), in = false;
	p += not;
	for (bool first = true; p < g_end && (*p != ']' || first); first = false) {
		char low = *p++, high = low;
		if (p + 1 < g_end && p[0] == '-' && p[1] != ']') {
			high = p[1];
			p += 2;
		}
		in |= (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
	}
	*g = p < g_end ? p + 1 : p;
	return in != not && c != '/';
}

static bool match_star(const char *g, const char *g_end, const char *s, const char *end, unsigned depth)
{
	bool deep = g + 1 < g_end && g[1] == '*';
	g += deep ? 2 : 1;
	for (;; s++) {
		if (glob_at(g, g_end, s, end, depth + 1))
			return true;
		if (s == end || (!deep && *s == '/'))
			return false;
	}
}

/* A component ** with one behind it, which may also be none at all. */
static bool any_components(const char *g, const char *g_end)
{
	return g_end - g > 3 && !memcmp(g, "**/", 3);
}

static bool glob_at(const char *g, const char *g_end, const char *s, const char *end, unsigned depth)
{
	const char *begin = g;
	if (depth > 64)
		return false;
	while (g < g_end) {
		if (*g == '*' && g > begin && g[-1] == '/' && any_components(g, g_end) && glob_at(g + 3, g_end, s, end, depth + 1))
			return true;
		if (*g == '*')
			return match_star(g, g_end, s, end, depth);
		if (*g == '{')
			return match_braces(g, g_end, s, end, depth);
		if (s == end)
			return false;
		if (*g == '[') {
			if (!match_class(&g, g_end, *s))
				return false;
		} else if (*g == '?') {
			if (*s == '/')
				return false;
			g++;
		} else {
			g += *g == '\\' && g + 1 < g_end;
			if (*g++ != *s)
				return false;
		}
		s++;
	}
	return s == end;
}

static bool glob_whole(const char *g, const char *g_end, const char *s, const char *end)
{
	for (; any_components(g, g_end); g += 3)
		if (glob_at(g, g_end, s, end, 0))
			return true;
	return glob_at(g, g_end, s, end, 0);
}

bool query_glob(const char *glob, const char *bytes, size_t n)
{
	size_t len = strlen(glob);
	if (glob_whole(glob, glob + len, bytes, bytes + n))
		return true;
	/* dir/ ** is the directory and all below it */
	return len > 3 && !strcmp(glob + len - 3, "/**") && glob_whole(glob, glob + len - 3, bytes, bytes + n);
}
