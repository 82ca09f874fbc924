// SPDX-License-Identifier: Apache-2.0
/*
 * usher check --explain: the decision of one call, by the evaluator that enforces.
 *
 * MUST: the verdict that is printed is policy_decide()'s; the rules it beat are told by
 * rule_matches() on the very same call.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/real_name.h"
#include "rules/cleanup.h"
#include "rules/colours.h"
#include "rules/device.h"
#include "supervisor/facts_hash.h"
#include "supervisor/trusted_name.h"
#include "tools/rule_files.h"

#define BEATEN_SHOWN 20

static void identify(struct object *o)
{
	struct stat st;
	char path[PATH_MAX];
	if ((o->kind != OBJECT_FILE && o->kind != OBJECT_UNIX) || o->name.len >= sizeof(path))
		return;
	memcpy(path, o->name.bytes, o->name.len);
	path[o->name.len] = 0;
	if (lstat(path, &st) < 0) /* links are resolved by now, but for one that is meant itself */
		return;
	struct identity is = identity_of(st.st_mode, st.st_rdev, st.st_dev, st.st_ino);
	o->identified = true;
	o->dev = is.dev;
	o->ino = is.ino;
	o->nlink = st.st_nlink;
}

/* What conditions ask of a program: its content, into HEX, and whether anybody but root could change it. As the supervisor finds it. */
static void look_at_image(struct object *o, char hex[HASH_HEX])
{
	struct stat st;
	char path[PATH_MAX];
	if (!(o->ops & OP_EXEC) || o->kind != OBJECT_FILE || o->name.len >= sizeof(path))
		return;
	memcpy(path, o->name.bytes, o->name.len);
	path[o->name.len] = 0;
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	o->trusted = trusted_name(o->name, &st);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0 && hash_read(fd, hex) == 0)
		o->sha256 = (struct span){ hex, HASH_HEX - 1 };
}

/* NAME with links resolved in front of its last component; whether that one is a link. */
static bool link_itself(const char *name, char out[PATH_MAX])
{
	struct stat st;
	char dir[PATH_MAX];
	const char *slash = strrchr(name, '/');
	if (!slash || lstat(name, &st) < 0 || !S_ISLNK(st.st_mode))
		return false;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name), name);
	if (real_name(slash == name ? "/" : dir, out) < 0)
		return false;
	size_t len = strcmp(out, "/") == 0 ? 0 : strlen(out);
	return (size_t)snprintf(out + len, PATH_MAX - len, "%s", slash) < PATH_MAX - len;
}

/* What is never done through a link in the last component. */
static bool not_followed(op_set ops)
{
	return !(ops & (op_set)~(OP_DELETE | OP_BIND));
}

/* The name with links resolved, as the supervisor would see it. Where a call may be about a link itself as well, LINK is its name, else "". */
static void resolve(struct object *o, char real[PATH_MAX], char link[PATH_MAX])
{
	char path[PATH_MAX];
	link[0] = 0;
	if ((o->kind != OBJECT_FILE && o->kind != OBJECT_UNIX) || o->name.len >= sizeof(path))
		return;
	memcpy(path, o->name.bytes, o->name.len);
	path[o->name.len] = 0;
	bool is_link = link_itself(path, link), itself = is_link && not_followed(o->ops);
	if (itself)
		strcpy(real, link);
	else if (real_name(path, real) < 0)
		return;
	if (!is_link || itself || !(o->ops & (OP_CREATE | OP_ATTR | OP_STAT | OP_DELETE)))
		link[0] = 0;
	if (o->name.len == strlen(real) && memcmp(o->name.bytes, real, o->name.len) == 0)
		return;
	o->named = o->name;
	o->name = (struct span){ real, (uint32_t)strlen(real) };
}

/* The decision on the same call about the link LINK itself: lchown, lstat, a rename onto it. */
static void decide_link(struct policy *p, const struct call *call, const char *link, struct verdict *v)
{
	struct call of_link = *call;
	of_link.object[0].name = (struct span){ link, (uint32_t)strlen(link) };
	of_link.object[0].identified = false;
	identify(&of_link.object[0]);
	policy_decide(p, &of_link, v);
}

