/* SPDX-License-Identifier: Apache-2.0 */
/* MUST: what is written loads. */
#include "tools/review_rules.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "audit/field.h"
#include "policy/show.h"
#include "rules/cleanup.h"
#include "rules/op.h"
#include "rules/ruleset.h"
#include "rules/source.h"
#include "rules/strbuf.h"
#include "tools/review_lines.h"
#include "tools/review_lot.h"
#include "tools/review_place.h"
#include "tools/review_state.h"
#include "tools/tool.h"

const char review_terminal[] = "/dev/pts/[0-9]*", review_own_port[] = "own ";

/* Of a process, whose number is another one next time. */
static const char PROC[] = "/proc/[0-9]*", PROC_TASK[] = "/proc/[0-9]*/task/[0-9]*";

/* What has no name but one of the kernel's, in which there is a number that is another one next time. */
static const char PIPE[] = "memfd:pipe:*", SOCKET[] = "memfd:socket:*";

/* What must not be more by a new name: of a rename, and of a hard link, which is decided on as a read and a change of the old one already. */
#define BY_RENAME ((op_set)(OP_READ | OP_MODIFY | OP_DELETE | OP_ATTR))
#define BY_LINK ((op_set)OP_ATTR)

#define DIGITS 3 /* a shorter number is too often another one */

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
	struct ruleset_source source = { .path = REVIEW_SECRETS, .variables = r->variables.item, .n_variables = r->variables.n, .tested = true };
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

/* As scheme_of, of what no directory has: "pipe:[123]". */
static const char *nameless_scheme(char **name)
{
	if (strncmp(*name, "memfd:", 6) == 0) {
		*name += 6;
		return "memfd:";
	}
	const char *scheme = strncmp(*name, "pipe:[", 6) == 0 ? PIPE : strncmp(*name, "socket:[", 8) == 0 ? SOCKET : NULL;
	if (scheme)
		*name += strlen(*name);
	else if (strncmp(*name, "anon_inode:", 11) == 0)
		scheme = "memfd:";
	return scheme;
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
		return nameless_scheme(name);
	n = numbered(*name, "/dev/pts/");
	if (n && !(*name)[n]) {
		*name += n;
		return review_terminal;
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

	return pid && pid < REVIEW_PIDS && (r->pids[pid / 8] & 1u << pid % 8);
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

	if (field_find(text, len, "pid", &f) && field_number(&f, &pid) && pid > 0 && pid < REVIEW_PIDS)
		r->pids[pid / 8] |= (unsigned char)(1u << pid % 8);
}

/* What stands before the name is all of one that has none: an abstract socket's is the kernel's choice. */
static bool is_whole(const char *scheme)
{
	return scheme == PROC || scheme == PROC_TASK || scheme == review_terminal || scheme == PIPE || scheme == SOCKET || strcmp(scheme, "unix:@") == 0;
}

static struct done_to *want(struct review_rules *r, char *name, op_set ops, bool done)
{
	const char *scheme = scheme_of(&name);

	/* What runs without a name whoever made it can change: that takes a rule of a person's. */
	if (scheme && strncmp(scheme, "memfd:", 6) == 0)
		ops &= (op_set)~OP_EXEC;
	if (!scheme || !ops || (!*name && !is_whole(scheme))) {
		r->unnamed++;
		return NULL;
	}
	if (*name == '/' || *scheme)
		unnumber(r, name);
	if (ops == OP_CONNECT && !*scheme && review_names_find(&r->given, "", name)) {
		*strrchr(name, ':') = '\0';
		scheme = review_own_port;
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
			  "# what " REVIEW_SECRETS " denies, which is above the include, as many alone that were used alike), of an\n"
			  "# address with as many ports from %d on all of these, any number where a process's stood in a name,\n"
			  "# any letters or digits where some at the end of the name of what was made and gone again seem drawn by lot, and any number in sixteens\n"
			  "# where one with many places or zeros in front ended the name of what was made, or files were spread over directories by one.\n", shown, REVIEW_JOINED, REVIEW_PORTS);
	if (r->unnamed)
		strbuf_printf(&b, "# Of what has no name, or none that a rule can be on: %zu call%s, which these rules do not allow.\n", r->unnamed,
			      tool_plural(r->unnamed));
	review_lines_put(&b, r);
	strbuf_puts(&b, "default deny\n");
	if (r->names.failed || r->given.failed || r->spread.failed || strbuf_end(&b, &text, &len) < 0)
		return -ENOMEM;
	if (len > SOURCE_MAX)
		return -EFBIG;
	if (!loads(&r->variables, text, len))
		return -EINVAL;
	fputs(text, to);
	return 0;
}

int review_rules_put(struct review_rules *r, const char *journal, FILE *to)
{
	review_names_settle(&r->names);
	review_names_sort(&r->names);
	review_places_find(r);
	return write_out(r, journal, to);
}
