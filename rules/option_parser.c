// SPDX-License-Identifier: Apache-2.0
/*
 * NAME=VALUE behind a rule.
 *
 * MUST: an option that the rule's verdict or operations cannot honour is an error; so is one
 * that is given twice.
 */
#include <errno.h>
#include <string.h>

#include "rules/parser.h"

#define V(kind) (1U << (kind))
#define V_ANY (V(VERDICT_DENY) | V(VERDICT_KILL) | V(VERDICT_ASK) | V(VERDICT_REWRITE) | V(VERDICT_ALLOW))

struct target {
	struct parser *p;
	const struct word *w;
	size_t skip; /* units before the value */
	const char *name;
	const char *value;
	struct compiled_rule *rule;
	struct conditions *when;
};

static int expected(const struct target *t, const char *what)
{
	return parser_fail(t->p, t->w->from + (t->w->quoted ? 0 : t->skip), "%s was expected", what);
}

static bool digits(const char **at, uint32_t *out)
{
	uint64_t value = 0;
	const char *s = *at;
	while (*s >= '0' && *s <= '9' && s - *at < 10)
		value = value * 10 + (uint64_t)(*s++ - '0');
	bool any = s != *at && value < UINT32_MAX;
	*at = s;
	*out = (uint32_t)value;
	return any;
}

/* 90, 90s, 5m, 2h, 1d in seconds. */
static bool duration(const char *text, uint32_t *out)
{
	static const struct {
		const char *unit;
		uint32_t seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	uint32_t value;
	if (!digits(&text, &value) || !value)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].unit) == 0 && value <= UINT32_MAX / units[i].seconds) {
			*out = value * units[i].seconds;
			return true;
		}
	}
	return false;
}

static bool parse_range(const char *text, struct range *out)
{
	if (!digits(&text, &out->lo))
		return false;
	out->hi = out->lo;
	if (*text == '-' && !text[1]) {
		out->hi = UINT32_MAX;
		return true;
	}
	if (*text == '-' && (text++, !digits(&text, &out->hi)))
		return false;
	return !*text && out->lo <= out->hi;
}

static int opt_by(struct target *t)
{
	t->when->has_by = true;
	return parse_globs(t->p, t->w, t->skip, '/', &t->when->by, &t->when->n_by);
}

static int opt_tree(struct target *t)
{
	t->when->has_tree = true;
	return parse_globs(t->p, t->w, t->skip, '/', &t->when->tree, &t->when->n_tree);
}

static int opt_argv(struct target *t)
{
	t->when->has_argv = true;
	return parse_globs(t->p, t->w, t->skip, ' ', &t->when->argv, &t->when->n_argv);
}

static int opt_env(struct target *t)
{
	t->when->has_env = true;
	t->rule->pub.narrow = true;
	return parse_globs(t->p, t->w, t->skip, 0, &t->when->env, &t->when->n_env);
}

static bool is_sha256(const struct glob *g)
{
	return g->literal && strlen(g->literal) == 64 && strspn(g->literal, "0123456789abcdef") == 64;
}

static int opt_sha256(struct target *t)
{
	t->when->has_sha256 = true;
	t->rule->pub.narrow = true;
	int r = parse_globs(t->p, t->w, t->skip, ' ', &t->when->sha256, &t->when->n_sha256);
	for (uint32_t i = 0; !r && i < t->when->n_sha256; i++)
		if (!is_sha256(&t->when->sha256[i]))
			return expected(t, "a digest of 64 hexadecimal digits in lower case, as sha256sum prints it,");
	return r;
}

static int opt_trusted(struct target *t)
{
	t->when->has_trusted = true;
	return 0;
}

static int opt_own(struct target *t)
{
	t->when->has_own = true;
	return 0;
}

static int opt_vacant(struct target *t)
{
	t->when->has_vacant = true;
	return 0;
}