/* Whether an answer for ever has decided, which a person gave in an earlier session; the rule is the one that asked then. */
static bool by_grant(const struct check *c, const struct verdict *v)
{
	size_t len = c->grants ? strlen(c->grants) : 0;
	return len && strncmp(v->where, c->grants, len) == 0 && v->where[len] == ':';
}

static const char *rule_text(const struct check *c, const struct verdict *v)
{
	if (by_grant(c, v))
		return v->rule ? v->rule->text : "the default asks";
	return v->rule ? v->rule->text : v->kind == VERDICT_NONE ? "no rule and no default speaks of it" : "by default";
}

static void print_layer(const struct ruleset *layer, const char *name, const struct call *call, bool json, const char *before)
{
	struct verdict v;
	ruleset_decide(layer, call, &v);
	if (json) {
		printf("%s\n    {\"layer\":", before);
		put_json(name, strlen(name), stdout);
		printf(",\"verdict\":\"%s\",\"rule\":", verdict_name(v.kind));
		put_json(v.where, strlen(v.where), stdout);
		fputs("}", stdout);
		return;
	}
	printf("  %-24s %-8s %s\n", name, verdict_name(v.kind), v.kind == VERDICT_NONE ? "-" : v.where);
}

/* Whether a rule of LAYER that stands firm speaks of the address. */
static bool stands_firm(const struct ruleset *layer, const struct call *call)
{
	const struct rule *r;
	for (size_t i = 0; (r = ruleset_rule(layer, i)); i++)
		if (r->firm && rule_matches(layer, r, call, 0, call->object[0].ops))
			return true;
	return false;
}

/* Later rules of the deciding layer that match as well, in order; where one stands firm also those before it. */
static void print_beaten(const struct ruleset *layer, const struct verdict *v, const struct call *call, bool json)
{
	const struct rule *r;
	size_t shown = 0, more = 0;
	bool firm = stands_firm(layer, call), behind = firm;
	for (size_t i = 0; (r = ruleset_rule(layer, i)); i++) {
		if (r == v->rule) {
			behind = true;
			continue;
		}
		if (!behind || !rule_matches(layer, r, call, 0, call->object[0].ops))
			continue;
		if (shown == BEATEN_SHOWN && !json) {
			more++;
			continue;
		}
		if (json) {
			printf("%s\n    {\"rule\":", shown ? "," : "");
			put_json(r->where, strlen(r->where), stdout);
			printf(",\"verdict\":\"%s\",\"text\":", verdict_name(r->kind));
			put_json(r->text, strlen(r->text), stdout);
			fputs("}", stdout);
		} else {
			printf("%s  %s: %s\n", shown ? "" : firm ? "as the address stands firm, it beats:\n" : "it comes before, and so beats:\n", r->where, r->text);
		}
		shown++;
	}
	if (more)
		printf("  and %zu more\n", more);
}

static const struct ruleset *layer_of(const struct policy *p, const struct verdict *v)
{
	const struct ruleset *layer;
	for (size_t i = 0; (layer = policy_layer(p, i)); i++)
		for (size_t r = 0; v->rule && ruleset_rule(layer, r); r++)
			if (ruleset_rule(layer, r) == v->rule)
				return layer;
	return NULL;
}

static void print_layers(const struct check *c, const struct policy *p, const struct call *call)
{
	const struct ruleset *layer;
	for (size_t i = 0; (layer = policy_layer(p, i)); i++)
		print_layer(layer, i ? c->files[i - 1] : "usher's own guard", call, c->json, i ? "," : "");
}

/* Which another layer may have said than the one whose rule is named. */
static bool heard_here_alone(const struct verdict *v)
{
	return v->loopback && (v->kind == VERDICT_ALLOW || v->kind == VERDICT_ASK);
}

