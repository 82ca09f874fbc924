// SPDX-License-Identifier: Apache-2.0
/*
 * Warnings about rules: never used, contradicted, unanswerable, about names that are not there.
 *
 * MUST: a warning that a rule can never match is only given where that is certain.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/cleanup.h"
#include "rules/endpoint_text.h"
#include "rules/findings.h"
#include "rules/links.h"
#include "tools/rule_files.h"

enum { RULE_SHOWN = 200 }; /* bytes of a rule in a message about something else */

static void report(struct check *c, enum diagnostic_level level, const struct rule *r, uint32_t column, const char *message)
{
	struct place at = { .file = r->file, .line = r->line, .column = column ? column : rule_column(r),
			    .source = { r->text, (uint32_t)strlen(r->text) }, .indent = rule_column(r) - 1 };
	findings_add(&c->found, level, &at, "%s", message);
}

static bool refuses(const struct rule *r)
{
	return r->kind == VERDICT_DENY || r->kind == VERDICT_KILL;
}

struct shadow {
	const struct rule *rule;
	const struct rule *first;
	op_set left;
	uint32_t pattern;
	bool held; /* it counts beside what stands firm: of the others only what refuses, or names the address, too, comes first */
};

/* Rules come in their order: behind what leaves nothing no other is the first. */
static bool note_shadow(void *context, const struct rule *r)
{
	struct shadow *s = context;
	if (!rule_before(r, s->rule))
		return false;
	if (!(s->rule->ops & r->ops) || rule_conditional(r) || r->firm)
		return true;
	if (s->held && !refuses(r) && !rule_names(r, s->rule, s->pattern))
		return true;
	s->left &= (op_set)~(unsigned)r->ops;
	s->first = s->first && rule_before(s->first, r) ? s->first : r;
	return s->left != 0;
}

/* The first of the earlier rules that leave nothing to RULE's pattern; NULL when something is left for it. */
static const struct rule *shadow(const struct ruleset *layer, const struct rule *rule, uint32_t pattern)
{
	struct shadow s = { .rule = rule, .left = rule->ops, .pattern = pattern };
	if (rule->firm)
		return NULL;
	rules_covering(layer, rule, pattern, note_shadow, &s);
	if (!s.left && rule_beside_firm(layer, rule, pattern)) {
		s = (struct shadow){ .rule = rule, .left = rule->ops, .pattern = pattern, .held = true };
		rules_covering(layer, rule, pattern, note_shadow, &s);
	}
	return s.left ? NULL : s.first;
}

static void warn_shadowed(struct check *c, const struct rule *rule, const struct rule *by, uint32_t column, const char *what)
{
	char message[300];
	bool contradicts = by->kind != rule->kind || by->loopback != rule->loopback;
	snprintf(message, sizeof(message), "%s: %s (%s%s) decides first%s", what, by->where, verdict_name(by->kind), by->loopback ? ", loopback" : "",
		 contradicts ? ", and contradicts it" : "");
	report(c, DIAGNOSTIC_WARNING, rule, column, message);
}

