// SPDX-License-Identifier: Apache-2.0
/*
 * What a rule speaks of: names, memfd:, tcp: udp: unix:.
 *
 * MUST: a word that could never match an object as the supervisor names it is an error
 * (relative, '.', '..', a trailing slash), never a rule that does nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/endpoint.h"
#include "rules/links.h"
#include "rules/parser.h"
#include "rules/socket_kinds.h"

struct forms {
	struct parser *p;
	const struct word *w;
	op_set ops;
	struct pattern_list *list;
	size_t skip;
	uint32_t column;
};

static bool starts(const glob_unit *u, size_t n, const char *with)
{
	size_t len = strlen(with);
	if (n < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((u[i] & 0xff) != (unsigned char)with[i])
			return false;
	return true;
}

static bool globstar_at(const glob_unit *u, size_t n)
{
	return n >= 2 && u[0] == '*' && u[1] == '*';
}

/* The column of unit AT: exact where nothing was put in or left out, else the word's. */
static size_t column_of(const struct word *w, size_t at)
{
	return !w->quoted && w->to - w->from == w->n && at <= w->n ? w->from + at : w->from;
}

static int add(struct forms *f, const struct pattern *pattern)
{
	if (f->p->rs->arena.total > RULES_MEMORY || f->list->n >= RULE_PATTERNS)
		return parser_fail(f->p, f->w->from, "the rules take too much memory; fewer patterns were expected");
	int r = reserve((void **)&f->list->item, &f->list->room, f->list->n + 1, sizeof(*pattern));
	if (!r)
		f->list->item[f->list->n++] = *pattern;
	return r;
}

/* A comma where a name ends and another one begins, or would: operations are parted so, and what is denied in this way would be denied nowhere. */
static size_t comma_between(const struct word *w, const glob_unit *u, size_t n)
{
	for (size_t i = 0; !w->quoted && i < n; i++) {
		if (u[i] != ',')
			continue;
		size_t left = n - i - 1;
		if (!left || (u[i + 1] & 0xff) == '/' || (left > 1 && u[i + 1] == '~' && u[i + 2] == '/') || globstar_at(u + i + 1, left))
			return i;
	}
	return n;
}

/* Slashes once, none at the front. Returns the new length, or SIZE_MAX after an error. */
static size_t clean_path(const struct forms *f, const glob_unit *u, size_t n, glob_unit *out)
{
	size_t len = 0, start = 0;
	if (comma_between(f->w, u, n) < n) {
		parser_fail(f->p, f->w->from, "names are separated by blanks; quotes go around one with a comma in it");
		return SIZE_MAX;
	}
	for (size_t i = 0; i <= n; i++) {
		bool slash = i < n && (u[i] & 0xff) == '/';
		if (i < n && !slash) {
			out[len++] = u[i];
			continue;
		}
		size_t part = len - start;
		bool dot = part == 1 && (out[start] & 0xff) == '.';
		bool dots = part == 2 && (out[start] & 0xff) == '.' && (out[start + 1] & 0xff) == '.';
		if (dot || dots) {
			parser_fail(f->p, f->w->from, "'.' and '..' never stand in a canonical name; the name itself was expected");
			return SIZE_MAX;
		}
		if (slash && part)
			out[len++] = '/';
		start = len;
	}
	if (len && n && (u[n - 1] & 0xff) == '/') {
		parser_fail(f->p, f->w->to ? f->w->to - 1 : 0,
			    "ends in a slash; NAME for the directory itself or NAME/** for it and all below was expected");
		return SIZE_MAX;
	}
	return len;
}

int pattern_name(struct arena *a, struct pattern *pattern)
{
	const struct glob *g = &pattern->glob;
	char name[1 + GLOB_TOKENS];
	if (g->literal) {
		pattern->name = g->literal - 1;
		return 0;
	}
	name[0] = '/';
	for (uint32_t i = 0; i < g->prefix; i++)
		name[1 + i] = (char)g->token[i].byte;
	pattern->name = arena_copy(a, name, 1U + g->prefix);
	return pattern->name ? 0 : -ENOMEM;
}