static int opt_makes(struct target *t)
{
	t->when->has_makes = true;
	if (!(t->rule->pub.ops & OP_CREATE))
		return parser_fail(t->p, t->w->from, "makes= is for create (or write), which this rule does not speak of");
	return makes_parse(t->value, &t->when->makes) ? 0 : expected(t, "file, directory, link or node");
}

static int opt_uid(struct target *t)
{
	t->when->has_uid = true;
	return parse_range(t->value, &t->when->uid) ? 0 : expected(t, "a user number or a range LOW-HIGH");
}

static int opt_depth(struct target *t)
{
	t->when->has_depth = true;
	return parse_range(t->value, &t->when->depth)
		       ? 0
		       : expected(t, "how many images stand above the caller: N, LOW-HIGH or LOW-");
}

static int opt_args(struct target *t)
{
	return parse_args(t->p, t->w, t->skip, t->rule);
}

static int opt_argv0(struct target *t)
{
	return *t->value ? parse_argv0(t->p, t->value, t->rule) : expected(t, "a name");
}

static int opt_timeout(struct target *t)
{
	return duration(t->value, &t->rule->pub.timeout_s) ? 0 : expected(t, "a time such as 60s, 5m or 2h");
}

static int opt_else(struct target *t)
{
	static const enum verdict_kind kinds[] = { VERDICT_DENY, VERDICT_ALLOW, VERDICT_KILL, VERDICT_ASK };
	bool ask = t->rule->pub.kind == VERDICT_ASK;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		bool fits = ask ? kinds[i] != VERDICT_ASK : kinds[i] == VERDICT_DENY || kinds[i] == VERDICT_ASK;
		if (fits && strcmp(t->value, verdict_name(kinds[i])) == 0) {
			t->rule->pub.otherwise = kinds[i];
			return 0;
		}
	}
	return expected(t, ask ? "deny, allow or kill" : "deny or ask");
}

static int opt_remember(struct target *t)
{
	static const char *const names[] = { "once", "session", "tree" };
	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(t->value, names[i]) == 0) {
			t->rule->pub.remember = (enum remember)i;
			return 0;
		}
	}
	t->rule->pub.remember = REMEMBER_TIME;
	return duration(t->value, &t->rule->pub.remember_s) ? 0 : expected(t, "once, session, tree or a time such as 10m");
}

static int opt_limit(struct target *t)
{
	static const struct {
		const char *name;
		uint32_t seconds;
	} periods[] = { { "s", 1 },   { "sec", 1 },   { "second", 1 }, { "m", 60 },   { "min", 60 }, { "minute", 60 },
			{ "h", 3600 }, { "hour", 3600 }, { "d", 86400 }, { "day", 86400 } };
	const char *at = t->value;
	struct rule *r = &t->rule->pub;
	if (!digits(&at, &r->limit) || !r->limit || *at++ != '/')
		return expected(t, "a rate such as 100/min, 5/s or 20/10m");
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
		if (strcmp(at, periods[i].name) == 0)
			r->limit_period_s = periods[i].seconds;
	if (!r->limit_period_s && !duration(at, &r->limit_period_s))
		return expected(t, "a rate such as 100/min, 5/s or 20/10m");
	r->limit_slot = t->p->rs->limit_slots;
	return 0;
}

static int opt_errno(struct target *t)
{
	t->rule->pub.error = errno_parse(t->value);
	return t->rule->pub.error ? 0 : expected(t, "an errno name such as ENOENT, EACCES or EPERM");
}

static int opt_log(struct target *t)
{
	static const char *const names[] = { "normal", "alert", "none" };
	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(t->value, names[i]) == 0) {
			t->rule->pub.log = (enum log_level)i;
			return 0;
		}
	}
	return expected(t, "normal, alert or none");
}

static int opt_reason(struct target *t)
{
	t->rule->pub.reason = t->value;
	return *t->value ? 0 : expected(t, "a sentence for people, in quotes,");
}