static void print_json(const struct check *c, const struct policy *p, const struct call *call, const struct verdict *v, const struct verdict *link)
{
	const struct ruleset *layer = layer_of(p, v);
	printf("{\"verdict\":\"%s\",\"rule\":", verdict_name(v->kind));
	put_json(v->where, strlen(v->where), stdout);
	fputs(",\"text\":", stdout);
	put_json(rule_text(c, v), strlen(rule_text(c, v)), stdout);
	if (by_grant(c, v)) {
		fputs(",\n  \"grant\":true,\"asked\":", stdout);
		put_json(v->rule ? v->rule->where : "default", strlen(v->rule ? v->rule->where : "default"), stdout);
	}
	if (heard_here_alone(v))
		fputs(",\n  \"heard\":\"loopback\"", stdout);
	if (link) {
		printf(",\n  \"link\":{\"verdict\":\"%s\",\"rule\":", verdict_name(link->kind));
		put_json(link->where, strlen(link->where), stdout);
		putchar('}');
	}
	fputs(",\n  \"layers\":[", stdout);
	print_layers(c, p, call);
	fputs("],\n  \"beaten\":[", stdout);
	if (layer)
		print_beaten(layer, v, call, true);
	puts("]}");
}

static void print_text(const struct check *c, const struct policy *p, const struct call *call, const struct verdict *v, const struct verdict *link)
{
	const struct object *o = &call->object[0];
	const struct ruleset *layer = layer_of(p, v);
	if (o->named.bytes) {
		put_text(o->named.bytes, o->named.len, stdout);
		fputs(" is ", stdout);
		put_text(o->name.bytes, o->name.len, stdout);
		putchar('\n');
	}
	printf("%s by %s\n", verdict_name(v->kind), v->where);
	if (by_grant(c, v))
		printf("  a person's answer for ever to what %s asks%s\n", v->rule ? v->rule->where : "the default", v->rule ? ":" : "");
	if (v->rule)
		printf("  %s\n", v->rule->text);
	else if (o->kind == OBJECT_SOCKET && v->kind == VERDICT_DENY)
		puts("  no rule names this kind of socket, and it is given by rules on socket alone");
	if (v->rule && v->rule->reason)
		printf("  reason: %s\n", v->rule->reason);
	if (heard_here_alone(v))
		puts("  what listens there is heard on the loopback interface alone");
	if (layer)
		print_beaten(layer, v, call, false);
	puts("each layer, the strictest wins:");
	print_layers(c, p, call);
	if (link)
		printf("of the link itself: %s by %s\n", verdict_name(link->kind), link->where);
}

int check_explain(struct check *c)
{
	struct query q;
	struct policy *p = NULL;
	struct verdict v, of_link;
	char real[PATH_MAX], link[PATH_MAX], grants[PATH_MAX], hex[HASH_HEX];
	struct ruleset_source source = { .variables = c->variables.item, .n_variables = c->variables.n };
	struct policy_options options = { .files = c->files, .n_files = c->n_files, .variables = c->variables.item,
					  .n_variables = c->variables.n };
	if (query_parse(c->explain, &source, &c->found, &q)) {
		diagnostics_print(&c->found, stderr, colours_on(STDERR_FILENO));
		return 2;
	}
	/* Where there is none, none is made: policy_new() would make it a place. */
	if (policy_grants_path(grants, sizeof(grants)) == 0 && access(grants, F_OK) == 0)
		options.grants_file = c->grants = grants;
	int r = policy_new(&options, &c->found, &p);
	if (r) {
		diagnostics_print(&c->found, stderr, colours_on(STDERR_FILENO));
		fprintf(stderr, "usher check: the rules, or the file of grants, do not load\n");
		query_free(&q);
		return 1;
	}
	resolve(&q.call.object[0], real, link);
	identify(&q.call.object[0]);
	look_at_image(&q.call.object[0], hex);
	if (!q.uid)
		q.call.by.uid = geteuid(); /* as whom usher run would start it */
	policy_decide(p, &q.call, &v);
	if (link[0])
		decide_link(p, &q.call, link, &of_link);
	(c->json ? print_json : print_text)(c, p, &q.call, &v, link[0] ? &of_link : NULL);
	c->grants = NULL;
	policy_free(p);
	query_free(&q);
	return 0;
}