static bool missing(const char *bytes, size_t len)
{
	char path[PATH_MAX];
	struct stat st;
	if (len >= sizeof(path))
		return true;
	memcpy(path, bytes, len);
	path[len] = 0;
	return lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

static bool names_too(const struct rule *rule, const struct rule_pattern *name)
{
	struct rule_pattern p;
	for (uint32_t i = 0; rule_pattern(rule, i, &p); i++)
		if (p.kind == name->kind && p.exact && p.prefix_len == name->prefix_len && !memcmp(p.prefix, name->prefix, p.prefix_len))
			return true;
	return false;
}

/* A refusal of a file by its one name holds for its other names, too: what decides on that name first leaves it those. */
static bool has_other_names(const struct rule *rule, const struct rule_pattern *p, const struct rule *first)
{
	return refuses(rule) && (p->kind == OBJECT_FILE || p->kind == OBJECT_UNIX) && p->exact && !p->alias &&
	       !(refuses(first) && names_too(first, p)) && !missing(p->prefix, p->prefix_len);
}

static void lint_shadows(struct check *c, const struct ruleset *layer, const struct rule *rule)
{
	struct rule_pattern p;
	const struct rule *by = NULL;
	uint32_t n = 0, dead = 0;
	for (; rule_pattern(rule, n, &p); n++) {
		const struct rule *s = p.alias ? NULL : shadow(layer, rule, n);
		s = s && has_other_names(rule, &p, s) ? NULL : s;
		dead += s != NULL || p.alias;
		by = s ? s : by;
	}
	if (n && dead == n && by) {
		warn_shadowed(c, rule, by, rule_column(rule), "this rule can never match");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct rule *s = shadow(layer, rule, i);
		if (!s || !rule_pattern(rule, i, &p) || p.alias)
			continue;
		if (!has_other_names(rule, &p, s))
			warn_shadowed(c, rule, s, p.column, "this pattern can never match");
		else if (!refuses(s))
			warn_shadowed(c, rule, s, p.column, "this matches hard links to the file alone");
	}
}

struct refusal {
	const struct ruleset *layer;
	const struct rule *rule;
	const struct rule *by;
};

static bool refuses_all(const struct rule *r, const struct rule *rule)
{
	struct rule_pattern unused;
	uint32_t p = 0;
	while (rule_pattern(rule, p, &unused) && rule_covers(r, rule, p))
		p++;
	return !rule_pattern(rule, p, &unused);
}

static bool note_refusal(void *context, const struct rule *r)
{
	struct refusal *f = context;
	if (f->by)
		return false;
	if (!refuses(r) || rule_conditional(r) || (f->rule->ops & (op_set)~(unsigned)r->ops))
		return true;
	/* Only where nothing in that layer comes before the refusal. */
	if (refuses_all(r, f->rule) && !shadow(f->layer, r, 0))
		f->by = r;
	return !f->by;
}

/* A rule that another layer's refusal leaves nothing to. */
static const struct rule *refused_elsewhere(const struct ruleset *other, const struct rule *rule)
{
	struct refusal f = { other, rule, NULL };
	struct rule_pattern unused;
	if (rule_pattern(rule, 0, &unused))
		rules_covering(other, rule, 0, note_refusal, &f);
	return f.by;
}

static void lint_layers(struct check *c, size_t layer, const struct rule *rule)
{
	char message[300];
	for (size_t i = 0; i < c->n_files && !refuses(rule); i++) {
		const struct rule *r = i == layer || !c->layer[i] ? NULL : refused_elsewhere(c->layer[i], rule);
		if (!r)
			continue;
		snprintf(message, sizeof(message), "has no effect: another layer's %s (%s) is stricter", r->where,
			 verdict_name(r->kind));
		report(c, DIAGNOSTIC_WARNING, rule, rule_column(rule), message);
		return;
	}
}

/* Several names of one rule are told of together: a rule for many machines has many. */
struct missing_names {
	char text[600];
	size_t len;
	size_t n, told;
	uint32_t column;
};

static void note_missing(struct missing_names *m, const struct rule_pattern *p)
{
	if (m->len >= p->prefix_len && strstr(m->text, p->prefix))
		return;
	m->column = m->n++ ? m->column : p->column;
	if (m->n > 4 || m->len + p->prefix_len + 8 > sizeof(m->text))
		return;
	m->told++;
	m->len += (size_t)snprintf(m->text + m->len, sizeof(m->text) - m->len, "%s%.*s", m->len ? ", " : "",
				   (int)p->prefix_len, p->prefix);
}

static void lint_missing(struct check *c, const struct rule *rule)
{
	struct rule_pattern p;
	struct missing_names m = { .len = 0 };
	char message[800];
	for (uint32_t i = 0; rule_pattern(rule, i, &p); i++) {
		if ((p.kind != OBJECT_FILE && p.kind != OBJECT_UNIX) || p.alias)
			continue;
		/* What a rule lets be made need not be there yet; its directory must. */
		if (p.exact && (rule->ops & (OP_CREATE | OP_BIND)))
			while (p.prefix_len > 1 && p.prefix[--p.prefix_len] != '/')
				;
		if (p.prefix_len && missing(p.prefix, p.prefix_len))
			note_missing(&m, &p);
	}
	if (!m.n)
		return;
	if (m.told)
		snprintf(message, sizeof(message), "%s%s %s not exist", m.text, m.told < m.n ? ", ..." : "", m.n > 1 ? "do" : "does");
	else
		snprintf(message, sizeof(message), "what it names does not exist");
	report(c, DIAGNOSTIC_WARNING, rule, m.column, message);
}

/* It would hold for a process's own files, and holds for nothing; what restricts holds for every process's. */
static void lint_self(struct check *c, const struct rule *rule)
{
	struct rule_pattern p;
	bool gives = rule->kind == VERDICT_ALLOW || rule->kind == VERDICT_REWRITE;
	for (uint32_t i = 0; gives && rule_pattern(rule, i, &p); i++) {
		bool named = (p.kind == OBJECT_FILE || p.kind == OBJECT_UNIX) && !p.alias;
		if (!named || !links_of_self(p.prefix, p.prefix_len) || missing(p.prefix, p.prefix_len))
			continue;
		report(c, DIAGNOSTIC_WARNING, rule, p.column, "no object is called so, since /proc/self is a link: /proc/[0-9]*/ is every process's directory");
		return;
	}
}

/* An address with bits behind its prefix, where one address may have been meant. */
static void lint_prefixes(struct check *c, const struct rule *rule)
{
	struct rule_pattern p;
	char net[ENDPOINT_TEXT_MAX], message[200];
	for (uint32_t i = 0; rule_pattern(rule, i, &p); i++) {
		if (p.kind != OBJECT_INET || !p.inet_cut)
			continue;
		endpoint_text(&p.inet, net); /* tcp:ADDRESS:PORT */
		int bits = net[4] == '[' ? p.inet_prefix : p.inet_prefix - 96;
		snprintf(message, sizeof(message), "this is every address of %.*s/%d: the bits behind the prefix do not count",
			 (int)(strrchr(net, ':') - net) - 4, net + 4, bits);
		report(c, DIAGNOSTIC_WARNING, rule, p.column, message);
	}
}

/* A condition on a program that is not there never holds. */
static void lint_programs(struct check *c, const struct rule *rule)
{
	struct span program;
	char message[PATH_MAX + 64], path[PATH_MAX];
	for (uint32_t i = 0; rule_program(rule, i, &program); i++) {
		if (!program.bytes || program.len + 2 > sizeof(path))
			continue;
		int n = snprintf(path, sizeof(path), "/%.*s", (int)program.len, program.bytes);
		if (!missing(path, (size_t)n))
			continue;
		snprintf(message, sizeof(message), "the program %s does not exist", path);
		report(c, DIAGNOSTIC_WARNING, rule, rule_column(rule), message);
		return;
	}
}

/* As usher run would have it: without --ask a person at the terminal, and without one nobody. */
static const char *nobody(const struct check *c)
{
	if (c->channel)
		return strcmp(c->channel, "deny") == 0 ? "asks, but with --ask=deny nobody answers: it denies" : NULL;
	CLEANUP_FD int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? "asks, but without a terminal and without --ask nobody answers: it denies" : NULL;
}

static void lint_ask(struct check *c, const struct rule *rule, const char *why)
{
	if (why && rule->kind == VERDICT_ASK && !rule_asks_nobody(rule) && rule->otherwise == VERDICT_DENY)
		report(c, DIAGNOSTIC_WARNING, rule, rule_column(rule), why);
}

static void lint_default(struct check *c, size_t layer, const char *why)
{
	const char *where;
	char file[PATH_MAX + 64];
	if (!why || ruleset_default(c->layer[layer], &where) != VERDICT_ASK || strncmp(where, "builtin:", 8) == 0)
		return;
	const char *colon = strrchr(where, ':'); /* FILE:LINE, of an included file perhaps */
	snprintf(file, sizeof(file), "%.*s", colon ? (int)(colon - where) : 0, where);
	struct place at = { .file = colon ? file : c->files[layer], .line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0, .column = 1 };
	findings_add(&c->found, DIAGNOSTIC_WARNING, &at, "the default %s", why);
}

/* An editor that saved nothing, or all in comments: it loads, and alone it denies whatever is asked. */
static void lint_empty(struct check *c, size_t layer)
{
	if (!ruleset_silent(c->layer[layer]))
		return;
	struct place at = { .file = c->files[layer], .line = 1, .column = 1 };
	findings_add(&c->found, DIAGNOSTIC_WARNING, &at, "nothing here decides anything: without another file everything is denied");
}

static void lint_renames(struct check *c, const struct rule *rule)
{
	char message[400];
	uint32_t column;
	if (check_renames(c, rule, &column, message, sizeof(message)))
		report(c, DIAGNOSTIC_WARNING, rule, column, message);
}

static void lint_sockets(struct check *c, size_t layer, const struct rule *rule)
{
	char message[400];
	if (check_sockets(c, layer, rule, message, sizeof(message)))
		report(c, DIAGNOSTIC_WARNING, rule, rule_column(rule), message);
}

static bool links_unprotected(void)
{
	char value = '1';
	CLEANUP_FD int fd = open("/proc/sys/fs/protected_hardlinks", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, &value, 1) == 1 && value == '0';
}

static void lint_links(struct check *c, const struct rule *rule)
{
	struct rule_pattern p;
	for (uint32_t i = 0; refuses(rule) && rule_pattern(rule, i, &p); i++) {
		if (p.kind != OBJECT_FILE || p.exact)
			continue;
		report(c, DIAGNOSTIC_WARNING, rule, p.column,
		       "fs.protected_hardlinks is off: another program's hard link to a file that only this pattern names is not covered; a literal name is");
		return;
	}
}

void check_lint(struct check *c)
{
	bool links = links_unprotected();
	const char *why = nobody(c);
	for (size_t i = 0; i < c->n_files; i++) {
		const struct rule *r;
		lint_default(c, i, why);
		lint_empty(c, i);
		for (size_t n = 0; (r = ruleset_rule(c->layer[i], n)); n++) {
			if (!rule_own(r))
				continue;
			lint_shadows(c, c->layer[i], r);
			lint_layers(c, i, r);
			lint_missing(c, r);
			lint_self(c, r);
			lint_prefixes(c, r);
			lint_programs(c, r);
			lint_ask(c, r, why);
			lint_renames(c, r);
			lint_sockets(c, i, r);
			if (links)
				lint_links(c, r);
		}
	}
}

static bool has_variable(const char *text)
{
	return strpbrk(text, "$~") != NULL;
}

/* What variables stand for where RULE or the expectation has some: by them a line holds in one directory and fails in another. "" else. */
static const char *stand_for(const struct check *c, const char *rule, const struct expectation *e, char *out, size_t cap)
{
	size_t len = 0;
	out[0] = 0;
	if (!has_variable(rule) && !has_variable(e->text))
		return out;
	for (size_t i = 0; i < c->variables.n && len < cap; i++) {
		const struct variable *v = &c->variables.item[i];
		if (v->value[0] == '/')
			len += (size_t)snprintf(out + len, cap - len, "%s $%s is %s", len ? "," : "; here", v->name, v->value);
	}
	return out;
}

static void check_one(struct check *c, const struct ruleset *layer, const struct expectation *e)
{
	struct verdict v;
	ruleset_decide(layer, &e->call, &v);
	enum verdict_kind kind = v.kind;
	if (kind == VERDICT_NONE)
		kind = v.unnamed ? VERDICT_ALLOW : VERDICT_DENY;
	if (kind == e->kind)
		return;
	struct place at = { .file = e->file, .line = e->line, .column = e->column,
			    .source = { e->text, (uint32_t)strlen(e->text) }, .indent = e->column - 1 };
	const char *rule = v.rule ? v.rule->text : "";
	char here[4 * PATH_MAX];
	findings_add(&c->found, DIAGNOSTIC_ERROR, &at, "expected %s, but it is %s by %s%s%.*s%s%s", verdict_name(e->kind),
		     verdict_name(kind), v.where, *rule ? ": " : "", RULE_SHOWN, rule, strlen(rule) > RULE_SHOWN ? "..." : "", stand_for(c, rule, e, here, sizeof(here)));
}

void check_expectations(struct check *c)
{
	const struct expectation *e;
	for (size_t i = 0; i < c->n_files; i++)
		for (size_t n = 0; (e = ruleset_expectation(c->layer[i], n)); n++)
			if (e->depth == 0)
				check_one(c, c->layer[i], e);
}
