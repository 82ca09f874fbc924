// SPDX-License-Identifier: Apache-2.0
/*
 * What each option's value means, and the table of them.
 */
#include <string.h>

#include "rules/options.h"

static int expected(const struct option_target *t, const char *what)
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

static int opt_by(struct option_target *t)
{
	t->when->has_by = true;
	return parse_globs(t->p, t->w, t->skip, '/', &t->when->by, &t->when->n_by);
}

static int opt_tree(struct option_target *t)
{
	t->when->has_tree = true;
	return parse_globs(t->p, t->w, t->skip, '/', &t->when->tree, &t->when->n_tree);
}

static int opt_argv(struct option_target *t)
{
	t->when->has_argv = true;
	return parse_globs(t->p, t->w, t->skip, ' ', &t->when->argv, &t->when->n_argv);
}

static int opt_env(struct option_target *t)
{
	t->when->has_env = true;
	t->rule->pub.narrow = true;
	return parse_globs(t->p, t->w, t->skip, 0, &t->when->env, &t->when->n_env);
}

static bool is_sha256(const struct glob *g)
{
	return g->literal && strlen(g->literal) == 64 && strspn(g->literal, "0123456789abcdef") == 64;
}

static int opt_sha256(struct option_target *t)
{
	t->when->has_sha256 = true;
	t->rule->pub.narrow = true;
	int r = parse_globs(t->p, t->w, t->skip, ' ', &t->when->sha256, &t->when->n_sha256);
	for (uint32_t i = 0; !r && i < t->when->n_sha256; i++)
		if (!is_sha256(&t->when->sha256[i]))
			return expected(t, "a digest of 64 hexadecimal digits in lower case, as sha256sum prints it,");
	return r;
}

static int opt_trusted(struct option_target *t)
{
	t->when->has_trusted = true;
	return 0;
}

static int opt_own(struct option_target *t)
{
	t->when->has_own = true;
	return 0;
}

static int opt_vacant(struct option_target *t)
{
	t->when->has_vacant = true;
	return 0;
}

static int opt_makes(struct option_target *t)
{
	t->when->has_makes = true;
	if (!(t->rule->pub.ops & OP_CREATE))
		return parser_fail(t->p, t->w->from, "makes= is for create (or write), which this rule does not speak of");
	return makes_parse(t->value, &t->when->makes) ? 0 : expected(t, "file, directory, link or node");
}

static int opt_uid(struct option_target *t)
{
	t->when->has_uid = true;
	return parse_range(t->value, &t->when->uid) ? 0 : expected(t, "a user number or a range LOW-HIGH");
}

static int opt_depth(struct option_target *t)
{
	t->when->has_depth = true;
	return parse_range(t->value, &t->when->depth)
		       ? 0
		       : expected(t, "how many images stand above the caller: N, LOW-HIGH or LOW-");
}

static int opt_args(struct option_target *t)
{
	return parse_args(t->p, t->w, t->skip, t->rule);
}

static int opt_argv0(struct option_target *t)
{
	return *t->value ? parse_argv0(t->p, t->value, t->rule) : expected(t, "a name");
}

static int opt_timeout(struct option_target *t)
{
	return duration(t->value, &t->rule->pub.timeout_s) ? 0 : expected(t, "a time such as 60s, 5m or 2h");
}

static int opt_else(struct option_target *t)
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

static int opt_remember(struct option_target *t)
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

static int opt_limit(struct option_target *t)
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

static int opt_errno(struct option_target *t)
{
	t->rule->pub.error = errno_parse(t->value);
	return t->rule->pub.error ? 0 : expected(t, "an errno name such as ENOENT, EACCES or EPERM");
}

static int opt_log(struct option_target *t)
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

static int opt_reason(struct option_target *t)
{
	t->rule->pub.reason = t->value;
	return *t->value ? 0 : expected(t, "a sentence for people, in quotes,");
}

static int opt_after(struct option_target *t)
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

static int opt_stack(struct option_target *t)
{
	t->rule->pub.evidence |= EVIDENCE_STACK;
	return 0;
}

static int opt_hash(struct option_target *t)
{
	t->rule->pub.evidence |= EVIDENCE_HASH;
	return 0;
}

static int opt_firm(struct option_target *t)
{
	t->rule->pub.firm = true;
	return 0;
}

static int opt_review(struct option_target *t)
{
	t->rule->pub.review = true;
	return 0;
}

static int opt_loopback(struct option_target *t)
{
	t->rule->pub.loopback = true;
	return 0;
}

static int opt_show(struct option_target *t)
{
	t->rule->pub.show_asked = true;
	return strcmp(t->value, "asked") == 0 ? 0 : expected(t, "asked");
}

#define NAME(text) text, sizeof(text) - 1

const struct option options[OPTIONS] = {
	{ NAME("by="), V_ANY, "", opt_by, NULL },
	{ NAME("tree="), V_ANY, "", opt_tree, NULL },
	{ NAME("argv="), V_ANY, "", opt_argv, only_exec },
	{ NAME("args="), V(VERDICT_REWRITE), "rewrite", opt_args, only_rewritten_exec },
	{ NAME("argv0="), V(VERDICT_REWRITE), "rewrite", opt_argv0, only_rewritten_exec },
	{ NAME("env="), V_ANY, "", opt_env, only_exec },
	{ NAME("makes="), V_ANY, "", opt_makes, NULL },
	{ NAME("uid="), V_ANY, "", opt_uid, NULL },
	{ NAME("depth="), V_ANY, "", opt_depth, NULL },
	{ NAME("timeout="), V(VERDICT_ASK), "ask", opt_timeout, only_questions },
	{ NAME("else="), V(VERDICT_ASK) | V(VERDICT_ALLOW) | V(VERDICT_REWRITE), "ask, or a rule with limit=", opt_else, only_otherwise },
	{ NAME("remember="), V(VERDICT_ASK), "ask", opt_remember, only_questions },
	{ NAME("limit="), V(VERDICT_ASK) | V(VERDICT_ALLOW) | V(VERDICT_REWRITE), "allow, rewrite and ask", opt_limit, NULL },
	{ NAME("errno="), V(VERDICT_DENY), "deny", opt_errno, NULL },
	{ NAME("log="), V_ANY, "", opt_log, NULL },
	{ NAME("reason="), V_ANY, "", opt_reason, NULL },
	{ NAME("after="), V(VERDICT_ASK), "ask", opt_after, NULL },
	{ NAME("show="), V(VERDICT_REWRITE), "rewrite", opt_show, only_connect },
	{ NAME("sha256="), V_ANY, "", opt_sha256, only_exec },
	{ NAME("trusted"), V_ANY, "", opt_trusted, only_exec },
	{ NAME("own"), V(VERDICT_ALLOW), "allow", opt_own, only_owned }, /* not known of every name at first: only an allow may wait for it */
	{ NAME("vacant"), V(VERDICT_DENY), "deny", opt_vacant, only_vacant }, /* somebody may listen there a moment later: only a refusal is right then, too */
	{ NAME("stack"), V_ANY, "", opt_stack, NULL },
	{ NAME("hash"), V_ANY, "", opt_hash, only_exec },
	{ NAME("firm"), V(VERDICT_DENY) | V(VERDICT_KILL), "deny and kill", opt_firm, only_addresses },
	{ NAME("review"), V(VERDICT_ASK), "ask", opt_review, NULL },
	{ NAME("loopback"), V(VERDICT_ALLOW), "allow", opt_loopback, only_listening },
};