static int compile(struct forms *f, struct pattern *pattern, const glob_unit *u, size_t n, size_t offset)
{
	struct glob_error wrong;
	int r = glob_compile(&f->p->rs->arena, u, n, '/', &wrong, &pattern->glob);
	if (r == 1)
		return parser_fail(f->p, column_of(f->w, wrong.at + offset), "%s", wrong.message);
	if (!r)
		r = pattern_name(&f->p->rs->arena, pattern);
	return r ? r : add(f, pattern);
}

/* What is said of a process's own files, said of every process's. U, of which that many units more are to be had, is written over. */
#define OWN_MORE 32

static int own_form(struct forms *f, struct pattern pattern, glob_unit *u, size_t n)
{
	for (size_t i = 0; f->list->each && i < OWN_LINKS; i++) {
		const char *link = own_links[i].link + 1, *each = own_links[i].each + 1; /* a pattern begins behind the slash */
		size_t len = strlen(link), put = strlen(each);
		if (!starts(u, n, link) || (n > len && (u[len] & 0xff) != '/'))
			continue;
		memmove(u + put, u + len, (n - len) * sizeof(*u));
		for (size_t k = 0; k < put; k++)
			u[k] = (unsigned char)each[k];
		pattern.alias = true;
		return compile(f, &pattern, u, put + n - len, 0);
	}
	return 0;
}

static int path_form(struct forms *f, enum object_kind kind, const glob_unit *u, size_t n)
{
	glob_unit clean[WORD_UNITS + 1 + OWN_MORE];
	if (!n || (u[0] & 0xff) == 0)
		return parser_fail(f->p, f->w->from, "an empty pattern; a name was expected");
	if ((u[0] & 0xff) != '/' && !globstar_at(u, n))
		return parser_fail(f->p, f->w->from,
				   kind == OBJECT_UNIX
					   ? "a unix endpoint begins with unix:/ or unix:** or, abstract, unix:@"
					   : "a pattern begins with / or ** or a variable such as $PWD; names are absolute and canonical");
	bool slash = (u[0] & 0xff) == '/';
	size_t len = clean_path(f, u + slash, n - slash, clean);
	if (len == SIZE_MAX)
		return 1;
	struct pattern pattern = { .kind = kind, .column = f->column };
	pattern.every = len == 2 && globstar_at(clean, len);
	int r = compile(f, &pattern, clean, len, slash + f->skip);
	return r ? r : own_form(f, pattern, clean, len);
}

static int inet_form(struct forms *f, const glob_unit *u, size_t n)
{
	char text[256];
	struct glob_error wrong;
	struct pattern pattern = { .kind = OBJECT_INET, .column = f->column };
	if (n >= sizeof(text))
		return parser_fail(f->p, f->w->from, "an endpoint this long cannot be; tcp:HOST:PORT was expected");
	for (size_t i = 0; i < n; i++)
		text[i] = (char)(u[i] & 0xff);
	text[n] = 0;
	if (endpoint_parse(text, &wrong, &pattern.inet))
		return parser_fail(f->p, column_of(f->w, wrong.at), "%s", wrong.message);
	return add(f, &pattern);
}

static int net_form(struct forms *f, const glob_unit *u, size_t n)
{
	if (starts(u, n, "tcp:") || starts(u, n, "udp:"))
		return inet_form(f, u, n);
	if (starts(u, n, "unix:@")) {
		struct pattern pattern = { .kind = OBJECT_ABSTRACT, .column = f->column };
		return compile(f, &pattern, u + 6, n - 6, 6);
	}
	f->skip = 5;
	if (starts(u, n, "unix:"))
		return path_form(f, OBJECT_UNIX, u + 5, n - 5);
	return parser_fail(f->p, f->w->from,
			   "not an endpoint; tcp:HOST:PORT, udp:HOST:PORT, unix:/PATH or unix:@NAME was expected");
}

/* Whether some kind of socket is called as G says. */
static bool is_some_kind(const struct glob *g)
{
	const char *name;
	for (unsigned i = 0; (name = socket_example(i)); i++)
		if (glob_match(g, name, strlen(name)))
			return true;
	return false;
}

