/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: every byte of a name is written so that it matches itself alone; wildcards stand only where a number, letters drawn by lot, a directory's names, those
 * over which files are spread, or an address's ports were generalized, as usher(1) tells under SERVICES. What is written loads. What builtin:secrets denies is allowed
 * where it was done, by a rule before the include: a rule on more than was done stands behind it.
 */
#include "tools/review_rules.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "policy/guard.h"
#include "policy/show.h"
#include "rules/cleanup.h"
#include "rules/op.h"
#include "rules/ruleset.h"
#include "rules/strbuf.h"
#include "tools/review_lot.h"
#include "tools/review_names.h"
#include "tools/review_spread.h"
#include "tools/rule_files.h"
#include "tools/tool.h"

/* Of a process, or a terminal, whose number is another one next time. */
static const char PROC[] = "/proc/[0-9]*", PROC_TASK[] = "/proc/[0-9]*/task/[0-9]*", TERMINAL[] = "/dev/pts/[0-9]*";
static const char OWN_PORT[] = "own "; /* stands before no name: of an address's ports any that the tree itself listens at */

/* What must not be more by a new name: of a rename, and of a hard link, which is decided on as a read and a change of the old one already. */
#define BY_RENAME ((op_set)(OP_READ | OP_MODIFY | OP_DELETE | OP_ATTR))
#define BY_LINK ((op_set)OP_ATTR)

#define PIDS 4194304 /* the kernel's own bound */
#define DIGITS 3 /* a shorter number is too often another one */

#define SPREAD_DEEPEST 24 /* directories below the root among which those are looked for over which files are spread */

#define SECRETS "builtin:secrets"

struct review_rules {
	struct rule_variables variables;
	struct ruleset *secrets;
	struct review_names names;
	struct review_spread spread;
	struct review_names given; /* addresses whose ports the kernel chose, which are others next time */
	size_t unnamed;
	unsigned char pids[PIDS / 8]; /* what has called so far, a bit each */
};

/* Of sockets and addresses no rule is on more than was done, but for ports and numbers. */
static bool before_secrets(void *context, const struct done_to *w)
{
	struct call call = { .syscall = "open", .n_objects = 1 };
	struct verdict v;

	if (w->name[0] != '/' || *w->scheme)
		return true;
	call.object[0] = (struct object){ .kind = OBJECT_FILE, .ops = OP_READ | OP_MODIFY | OP_CREATE | OP_DELETE | OP_ATTR,
					  .name = { w->name, (uint32_t)strlen(w->name) } };
	ruleset_decide(context, &call, &v);
	return v.kind == VERDICT_DENY;
}

struct review_rules *review_rules_new(void)
{
	struct diagnostics found = { 0 };
	struct review_rules *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	rule_variables(&r->variables);
	/* The service's project is not where somebody stands who makes rules for it. */
	for (size_t i = 0; i < r->variables.n; i++) {
		if (strcmp(r->variables.item[i].name, "PWD") == 0)
			r->variables.item[i].value = "/";
	}
	struct ruleset_source source = { .path = SECRETS, .variables = r->variables.item, .n_variables = r->variables.n, .tested = true };
	int rc = ruleset_load(&source, &found, &r->secrets);
	diagnostics_free(&found);
	if (rc != 0) {
		free(r);
		return NULL;
	}
	r->names.first = before_secrets;
	r->names.context = r->secrets;
	return r;
}

void review_rules_free(struct review_rules *r)
{
	if (!r)
		return;
	review_names_free(&r->names);
	review_names_free(&r->given);
	review_spread_free(&r->spread);
	ruleset_free(r->secrets);
	free(r);
}

/* How long "/PREFIX/NUMBER" at the start of NAME is; 0: it does not start so. */
static size_t numbered(const char *name, const char *prefix)
{
	size_t len = strlen(prefix), n = len;

	if (strncmp(name, prefix, len) != 0)
		return 0;
	while (isdigit((unsigned char)name[n]))
		n++;
	return n > len && (name[n] == '/' || name[n] == '\0') ? n : 0;
}

