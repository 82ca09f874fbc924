// SPDX-License-Identifier: Apache-2.0
/* Which rules an option may stand in, as far as that depends on the whole rule. */
#include "rules/options.h"

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

const char *only_exec(const struct compiled_rule *rule)
{
	return rule->pub.ops == OP_EXEC ? NULL : "belongs to exec rules";
}

const char *only_rewritten_exec(const struct compiled_rule *rule)
{
	return rule->pub.ops == OP_EXEC ? NULL : "belongs to rewrite exec";
}

const char *only_addresses(const struct compiled_rule *rule)
{
	return addresses_only(rule) ? NULL : "belongs to rules on tcp: and udp: addresses alone";
}

const char *only_connect(const struct compiled_rule *rule)
{
	return rule->pub.ops == OP_CONNECT ? NULL : "belongs to rewrite connect";
}

const char *only_owned(const struct compiled_rule *rule)
{
	if (!(rule->pub.ops & (OP_EXEC | OPS_NET | OP_SOCKET)) || leads_here(rule))
		return NULL;
	return "speaks of terminals and of sockets that somebody has bound; it belongs to rules on files, or on connect and send, with tcp: and unix: paths alone";
}

const char *only_vacant(const struct compiled_rule *rule)
{
	if (rule->pub.ops == OP_CONNECT && !names_abstract(rule))
		return NULL;
	return "speaks of places where nobody listens; it belongs to rules on connect alone, with tcp:, udp: and unix: paths, not unix:@";
}

const char *only_listening(const struct compiled_rule *rule)
{
	if (rule->pub.ops == OP_BIND && tcp_only(rule))
		return NULL;
	return "speaks of what listens; it belongs to rules on bind alone, with tcp: addresses alone";
}

/* review alone asks nobody: what speaks of questions and answers says nothing beside it. */
const char *only_questions(const struct compiled_rule *rule)
{
	return rule_asks_nobody(&rule->pub) ? "is about questions, and a rule with review asks none without after= or limit=" : NULL;
}

const char *only_otherwise(const struct compiled_rule *rule)
{
	if (rule->pub.kind != VERDICT_ASK && !rule->pub.limit)
		return "belongs to ask, or to a rule with limit=";
	return only_questions(rule);
}
