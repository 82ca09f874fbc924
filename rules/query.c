// SPDX-License-Identifier: Apache-2.0
/* A call in words: expect lines, and what explain is asked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/endpoint.h"
#include "rules/parser.h"
#include "rules/socket_kinds.h"

struct asked {
	struct parser *p;
	struct arena *arena;
	const struct line *line;
	struct call *call;
	bool uid; /* said */
};

static struct span span_of(const char *text)
{
	return (struct span){ text, text ? (uint32_t)strlen(text) : 0 };
}

static int inet_object(struct asked *a, const struct word *w, const char *text, struct object *o)
{
	struct glob_error wrong;
	if (endpoint_parse_one(text, &wrong, &o->inet))
		return parser_fail(a->p, w->from, "%s", wrong.message);
	o->kind = OBJECT_INET;
	return 0;
}

static int socket_object(struct asked *a, const struct word *w, const char *text, struct object *o)
{
	const char *name, *wrong = socket_word(text, &name);
	if (!wrong && strchr(name, '*'))
		wrong = "one kind of socket was expected: raw:icmp, netlink:audit ...";
	if (wrong)
		return parser_fail(a->p, w->from, "%s", wrong);
	o->kind = OBJECT_SOCKET;
	o->name = span_of(name);
	return 0;
}

/*
 * Makes NAME what an object's name is, as patterns are made: slashes once. Whether '.' or '..' is a component, or it ends in a slash, is told:
 * no object is called so, and rules would be asked about another one than is meant.
 */
static const char *make_canonical(char *name)
{
	size_t len = 0;
	for (size_t i = 0; name[i]; i++)
		if (name[i] != '/' || !len || name[len - 1] != '/')
			name[len++] = name[i];
	name[len] = 0;
	if (len > 1 && name[len - 1] == '/')
		return "ends in a slash; the name itself was expected";
	for (const char *at = name; at; at = strchr(at + 1, '/')) {
		size_t part = strcspn(at + 1, "/");
		if ((part == 1 && at[1] == '.') || (part == 2 && at[1] == '.' && at[2] == '.'))
			return "'.' and '..' never stand in a canonical name; the name itself was expected";
	}
	return NULL;
}