/* Splits NAME into a pattern and what is taken by the byte. NULL: no rule can be on it. */
static const char *scheme_of(char **name)
{
	size_t n;

	if (strncmp(*name, "unix:", 5) == 0) {
		bool abstract = (*name)[5] == '@';
		*name += abstract ? 6 : 5;
		return abstract ? "unix:@" : "unix:";
	}
	if (strncmp(*name, "tcp:", 4) == 0 || strncmp(*name, "udp:", 4) == 0)
		return (*name)[strspn(*name, "tcpudp0123456789abcdef:.[]%")] ? NULL : "";
	if (**name != '/')
		return NULL;
	n = numbered(*name, "/dev/pts/");
	if (n && !(*name)[n]) {
		*name += n;
		return TERMINAL;
	}
	n = numbered(*name, "/proc/");
	if (!n)
		return "";
	*name += n;
	n = numbered(*name, "/task/");
	*name += n;
	return n ? PROC_TASK : PROC;
}

static bool is_pid(const struct review_rules *r, const char *digits, size_t len)
{
	unsigned long pid = len < DIGITS || len > 7 || *digits == '0' ? 0 : strtoul(digits, NULL, 10);

	return pid && pid < PIDS && (r->pids[pid / 8] & 1u << pid % 8);
}

/* In NAME each number that is a process's becomes REVIEW_NUMBER. */
static void unnumber(const struct review_rules *r, char *name)
{
	char *to = name;

	for (size_t len; *name; name += len) {
		size_t other = review_sixteens(name);
		len = other ? other : strspn(name, "0123456789");
		if (!other && is_pid(r, name, len)) {
			*to++ = REVIEW_NUMBER;
			continue;
		}
		len += !len;
		memmove(to, name, len);
		to += len;
	}
	*to = '\0';
}

static void take_pid(struct review_rules *r, const char *text, size_t len)
{
	struct field f;
	int64_t pid;

	if (field_find(text, len, "pid", &f) && field_number(&f, &pid) && pid > 0 && pid < PIDS)
		r->pids[pid / 8] |= (unsigned char)(1u << pid % 8);
}

/* What stands before the name is all of one that has none: an abstract socket's is the kernel's choice. */
static bool is_whole(const char *scheme)
{
	return scheme == PROC || scheme == PROC_TASK || scheme == TERMINAL || strcmp(scheme, "unix:@") == 0;
}

static struct done_to *want(struct review_rules *r, char *name, op_set ops, bool done)
{
	const char *scheme = scheme_of(&name);

	if (!scheme || !ops || (!*name && !is_whole(scheme))) {
		r->unnamed++;
		return NULL;
	}
	if (*name == '/' || *scheme)
		unnumber(r, name);
	if (ops == OP_CONNECT && !*scheme && review_names_find(&r->given, "", name)) {
		*strrchr(name, ':') = '\0';
		scheme = OWN_PORT;
	}
	struct done_to *w = review_names_want(&r->names, scheme, name, ops);
	if (w && done)
		w->done |= ops;
	return w;
}

static op_set ops_in(const struct field *list, bool done)
{
	struct fields all;
	struct field one;
	op_set ops = 0;

	fields_begin(&all, list->value, list->len);
	while (fields_next(&all, &one))
		ops |= op_parse(one.value, one.len);
	/* What was made is there next time. What could not be made, since it was there, is somebody else's. */
	return done && (ops & OP_CREATE) ? ops | OP_MODIFY : ops;
}

/* The members "op" and "object" of the record, or of one of its objects. NULL: no rule is on it. */
static struct done_to *add_object(struct review_rules *r, const char *text, size_t len, op_set *ops, bool done)
{
	struct field op, object, deleted;

