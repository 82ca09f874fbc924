/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: errs towards false. The words are looked for in the rule as written, so a pattern
 * or a reason that merely contains one of them counts too.
 */
#include "supervisor/likeness.h"

#include <stddef.h>
#include <string.h>

#include "policy/policy.h"

static const char *const any_word[] = { "by=", "tree=", "uid=", "depth=", NULL };
static const char *const descent_word[] = { "tree=", "depth=", NULL };

static const char *const content_word[] = { "sha256=", NULL };
static const char *const trust_word[] = { "trusted", NULL };
static const char *const uid_word[] = { "uid=", NULL };
static const char *const own_word[] = { " own", "\town", NULL };
static const char *const argv_word[] = { "argv=", NULL };
static const char *const env_word[] = { "env=", NULL };

static bool layer_says(const struct ruleset *layer, const char *const *words)
{
	const struct rule *rule;

	for (size_t i = 0; (rule = ruleset_rule(layer, i)); i++) {
		for (size_t w = 0; words[w]; w++) {
			if (strstr(rule->text, words[w]))
				return true;
		}
	}
	return false;
}

static bool policy_says(const struct policy *policy, const char *const *words)
{
	const struct ruleset *layer;

	for (size_t i = 0; policy && (layer = policy_layer(policy, i)); i++) {
		if (layer_says(layer, words))
			return true;
	}
	return false;
}

bool likeness_holds(const struct policy *policy)
{
	return !policy_says(policy, any_word);
}

bool likeness_content(const struct policy *policy)
{
	return policy_says(policy, content_word);
}

bool likeness_trust(const struct policy *policy)
{
	return policy_says(policy, trust_word);
}

bool likeness_uid(const struct policy *policy)
{
	return policy_says(policy, uid_word);
}

bool likeness_own(const struct policy *policy)
{
	return policy_says(policy, own_word);
}

bool likeness_env(const struct policy *policy)
{
	return policy_says(policy, env_word);
}

bool likeness_argv(const struct policy *policy)
{
	return policy_says(policy, argv_word);
}

bool likeness_descent(const struct policy *policy)
{
	return policy_says(policy, descent_word);
}
