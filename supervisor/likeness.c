/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: errs towards false. The words are looked for in the rule as written, so a pattern
 * or a reason that merely contains one of them counts too.
 */
#include "supervisor/likeness.h"

#include <stddef.h>
#include <string.h>

#include "policy/policy.h"

static bool tells_apart(const struct ruleset *layer)
{
	static const char *const words[] = { "by=", "tree=", "uid=", "depth=" };
	const struct rule *rule;

	for (size_t i = 0; (rule = ruleset_rule(layer, i)); i++) {
		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
			if (strstr(rule->text, words[w]))
				return true;
		}
	}
	return false;
}

bool likeness_holds(const struct policy *policy)
{
	const struct ruleset *layer;

	if (!policy)
		return true;
	for (size_t i = 0; (layer = policy_layer(policy, i)); i++) {
		if (tells_apart(layer))
			return false;
	}
	return true;
}