	if (!field_find(text, len, "op", &op) || op.kind != FIELD_LIST || !field_find(text, len, "object", &object) || object.kind != FIELD_STRING)
		return NULL;
	CLEANUP_FREE char *name = malloc(object.len + 1);
	long n = name ? field_bytes(&object, name) : -1;
	if (!name)
		r->names.failed = true;
	if (n < 0)
		return NULL;
	name[n] = '\0';
	*ops = ops_in(&op, done);
	/* Of a name with a byte that here means something else there is no rule. */
	if (strlen(name) != (size_t)n || strchr(name, REVIEW_NUMBER))
		*name = '\0';
	char *number = field_find(text, len, "deleted", &deleted) ? review_nameless(name) : NULL;
	if (number) {
		number[0] = REVIEW_NUMBER;
		number[1] = '\0';
	}
	return want(r, name, *ops, done);
}

static bool starts(const struct field *f, const char *with)
{
	size_t len = strlen(with);

	return f->len >= len && memcmp(f->value, with, len) == 0;
}

/* Of a rename or link, whose first two objects are FROM and TO; what makes FROM as well is an exchange, a rename both ways. */
static void add_move(struct review_rules *r, const char *text, size_t len, struct done_to *from, struct done_to *to, bool exchange)
{
	struct field call;

	if (!field_find(text, len, "call", &call))
		return;
	if (starts(&call, "link"))
		review_names_move(&r->names, from, to, BY_LINK);
	if (starts(&call, "rename"))
		review_names_move(&r->names, from, to, BY_RENAME);
	if (starts(&call, "rename") && exchange)
		review_names_move(&r->names, to, from, BY_RENAME);
}

/* A bind to no port in particular says which one it got. Of UDP no rule says `own`. */
static void take_given(struct review_rules *r, const char *text, size_t len)
{
	struct field given;

	if (!field_find(text, len, "given", &given) || given.kind != FIELD_STRING || !starts(&given, "tcp:"))
		return;
	CLEANUP_FREE char *name = malloc(given.len + 1);
	long n = name ? field_bytes(&given, name) : 0;
	if (n > 0) {
		name[n] = '\0';
		review_names_want(&r->given, "", name, OP_BIND);
	}
}

void review_rules_add(struct review_rules *r, const char *text, size_t len, bool done)
{
	struct done_to *end[2] = { NULL };
	op_set ops[3] = { 0 };
	struct field list, one;
	struct fields all;

	take_pid(r, text, len);
	take_given(r, text, len);
	if (!field_find(text, len, "objects", &list) || list.kind != FIELD_LIST) {
		add_object(r, text, len, &ops[2], done);
		return;
	}
	fields_begin(&all, list.value, list.len);
	for (size_t i = 0; fields_next(&all, &one); i++) {
		struct done_to *w = add_object(r, one.value, one.len, &ops[i < 2 ? i : 2], done);
		if (i < 2)
			end[i] = w;
	}
	/* What failed moved nothing: no name has become another one, nor what lies below it. */
	if (done)
		add_move(r, text, len, end[0], end[1], ops[0] & OP_CREATE);
}

static void put_ops(struct strbuf *to, const char *between, op_set ops)
{
	for (unsigned bit = 0; bit < OP_COUNT; bit++) {
		if (!(ops & (1u << bit)))
			continue;
		strbuf_printf(to, "%s%s", between, op_name(bit));
		between = ",";
	}
}

static struct unsteady unsteady_of(const struct done_to *w)
{
	if (*w->scheme || !(w->ops & OP_CREATE))
		return (struct unsteady){ 0 };
	if (!(w->ops & OP_DELETE))
		return review_numbered(w->name);
	return w->drawn ? review_like_word(w->name) : review_unsteady(w->name);
}

/* A name without the letters that may have been drawn by lot, and who had it first. */
struct worded {
	char *name;
	struct done_to *first;
};

