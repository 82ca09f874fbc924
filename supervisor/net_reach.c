/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer leaves an operation open when, in the order of its rules, something that may allow it comes before an
 * unconditional refusal of all of its kind. What one layer always refuses stays refused whatever others say.
 */
#include "supervisor/net_reach.h"

#include "policy/policy.h"

struct kind {
	enum object_kind object;
	enum proto proto; /* of OBJECT_INET */
};

/* What a layer says of the operations of one kind. */
struct opinion {
	op_set open;   /* may be allowed, asked about or led elsewhere */
	op_set closed; /* always refused */
};

static bool refuses(enum verdict_kind kind)
{
	return kind == VERDICT_DENY || kind == VERDICT_KILL;
}

static bool speaks_of(const struct rule_pattern *p, const struct kind *kind)
{
	return p->kind == kind->object && (kind->object != OBJECT_INET || p->inet.proto == kind->proto);
}

static bool is_all(const struct rule_pattern *p)
{
	if (p->kind == OBJECT_INET)
		return p->inet_prefix == 0 && p->inet.port == 0 && p->inet_port_hi == UINT16_MAX;
	return p->tree && p->prefix_len == 0;
}

/* Whether some pattern of RULE is of the kind, and whether one is all of it. */
static bool concerns(const struct rule *rule, const struct kind *kind, bool *all)
{
	struct rule_pattern p;
	bool some = false;

	*all = false;
	for (uint32_t i = 0; rule_pattern(rule, i, &p); i++) {
		if (!speaks_of(&p, kind))
			continue;
		some = true;
		*all |= is_all(&p);
	}
	return some;
}

static struct opinion opinion_of(const struct ruleset *layer, const struct kind *kind)
{
	struct opinion o = { 0, 0 };
	const struct rule *rule;
	const char *where;
	bool all;

	for (size_t i = 0; (rule = ruleset_rule(layer, i)); i++) {
		op_set ops = rule->ops & OPS_NET & ~o.closed;
		if (!ops || !concerns(rule, kind, &all))
			continue;
		if (!refuses(rule->kind))
			o.open |= ops;
		else if (all && !rule_conditional(rule) && !rule->limit)
			o.closed |= ops & ~o.open;
	}
	enum verdict_kind otherwise = ruleset_default(layer, &where);
	if (refuses(otherwise))
		o.closed |= OPS_NET & ~o.open;
	else if (otherwise != VERDICT_NONE)
		o.open |= OPS_NET & ~o.closed;
	return o;
}

/* The first layer guards usher: its silence allows nothing. */
static bool can_reach(const struct policy *policy, const struct kind *kind)
{
	const struct ruleset *layer;
	op_set open = 0, closed = 0;

	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		struct opinion o = opinion_of(layer, kind);
		open |= i ? o.open : 0;
		closed |= o.closed;
	}
	return open & ~closed;
}

/* A rule that may give one, or a default that gives the plain ones. */
static bool gives_sockets(const struct ruleset *layer)
{
	const struct rule *rule;
	const char *where;

	for (size_t i = 0; (rule = ruleset_rule(layer, i)); i++) {
		if ((rule->ops & OP_SOCKET) && !refuses(rule->kind))
			return true;
	}
	return ruleset_default(layer, &where) == VERDICT_ALLOW && !ruleset_restricts(layer);
}

/* A layer that restricts addresses, or what no rule matches, refuses what it does not name. */
static bool withholds_sockets(const struct ruleset *layer)
{
	const char *where;
	enum verdict_kind otherwise = ruleset_default(layer, &where);

	return ruleset_restricts(layer) || (otherwise != VERDICT_NONE && otherwise != VERDICT_ALLOW);
}

static bool others_reach(const struct policy *policy)
{
	const struct ruleset *layer;
	bool some = false;

	for (size_t i = 1; (layer = policy_layer(policy, i)); i++) {
		bool gives = gives_sockets(layer);
		if (!gives && withholds_sockets(layer))
			return false;
		some |= gives;
	}
	return some;
}

static bool restricted(const struct policy *policy)
{
	const struct ruleset *layer;

	for (size_t i = 1; (layer = policy_layer(policy, i)); i++) {
		if (withholds_sockets(layer))
			return true;
	}
	return false;
}

enum { LAYER_REFUSES = -1, LAYER_SILENT, LAYER_ALLOWS };

/* Such a rule closes addresses wherever it stands, also behind one that opens all. */
static bool refuses_firmly(const struct ruleset *layer, const struct kind *kind, op_set op)
{
	const struct rule *rule;
	bool all;

	for (size_t i = 0; (rule = ruleset_rule(layer, i)); i++) {
		if (rule->firm && (rule->ops & op) && concerns(rule, kind, &all))
			return true;
	}
	return false;
}

/* Rules on some addresses may stand before the one on all when they say nothing else. */
static int layer_says(const struct ruleset *layer, const struct kind *kind, op_set op)
{
	const struct rule *rule;
	const char *where;
	bool all;

	if (refuses_firmly(layer, kind, op))
		return LAYER_REFUSES;
	for (size_t i = 0; (rule = ruleset_rule(layer, i)); i++) {
		if (!(rule->ops & op) || !concerns(rule, kind, &all))
			continue;
		if (rule->kind != VERDICT_ALLOW || rule->limit)
			return LAYER_REFUSES;
		if (all && !rule_conditional(rule))
			return LAYER_ALLOWS;
	}
	enum verdict_kind otherwise = ruleset_default(layer, &where);
	return otherwise == VERDICT_NONE ? LAYER_SILENT : otherwise == VERDICT_ALLOW ? LAYER_ALLOWS : LAYER_REFUSES;
}

/* Whether OP is allowed to every address, whoever asks. */
static bool goes_anywhere(const struct policy *policy, const struct kind *kind, op_set op)
{
	const struct ruleset *layer;
	bool allowed = false;

	for (size_t i = 1; (layer = policy_layer(policy, i)); i++) {
		int says = layer_says(layer, kind, op);
		if (says == LAYER_REFUSES)
			return false;
		allowed |= says == LAYER_ALLOWS;
	}
	return allowed;
}

void net_reach(const struct policy *policy, struct net_reach *out)
{
	out->tcp = can_reach(policy, &(struct kind){ OBJECT_INET, PROTO_TCP });
	out->udp = can_reach(policy, &(struct kind){ OBJECT_INET, PROTO_UDP });
	out->groups = goes_anywhere(policy, &(struct kind){ OBJECT_INET, PROTO_UDP }, OP_SEND);
	out->anywhere = out->groups && goes_anywhere(policy, &(struct kind){ OBJECT_INET, PROTO_TCP }, OP_CONNECT);
	out->abstract = can_reach(policy, &(struct kind){ .object = OBJECT_ABSTRACT });
	out->others = others_reach(policy);
	out->restricted = restricted(policy);
}