static int opt_after(struct target *t)
{
	const char *at = t->value;
	static const char *const scopes[] = { [AFTER_PROGRAM] = "/program", [AFTER_OBJECT] = "/object", [AFTER_RULE] = "/rule" };
	bool ok = digits(&at, &t->rule->pub.after) && t->rule->pub.after;
	for (unsigned i = 0; ok && *at && i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		if (strcmp(at, scopes[i]) == 0) {
			t->rule->pub.after_scope = (enum after_scope)i;
			return 0;
		}
	}
	return ok && !*at ? 0 : expected(t, "a number of answers, at least 1, and for what they count (3, 3/program, 3/object, 3/rule)");
}

static int opt_stack(struct target *t)
{
	t->rule->pub.evidence |= EVIDENCE_STACK;
	return 0;
}

static int opt_hash(struct target *t)
{
	t->rule->pub.evidence |= EVIDENCE_HASH;
	return 0;
}

static int opt_firm(struct target *t)
{
	t->rule->pub.firm = true;
	return 0;
}

static int opt_review(struct target *t)
{
	t->rule->pub.review = true;
	return 0;
}

static int opt_loopback(struct target *t)
{
	t->rule->pub.loopback = true;
	return 0;
}

static int opt_show(struct target *t)
{
	t->rule->pub.show_asked = true;
	return strcmp(t->value, "asked") == 0 ? 0 : expected(t, "asked");
}

#define NAME(text) text, sizeof(text) - 1

static const struct option {
	const char *name; /* with '=' when it takes a value */
	size_t len;
	unsigned verdicts;
	const char *where; /* which verdicts, for people */
	int (*parse)(struct target *t);
} options[] = {
	{ NAME("by="), V_ANY, "", opt_by },
	{ NAME("tree="), V_ANY, "", opt_tree },
	{ NAME("argv="), V_ANY, "", opt_argv },
	{ NAME("args="), V(VERDICT_REWRITE), "rewrite", opt_args },
	{ NAME("argv0="), V(VERDICT_REWRITE), "rewrite", opt_argv0 },
	{ NAME("env="), V_ANY, "", opt_env },
	{ NAME("makes="), V_ANY, "", opt_makes },
	{ NAME("uid="), V_ANY, "", opt_uid },
	{ NAME("depth="), V_ANY, "", opt_depth },
	{ NAME("timeout="), V(VERDICT_ASK), "ask", opt_timeout },
	{ NAME("else="), V(VERDICT_ASK) | V(VERDICT_ALLOW) | V(VERDICT_REWRITE), "ask, or a rule with limit=", opt_else },
	{ NAME("remember="), V(VERDICT_ASK), "ask", opt_remember },
	{ NAME("limit="), V(VERDICT_ASK) | V(VERDICT_ALLOW) | V(VERDICT_REWRITE), "allow, rewrite and ask", opt_limit },
	{ NAME("errno="), V(VERDICT_DENY), "deny", opt_errno },
	{ NAME("log="), V_ANY, "", opt_log },
	{ NAME("reason="), V_ANY, "", opt_reason },
	{ NAME("after="), V(VERDICT_ASK), "ask", opt_after },
	{ NAME("show="), V(VERDICT_REWRITE), "rewrite", opt_show },
	{ NAME("sha256="), V_ANY, "", opt_sha256 },
	{ NAME("trusted"), V_ANY, "", opt_trusted },
	{ NAME("own"), V(VERDICT_ALLOW), "allow", opt_own }, /* not known of every name at first: only an allow may wait for it */
	{ NAME("vacant"), V(VERDICT_DENY), "deny", opt_vacant }, /* somebody may listen there a moment later: only a refusal is right then, too */
	{ NAME("stack"), V_ANY, "", opt_stack },
	{ NAME("hash"), V_ANY, "", opt_hash },
	{ NAME("firm"), V(VERDICT_DENY) | V(VERDICT_KILL), "deny and kill", opt_firm },
	{ NAME("review"), V(VERDICT_ASK), "ask", opt_review },
	{ NAME("loopback"), V(VERDICT_ALLOW), "allow", opt_loopback },
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

static bool is_flag(const struct option *o)
{
	return o->name[o->len - 1] != '=';
}

static bool names(const struct word *w, const struct option *o)
{
	if (w->n < o->len || (is_flag(o) && w->n != o->len))
		return false;
	for (size_t i = 0; i < o->len; i++)
		if (w->units[i] != (glob_unit)(unsigned char)o->name[i])
			return false;
	return true;
}

bool is_flag_word(const struct word *w)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (is_flag(&options[i]) && word_is(w, options[i].name))
			return true;
	return false;
}