static int socket_form(struct forms *f, const glob_unit *u, size_t n)
{
	struct pattern pattern = { .kind = OBJECT_SOCKET, .column = f->column };
	glob_unit whole[SOCKET_NAME_MAX];
	char text[SOCKET_NAME_MAX];
	const char *name = text, *wrong = NULL;
	bool wild = false;
	for (size_t i = 0; i < n && i < sizeof(text) - 1; i++) {
		wild |= u[i] == '*' || u[i] == '?' || u[i] == '[';
		text[i] = (char)(u[i] & 0xff);
	}
	text[n < sizeof(text) - 1 ? n : sizeof(text) - 1] = 0;
	if (!wild)
		wrong = socket_word(text, &name);
	if (wrong)
		return parser_fail(f->p, f->w->from, "%s", wrong);
	for (n = name == text ? n : 0; name != text && name[n]; n++)
		whole[n] = (glob_unit)(unsigned char)name[n];
	int r = compile(f, &pattern, name == text ? u : whole, n, 0);
	if (r || !wild || is_some_kind(&f->list->item[f->list->n - 1].glob))
		return r;
	return parser_fail(f->p, f->w->from, "no kind of socket is called so; usher.rules(5) lists them");
}

static int file_form(struct forms *f, const glob_unit *u, size_t n)
{
	static const char *const endpoints[] = { "tcp:", "udp:", "unix:" };
	f->skip = 0;
	for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++)
		if (starts(u, n, endpoints[i]))
			return parser_fail(f->p, f->w->from,
					   "an endpoint where a file was expected; connect, bind, send and net take endpoints");
	if (!starts(u, n, "memfd:"))
		return path_form(f, OBJECT_FILE, u, n);
	static const glob_unit all[] = { '*', '*' };
	struct pattern pattern = { .kind = OBJECT_MEMFD, .column = f->column };
	return n == 6 ? compile(f, &pattern, all, 2, 0) : compile(f, &pattern, u + 6, n - 6, 6);
}

static int one_form(void *context, const glob_unit *u, size_t n)
{
	struct forms *f = context;
	if (f->ops == OP_SOCKET)
		return socket_form(f, u, n);
	return f->ops & OPS_NET ? net_form(f, u, n) : file_form(f, u, n);
}

int parse_patterns(struct parser *p, const struct word *w, op_set ops, struct pattern_list *list)
{
	struct forms f = { .p = p, .w = w, .ops = ops, .list = list };
	/* On a continued line a column says nothing beside the rule's own line. */
	if (w->from < p->lexer->first_end)
		f.column = w->from - (uint32_t)p->lexer->line_start + 1;
	return expand_braces(p, w, 0, one_form, &f);
}

struct globs {
	struct forms f;
	char sep;
	struct glob *glob;
	uint32_t n, room;
};

static int glob_form(void *context, const glob_unit *u, size_t n)
{
	struct globs *g = context;
	struct glob_error wrong;
	glob_unit clean[WORD_UNITS + 1];
	if (g->sep == '/') {
		bool slash = n && (u[0] & 0xff) == '/';
		if (!slash && !globstar_at(u, n))
			return parser_fail(g->f.p, g->f.w->from, "a program's name begins with / or ** or a variable");
		n = clean_path(&g->f, u + slash, n - slash, clean);
		u = clean;
	}
	if (n == SIZE_MAX)
		return 1;
	int r = reserve((void **)&g->glob, &g->room, g->n + 1, sizeof(*g->glob));
	if (!r)
		r = glob_compile(&g->f.p->rs->arena, u, n, g->sep, &wrong, &g->glob[g->n]);
	if (r == 1)
		return parser_fail(g->f.p, g->f.w->from, "%s", wrong.message);
	g->n += r == 0;
	return r;
}

int parse_globs(struct parser *p, const struct word *w, size_t skip, char sep, const struct glob **out, uint32_t *n)
{
	struct globs g = { .f = { .p = p, .w = w }, .sep = sep };
	int r = expand_braces(p, w, skip, glob_form, &g);
	struct glob *kept = r ? NULL : arena_alloc(&p->rs->arena, (g.n + 1) * sizeof(*kept));
	if (kept && g.n)
		memcpy(kept, g.glob, g.n * sizeof(*kept));
	*out = kept;
	*n = g.n;
	free(g.glob);
	return r ? r : kept ? 0 : -ENOMEM;
}