/* Also as a journal has it: what no directory has goes by a name of the kernel's. */
static bool is_nameless(const char *text)
{
	static const char *const kinds[] = { "memfd:", "pipe:[", "socket:[", "anon_inode:" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(text, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static int set_object(struct asked *a, const struct word *w)
{
	struct object *o = &a->call->object[0];
	char *text = word_text(a->arena, w, 0);
	bool net = o->ops & OPS_NET;
	if (!text)
		return -ENOMEM;
	if (o->ops == OP_SOCKET)
		return socket_object(a, w, text, o);
	if (net && (strncmp(text, "tcp:", 4) == 0 || strncmp(text, "udp:", 4) == 0))
		return inet_object(a, w, text, o);
	if (!net && is_nameless(text)) {
		o->kind = OBJECT_MEMFD;
		o->name = span_of(text);
		return 0;
	}
	if (net && strncmp(text, "unix:@", 6) == 0) {
		o->kind = OBJECT_ABSTRACT;
		o->name = span_of(text + 6);
		return 0;
	}
	if (net && strncmp(text, "unix:/", 6) != 0)
		return parser_fail(a->p, w->from, "an endpoint was expected: tcp:ADDRESS:PORT, udp:ADDRESS:PORT, unix:/PATH or unix:@NAME");
	if (!net && text[0] != '/')
		return parser_fail(a->p, w->from, "an absolute name was expected");
	const char *wrong = make_canonical(net ? text + 5 : text);
	if (wrong)
		return parser_fail(a->p, w->from, "%s", wrong);
	o->kind = net ? OBJECT_UNIX : OBJECT_FILE;
	o->name = span_of(net ? text + 5 : text);
	return 0;
}

/* The words from INDEX on as one argument list; "" is none. */
static int set_argv(struct asked *a, size_t index, size_t skip)
{
	size_t n = 1, len = 0;
	for (size_t i = index; i < a->line->n; i++)
		n += a->line->word[i].n + 1U;
	char *text = arena_alloc(a->arena, n);
	if (!text)
		return -ENOMEM;
	for (size_t i = index; i < a->line->n; i++) {
		const struct word *w = &a->line->word[i];
		if (i > index)
			text[len++] = ' ';
		for (size_t u = i == index ? skip : 0; u < w->n; u++)
			text[len++] = (char)(w->units[u] & 0xff);
	}
	a->call->argv = (struct span){ len ? text : NULL, (uint32_t)len };
	return 0;
}

static int set_uid(struct asked *a, const struct word *w, const char *text)
{
	char *end;
	unsigned long uid = strtoul(text, &end, 10);
	if (!*text || *end || uid > UINT32_MAX)
		return parser_fail(a->p, w->from, "a user number was expected");
	a->call->by.uid = (uid_t)uid;
	a->uid = true;
	return 0;
}

static int set_tree(struct asked *a, const char *text)
{
	struct image *image = arena_alloc(a->arena, sizeof(*image));
	if (!image)
		return -ENOMEM;
	image->exe = span_of(text);
	a->call->by.ancestors = image;
	a->call->by.n_ancestors = 1;
	return 0;
}

/* own, vacant, by X, tree X, uid X, makes X, argv X...; with '=' instead of the blank as well. Moves *index on. */
static int set_detail(struct asked *a, size_t *index)
{
	static const char *const keys[] = { "by", "tree", "uid", "makes", "argv" };
	const struct word *w = &a->line->word[*index];
	bool own = word_is(w, "own"), vacant = word_is(w, "vacant");
	if (own || vacant) {
		a->call->object[0].own |= own;
		a->call->object[0].vacant |= vacant;
		++*index;
		return 0;
	}
	char *text = word_text(a->arena, w, 0);
	if (!text)
		return -ENOMEM;
	for (unsigned k = 0; k < 5; k++) {
		size_t len = strlen(keys[k]);
		bool apart = strcmp(text, keys[k]) == 0, joined = strncmp(text, keys[k], len) == 0 && text[len] == '=';
		if (!apart && !joined)
			continue;
		*index += apart ? 1 : 0;
		if (*index >= a->line->n)
			return parser_fail(a->p, w->to, "a value was expected behind '%s'", keys[k]);
		const struct word *v = &a->line->word[(*index)++];
		if (k == 4) {
			size_t first = *index - 1;
			*index = apart ? a->line->n : *index;
			struct line one = { .word = a->line->word, .n = *index };
			struct asked b = { .p = a->p, .arena = a->arena, .line = &one, .call = a->call };
			return set_argv(&b, first, apart ? 0 : len + 1);
		}
		const char *value = word_text(a->arena, v, apart ? 0 : len + 1);
		if (!value)
			return -ENOMEM;
		if (k == 2)
			return set_uid(a, v, value);
		if (k == 3)
			return makes_parse(value, &a->call->object[0].makes) ? 0 : parser_fail(a->p, v->from, "file, directory, link or node was expected");
		if (*value != '/') /* programs have whole names: no by= or tree= would match */
			return parser_fail(a->p, v->from + (apart ? 0 : len + 1), "a program's absolute name was expected, such as /usr/bin/cat");
		if (k == 1)
			return set_tree(a, value);
		a->call->by.image.exe = span_of(value);
		return 0;
	}
	return parser_fail(a->p, w->from, "by, tree, uid, own, vacant, makes or argv was expected");
}

static int parse_asked(struct asked *a, size_t first)
{
	const struct line *line = a->line;
	if (line->n < first + 2)
		return parser_fail(a->p, line->to, "OPERATION OBJECT was expected");
	char *op = word_text(a->arena, &line->word[first], 0);
	if (!op)
		return -ENOMEM;
	a->call->syscall = "query";
	a->call->n_objects = 1;
	a->call->by.image.exe = span_of("/");
	a->call->object[0].ops = op_parse(op, strlen(op));
	if (!a->call->object[0].ops)
		return parser_fail(a->p, line->word[first].from,
				   "not an operation; read, modify, create, delete, attr, stat, write, open, exec, connect, bind, send, net or socket was expected");
	int r = set_object(a, &line->word[first + 1]);
	for (size_t i = first + 2; !r && i < line->n;)
		r = set_detail(a, &i);
	return r;
}

int parse_expect(struct parser *p, const struct line *line)
{
	static const enum verdict_kind kinds[] = { VERDICT_DENY, VERDICT_KILL, VERDICT_ASK, VERDICT_REWRITE, VERDICT_ALLOW };
	struct expectation e = { .kind = VERDICT_NONE };
	for (size_t i = 0; line->n > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (word_is(&line->word[1], verdict_name(kinds[i])))
			e.kind = kinds[i];
	if (e.kind == VERDICT_NONE)
		return parser_fail(p, line->n > 1 ? line->word[1].from : line->to,
				   "expect VERDICT OPERATION OBJECT was expected; a verdict is allow, deny, ask, rewrite or kill");
	struct asked a = { .p = p, .arena = &p->rs->arena, .line = line, .call = &e.call };
	int r = parse_asked(&a, 2);
	if (r)
		return r;
	struct place at = lexer_place(p->lexer, line->from);
	e.file = at.file;
	e.line = at.line;
	e.column = at.column;
	e.depth = p->depth;
	e.text = arena_copy(&p->rs->arena, p->lexer->source->text + line->from, line->to - line->from);
	r = e.text ? reserve((void **)&p->rs->expect, &p->rs->room_expect, p->rs->n_expect + 1, sizeof(e)) : -ENOMEM;
	if (!r)
		p->rs->expect[p->rs->n_expect++] = e;
	return r;
}

static int parse_text(struct parser *p, struct lexer *lexer, struct arena *arena, struct query *out)
{
	struct line line;
	int r = lexer_next(lexer, &line);
	if (r < 0)
		return r;
	if (r == 0) {
		struct place at = { .file = lexer->source->name };
		findings_add(p->found, DIAGNOSTIC_ERROR, &at, "OPERATION OBJECT was expected");
		return 1;
	}
	struct asked a = { .p = p, .arena = arena, .line = &line, .call = &out->call };
	r = line.broken ? 1 : parse_asked(&a, 0);
	out->uid = a.uid;
	if (!r && (r = lexer_next(lexer, &line)) > 0)
		parser_fail(p, line.from, "a second line; one question was expected");
	return r;
}

int query_parse(const char *text, const struct ruleset_source *variables, struct diagnostics *found, struct query *out)
{
	struct source source = { .name = "query", .text = text, .len = strlen(text) };
	struct variables *v = calloc(1, sizeof(*v));
	struct arena *arena = calloc(1, sizeof(*arena));
	struct lexer lexer = { .source = &source, .variables = v, .found = found, .arena = arena, .line_number = 1 };
	struct parser p = { .found = found, .variables = v, .lexer = &lexer };
	*out = (struct query){ .memory = arena };
	int r = v && arena ? variables_import(v, arena, variables) : -ENOMEM;
	if (!r)
		r = source_check(&source, found);
	if (!r)
		r = parse_text(&p, &lexer, arena, out);
	free(v);
	if (r)
		query_free(out);
	return r;
}

void query_free(struct query *q)
{
	if (q->memory)
		arena_free(q->memory);
	free(q->memory);
	*q = (struct query){ .memory = NULL };
}