/* How many letters and digits W begins with. */
static uint32_t letters(const struct word *w)
{
	uint32_t n = 0;
	while (n < w->n && ((w->units[n] >= 'a' && w->units[n] <= 'z') || (w->units[n] >= '0' && w->units[n] <= '9')))
		n++;
	return n;
}

/* A flag, or letters and digits, then '=': an option, known or not. */
bool is_option(const struct word *w)
{
	if (w->n && w->units[0] == '/') /* most words */
		return false;
	uint32_t n = letters(w);
	return is_flag_word(w) || (n && n < w->n && w->units[n] == '=');
}

static const struct option *find(const struct word *w)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (names(w, &options[i]))
			return &options[i];
	return NULL;
}

static void option_names(const char *known[OPTIONS + 1])
{
	for (size_t i = 0; i < OPTIONS; i++)
		known[i] = options[i].name;
	known[OPTIONS] = NULL;
}

int option_meant(struct parser *p, const struct word *w, const char **out)
{
	const char *known[OPTIONS + 1];
	*out = NULL;
	if (w->quoted || letters(w) < w->n) /* most words */
		return 0;
	const char *word = word_text(&p->scratch, w, 0);
	option_names(known);
	*out = word ? suggest(word, known) : NULL;
	return word ? 0 : -ENOMEM;
}

static int unknown_option(struct parser *p, const struct word *w)
{
	const char *known[OPTIONS + 1];
	char list[WORD_LIST];
	char *word = word_text(&p->scratch, w, 0);
	if (word)
		word[strcspn(word, "=")] = '\0';
	option_names(known);
	for (size_t i = 0; word && i < OPTIONS; i++)
		if (strcmp(word, options[i].name) == 0)
			return parser_fail(p, w->from, "%s takes no value", word);
	return parser_fail_word(p, w->from, word, known, "unknown option; %s was expected", list_words(list, known));
}

int parse_option(struct parser *p, const struct word *w, struct compiled_rule *rule, struct conditions *when)
{
	const struct option *o = find(w);
	if (!o)
		return unknown_option(p, w);
	if (!(o->verdicts & V(rule->pub.kind)))
		return parser_fail(p, w->from, "%s belongs to %s, not to %s", o->name, o->where, verdict_name(rule->pub.kind));
	struct target t = { .p = p, .w = w, .skip = o->len, .name = o->name, .rule = rule, .when = when };
	t.value = word_text(&p->rs->arena, w, t.skip);
	return t.value ? o->parse(&t) : -ENOMEM;
}

static uint32_t bit_of(const struct option *o)
{
	return 1U << (o - options);
}

static bool addresses_only(const struct compiled_rule *rule)
{
	bool all = rule->n_patterns > 0;
	for (uint32_t i = 0; i < rule->n_patterns; i++)
		all = all && rule->pattern[i].kind == OBJECT_INET;
	return all;
}

static bool tcp_only(const struct compiled_rule *rule)
{
	bool all = addresses_only(rule);
	for (uint32_t i = 0; i < rule->n_patterns; i++)
		all = all && rule->pattern[i].inet.proto == PROTO_TCP;
	return all;
}