static int by_rest(const void *a, const void *b)
{
	const struct worded *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void free_worded(void *of)
{
	struct worded *w = of;

	free(w->name);
	free(w);
}

/* Letters that look like words: where two names differ in nothing else they were drawn, both. FALSE without memory. */
static bool look_at_word(void **tree, struct done_to *w, const struct unsteady *word)
{
	struct worded *key = calloc(1, sizeof(*key)), **at = NULL;

	if (key) {
		*key = (struct worded){ .name = strdup(w->name), .first = w };
		if (key->name)
			memset(key->name + strlen(w->name) - word->suffix - word->lot, '?', word->lot);
		at = key->name ? tsearch(key, tree, by_rest) : NULL;
	}
	if (at && *at != key)
		(*at)->first->drawn = w->drawn = true;
	if (key && (!at || *at != key))
		free_worded(key);
	return at;
}

static void look_for_words(struct review_names *of)
{
	void *tree = NULL;

	for (size_t i = 0; i < of->listed; i++) {
		struct done_to *w = of->list[i];
		bool gone = !*w->scheme && !w->first && w->ops & OP_CREATE && w->ops & OP_DELETE;
		struct unsteady word = gone ? review_like_word(w->name) : (struct unsteady){ 0 };
		if (word.lot && !look_at_word(&tree, w, &word))
			of->failed = true;
	}
	tdestroy(tree, free_worded);
}

/* Some of a name, with a wildcard in the place of each process's number. */
static void put_part(struct strbuf *to, const char *part, size_t len)
{
	size_t done = 0;

	for (const char *hole; (hole = memchr(part + done, REVIEW_NUMBER, len - done)); done = (size_t)(hole - part) + 1) {
		guard_escape(to, (struct span){ part + done, (uint32_t)((size_t)(hole - part) - done) });
		strbuf_puts(to, "[0-9]*");
	}
	guard_escape(to, (struct span){ part + done, (uint32_t)(len - done) });
}

static size_t unsteady_len(const struct unsteady *u)
{
	return u->lot + u->digits + u->whole;
}

static void put_unsteady(struct strbuf *to, const struct unsteady *u)
{
	if (u->whole)
		strbuf_puts(to, "*");
	for (size_t i = 0; i < u->lot; i++)
		strbuf_puts(to, u->one->pattern);
	if (u->digits)
		strbuf_puts(to, "[0-9]*");
}

/* The same, where it stands before letters DRAWN by lot with a wildcard in the place of a day in its last name: Ruby's puma20261130-4242-8sfjq1. */
static void put_dated(struct strbuf *to, const char *part, size_t len, bool drawn)
{
	const char *slash = memrchr(part, '/', len);
	size_t n = 0, at = slash ? (size_t)(slash - part) : 0;

	for (; drawn && at < len; at += n + !n) {
		n = strspn(part + at, "0123456789");
		if (at + n <= len && review_is_day(part + at, n))
			break;
	}
	if (!drawn || at >= len) {
		put_part(to, part, len);
		return;
	}
	put_part(to, part, at);
	strbuf_puts(to, "20[0-9][0-9][0-9][0-9][0-9][0-9]");
	put_part(to, part + at + n, len - at - n);
}

/* What the first LEN bytes of the name are a directory of. */
static const struct done_to *above(const struct review_rules *r, const struct done_to *w, size_t len)
{
	char name[PATH_MAX];

	if (len >= sizeof(name) || (*w->scheme && strcmp(w->scheme, "unix:") != 0))
		return NULL;
	memcpy(name, w->name, len);
	name[len] = 0;
	return review_names_find(&r->names, "", name);
}

/* A directory that was made and is gone again, in one of which all files may be allowed. */
static bool has_passed(const struct done_to *d)
{
	return d && d->directory && !d->first && d->done & OP_CREATE && d->done & OP_DELETE;
}

/*
 * The last directory, or name, of the first LEN bytes, where files are spread over those beside it; PARENT is what the rule says of what is above.
 * Of what is secret each stays what it is.
 */
static struct unsteady spread_at(const struct review_rules *r, const struct done_to *w, size_t len, const char *parent)
{
	const char *slash = memrchr(w->name, '/', len);
	size_t n = slash ? len - (size_t)(slash - w->name) - 1 : 0;

	if (!n || w->first)
		return (struct unsteady){ 0 };
	if (has_passed(above(r, w, len)) && review_spread_passes(&r->spread, parent))
		return (struct unsteady){ .whole = n };
	const struct lot_letter *one = review_spread_is(slash + 1, n) ? review_spread_find(&r->spread, parent, n) : NULL;
	return one ? (struct unsteady){ .lot = n, .one = one } : (struct unsteady){ 0 };
}

/* What is another one next time of the directory that the first LEN bytes of the name are. */
static struct unsteady directory_above(const struct review_rules *r, const struct done_to *w, size_t len, const char *parent)
{
	const struct done_to *d = above(r, w, len);
	struct unsteady u = d ? unsteady_of(d) : (struct unsteady){ 0 };

	return unsteady_len(&u) ? u : spread_at(r, w, len, parent);
}

/* What was written from START on, as a string. */
static const char *written(struct strbuf *to, size_t start)
{
	strbuf_add(to, "", 1);
	if (to->failed)
		return "";
	to->len--;
	return to->bytes + start;
}

/* The name, up to LEN, with wildcards where something is another one next time; the closing quote is the caller's. */
static void put_name(struct strbuf *to, const struct review_rules *r, const struct done_to *w, size_t len)
{
	size_t start = to->len, done = 0;

	strbuf_printf(to, " \"%s", w->scheme);
	for (size_t at = 1; at <= len && w->name[at]; at++) {
		if (w->name[at] != '/')
			continue;
		struct unsteady u = directory_above(r, w, at, written(to, start));
		put_dated(to, w->name + done, at - done - u.suffix - unsteady_len(&u), unsteady_len(&u));
		put_unsteady(to, &u);
		put_part(to, w->name + at - u.suffix, u.suffix);
		done = at;
	}
	put_dated(to, w->name + done, len - done, w->name[len] && w->name[len] != '/');
}

/* The name of the directory that the first LEN bytes are, from FROM on, joins those beside it. */
static void add_spread(struct review_rules *r, const struct done_to *w, size_t from, size_t len)
{
	const struct done_to *d = above(r, w, len);
	bool spread = review_spread_is(w->name + from, len - from), passed = has_passed(d);
	struct unsteady u = passed ? unsteady_of(d) : (struct unsteady){ 0 };
	CLEANUP_STRBUF struct strbuf b = { 0 };

	if (!spread && !passed)
		return;
	put_name(&b, r, w, from - 1);
	const char *parent = written(&b, 0);
	r->spread.failed |= b.failed;
	if (spread)
		review_spread_add(&r->spread, parent, w->name + from, len - from);
	if (passed && !unsteady_len(&u))
		review_spread_passed(&r->spread, parent, w->name + from, len - from);
}

/* The directory DEPTH below the root of what was made. Returns whether there may be more below. */
static bool look_at(struct review_rules *r, const struct done_to *w, size_t depth)
{
	size_t from = 1;

	if (*w->scheme || w->name[0] != '/' || w->first || !(w->ops & w->done & OP_CREATE))
		return false;
	for (; depth && w->name[from]; from++)
		depth -= w->name[from] == '/';
	size_t len = from + strcspn(w->name + from, "/");
	if (depth || !w->name[len])
		return false;
	add_spread(r, w, from, len);
	return true;
}

/* From the root downwards, since a directory below one of those is told by what all of these have for a name. */
static void look_for_spread(struct review_rules *r)
{
	bool more = true;

	for (size_t depth = 0; more && depth < SPREAD_DEEPEST; depth++) {
		more = false;
		for (size_t i = 0; i < r->names.listed; i++)
			more |= look_at(r, r->names.list[i], depth);
	}
}

/* Whether the rule that W makes is on OTHER as well, which had the same done to it: some letters that were drawn by lot look like a word. */
static bool is_alike(const struct done_to *w, const struct done_to *other)
{
	size_t len = strlen(w->name);

	if (w->ops != other->ops || *other->scheme || strlen(other->name) != len)
		return false;
	struct unsteady u = unsteady_of(w);
	size_t end = len - u.suffix, lot = u.lot;
	if (!lot || strncmp(w->name, other->name, end - lot) != 0 || strcmp(w->name + end, other->name + end) != 0)
		return false;
	return strspn(other->name + end - lot, u.one->letters) >= lot;
}

#define NEAR 64 /* names to each side that are looked at; more are rare, and have a rule each */

/* Whether what is to be said of the name at AT is said by the rule of one beside it. */
static bool is_told(const struct review_names *of, size_t at)
{
	const struct done_to *w = of->list[at];

	for (size_t i = at > NEAR ? at - NEAR : 0; i < of->listed && i < at + NEAR; i++) {
		if (i != at && of->list[i]->first == w->first && is_alike(of->list[i], w) && (i < at || !is_alike(w, of->list[i])))
			return true;
	}
	return false;
}

/* Of the name itself. The rule on all of its directory says as much where there is one. */
static struct unsteady spread_end(const struct review_rules *r, const struct done_to *w)
{
	const char *slash = strrchr(w->name, '/');
	CLEANUP_STRBUF struct strbuf b = { 0 };

	put_name(&b, r, w, slash ? (size_t)(slash - w->name) : 0);
	struct unsteady u = spread_at(r, w, strlen(w->name), written(&b, 0));
	return u.whole && w->shared ? (struct unsteady){ 0 } : u;
}

static void put_one(struct strbuf *to, const struct review_rules *r, const struct done_to *w, op_set ops, bool joined)
{
	bool own_port = w->scheme == OWN_PORT, address = own_port || (w->name[0] != '/' && !*w->scheme);
	struct unsteady end = joined ? (struct unsteady){ 0 } : unsteady_of(w);
	if (!joined && !*w->scheme && !address && !unsteady_len(&end))
		end = spread_end(r, w);
	size_t len = joined ? w->directory : strlen(w->name);

	put_ops(to, "allow ", ops);
	if (own_port)
		strbuf_printf(to, " %s:%d-65535", w->name, REVIEW_PORTS);
	else if (address && joined)
		strbuf_printf(to, " %.*s:%d-65535", (int)w->directory, w->name, REVIEW_PORTS);
	else if (address)
		strbuf_printf(to, " %s", w->name);
	else
		put_name(to, r, w, len - unsteady_len(&end) - end.suffix);
	put_unsteady(to, &end);
	if (!address)
		strbuf_printf(to, "%s%s\"", joined ? "/*" : "", w->name + strlen(w->name) - end.suffix);
	strbuf_puts(to, w->scheme == TERMINAL || own_port ? " own\n" : "\n");
}

/* What the rule on all files of its directory would let be done to the program W that was not: what runs under these rules stays what was run. */
static op_set changed_with(const struct review_names *of, const struct done_to *w)
{
	size_t len = w->ops & OP_EXEC && w->name[0] == '/' ? (size_t)(strrchr(w->name, '/') - w->name) : 0;

	for (size_t i = 0; len && i < of->listed; i++) {
		const struct done_to *other = of->list[i];
		if (other->shared & REVIEW_CHANGES && other->directory == len && memcmp(other->name, w->name, len) == 0)
			return other->shared & REVIEW_CHANGES & (op_set)~w->ops;
	}
	return 0;
}

/* What a line is about, and all that lines on it allow so far. */
struct said {
	char *what;
	op_set ops;
};

static int by_what(const void *a, const void *b)
{
	const struct said *x = a, *y = b;

	return strcmp(x->what, y->what);
}

static void free_said(void *of)
{
	struct said *s = of;

	free(s->what);
	free(s);
}

/* The line that begins at FROM, and allows OPS, goes where those before it say as much. LINES is a tree of struct said. */
static void drop_twin(struct strbuf *b, size_t from, op_set ops, void **lines)
{
	struct said *line = b->failed ? NULL : calloc(1, sizeof(*line)), **at = NULL;
	const char *what = line ? memchr(b->bytes + from + strlen("allow "), ' ', b->len - from - strlen("allow ")) : NULL;

	if (what)
		line->what = strndup(what, b->len - (size_t)(what - b->bytes));
	if (what && line->what)
		at = tsearch(line, lines, by_what);
	if (!at)
		b->failed = true;
	else if (!(ops & (op_set)~(*at)->ops))
		b->len = from;
	else
		(*at)->ops |= ops;
	if (line && (!at || *at != line))
		free_said(line);
}

static void put_unchanged(struct strbuf *to, const struct review_rules *r, const struct done_to *w, op_set ops)
{
	if (!ops)
		return;
	put_ops(to, "deny ", ops);
	put_name(to, r, w, strlen(w->name));
	strbuf_puts(to, "\"\n");
}

static void put_all(struct strbuf *to, const struct review_rules *r)
{
	const struct review_names *of = &r->names;
	size_t said = SIZE_MAX; /* in whose directory the rule on all its files was the last */
	void *lines = NULL;

	for (size_t i = 0; i < of->listed; i++) {
		const struct done_to *w = of->list[i];
		if (!w->first && (!i || of->list[i - 1]->first))
			strbuf_puts(to, "include " SECRETS "\n");
		size_t from = to->len;
		if (w->shared && (said == SIZE_MAX || !review_names_together(of->list[said], w))) {
			put_one(to, r, w, w->shared, true);
			drop_twin(to, from, w->shared, &lines);
			said = i;
			from = to->len;
		}
		if (!(w->ops & (op_set)~w->shared) || is_told(of, i))
			continue;
		put_one(to, r, w, w->ops, false);
		drop_twin(to, from, w->ops, &lines);
		put_unchanged(to, r, w, changed_with(of, w));
	}
	tdestroy(lines, free_said);
}

static bool loads(const struct rule_variables *v, const char *text, size_t len)
{
	struct diagnostics found = { 0 };
	struct ruleset_source source = { .path = "rules", .variables = v->item, .n_variables = v->n, .tested = true };
	struct ruleset *rules = NULL;
	bool good = ruleset_parse("rules", text, len, &source, &found, &rules) == 0;

	diagnostics_free(&found);
	if (rules)
		ruleset_free(rules);
	return good;
}

static int write_out(struct review_rules *r, const char *journal, FILE *to)
{
	CLEANUP_STRBUF struct strbuf b = { 0 };
	CLEANUP_FREE char *text = NULL, *shown = NULL;
	struct span where = { journal, (uint32_t)strlen(journal) };
	size_t len, need = show_escape(where, NULL, 0) + 1;

	shown = malloc(need);
	if (!shown)
		return -ENOMEM;
	show_escape(where, shown, need);
	strbuf_printf(&b, "# What was allowed for review in %s. Read it before it is used: it allows whatever was done,\n"
			  "# what was made to be changed as well, of a directory with %d names or more that were used alike all its files (but of\n"
			  "# what " SECRETS " denies, which is above the include, as many alone that were used alike), of an\n"
			  "# address with as many ports from %d on all of these, any number where a process's stood in a name,\n"
			  "# any letters or digits where some at the end of the name of what was made and gone again seem drawn by lot, and any number in sixteens\n"
			  "# where one with many places or zeros in front ended the name of what was made, or files were spread over directories by one.\n", shown, REVIEW_JOINED, REVIEW_PORTS);
	if (r->unnamed)
		strbuf_printf(&b, "# Of what has no name, or none that a rule can be on: %zu call%s, which these rules do not allow.\n", r->unnamed,
			      tool_plural(r->unnamed));
	put_all(&b, r);
	strbuf_puts(&b, "default deny\n");
	if (r->names.failed || r->given.failed || r->spread.failed || strbuf_end(&b, &text, &len) < 0)
		return -ENOMEM;
	if (!loads(&r->variables, text, len))
		return -EINVAL;
	fputs(text, to);
	return 0;
}

int review_rules_put(struct review_rules *r, const char *journal, FILE *to)
{
	review_names_settle(&r->names);
	review_names_sort(&r->names);
	look_for_words(&r->names);
	look_for_spread(r);
	return write_out(r, journal, to);
}