static bool names_abstract(const struct compiled_rule *rule)
{
	bool some = false;
	for (uint32_t i = 0; i < rule->n_patterns; i++)
		some = some || rule->pattern[i].kind == OBJECT_ABSTRACT;
	return some;
}

static bool leads_here(const struct compiled_rule *rule)
{
	bool all = !(rule->pub.ops & ~(op_set)(OP_CONNECT | OP_SEND));
	for (uint32_t i = 0; i < rule->n_patterns; i++)
		all = all && (rule->pattern[i].kind == OBJECT_UNIX || (rule->pattern[i].kind == OBJECT_INET && rule->pattern[i].inet.proto == PROTO_TCP));
	return all;
}

/* review alone asks nobody: what speaks of questions and answers says nothing beside it. */
static bool needs_question(const struct option *o)
{
	return o->parse == opt_timeout || o->parse == opt_else || o->parse == opt_remember;
}

/* What depends on the whole rule. */
int check_options(struct parser *p, const struct line *line, const struct compiled_rule *rule, uint32_t from)
{
	uint32_t seen = 0;
	for (size_t i = from; i < line->n; i++) {
		const struct word *w = &line->word[i];
		const struct option *o = is_option(w) ? find(w) : NULL;
		if (!o)
			continue;
		if (seen & bit_of(o))
			return parser_fail(p, w->from, "%s is given twice; {a,b} takes several values", o->name);
		seen |= bit_of(o);
		if (o->parse == opt_argv && rule->pub.ops != OP_EXEC)
			return parser_fail(p, w->from, "argv= belongs to exec rules");
		if ((o->parse == opt_args || o->parse == opt_argv0) && rule->pub.ops != OP_EXEC)
			return parser_fail(p, w->from, "%s belongs to rewrite exec", o->name);
		if (o->parse == opt_firm && !addresses_only(rule))
			return parser_fail(p, w->from, "firm belongs to rules on tcp: and udp: addresses alone");
		if (o->parse == opt_show && rule->pub.ops != OP_CONNECT)
			return parser_fail(p, w->from, "show= belongs to rewrite connect");
		if (o->parse == opt_env && rule->pub.ops != OP_EXEC)
			return parser_fail(p, w->from, "env= belongs to exec rules");
		if ((o->parse == opt_sha256 || o->parse == opt_trusted || o->parse == opt_hash) && rule->pub.ops != OP_EXEC)
			return parser_fail(p, w->from, "%s belongs to exec rules", o->name);
		if (o->parse == opt_own && (rule->pub.ops & (OP_EXEC | OPS_NET | OP_SOCKET)) && !leads_here(rule))
			return parser_fail(p, w->from, "own speaks of terminals and of sockets that somebody has bound; it belongs to rules on files, or on connect and send, with tcp: and unix: paths alone");
		if (o->parse == opt_vacant && (rule->pub.ops != OP_CONNECT || names_abstract(rule)))
			return parser_fail(p, w->from, "vacant speaks of places where nobody listens; it belongs to rules on connect alone, with tcp:, udp: and unix: paths, not unix:@");
		if (o->parse == opt_loopback && (rule->pub.ops != OP_BIND || !tcp_only(rule)))
			return parser_fail(p, w->from, "loopback speaks of what listens; it belongs to rules on bind alone, with tcp: addresses alone");
		if (o->parse == opt_else && rule->pub.kind != VERDICT_ASK && !rule->pub.limit)
			return parser_fail(p, w->from, "else= belongs to ask, or to a rule with limit=");
		if (needs_question(o) && rule_asks_nobody(&rule->pub))
			return parser_fail(p, w->from, "%s is about questions, and a rule with review asks none without after= or limit=", o->name);
		if (o->parse == opt_log && rule->pub.log == LOG_NONE && rule->pub.kind == VERDICT_ASK)
			return parser_fail(p, w->from, "a question is always recorded; log=none belongs to allow, rewrite, deny and kill");
	}
	return 0;
}
