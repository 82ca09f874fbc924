/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MUST: errs towards false. A grant of the file that names a program sets none apart: each answer for ever is one, and
 * nobody could trace anything any more.
 */
#include "supervisor/likeness.h"

#include <stddef.h>

#include "policy/policy.h"
#include "rules/ruleset.h"

static bool wants(const struct policy *policy, unsigned what)
{
	return policy && (policy_wants_known(policy) & what);
}

bool likeness_holds(const struct policy *policy)
{
	return !policy || !(policy_wants(policy) & (WANTS_BY | WANTS_TREE | WANTS_UID | WANTS_DEPTH));
}

bool likeness_content(const struct policy *policy)
{
	return wants(policy, WANTS_SHA256);
}

bool likeness_trust(const struct policy *policy)
{
	return wants(policy, WANTS_TRUSTED);
}

bool likeness_uid(const struct policy *policy)
{
	return wants(policy, WANTS_UID);
}

bool likeness_own(const struct policy *policy)
{
	return wants(policy, WANTS_OWN);
}

bool likeness_vacant(const struct policy *policy)
{
	return wants(policy, WANTS_VACANT);
}

bool likeness_loopback(const struct policy *policy)
{
	return wants(policy, WANTS_LOOPBACK);
}

bool likeness_env(const struct policy *policy)
{
	return wants(policy, WANTS_ENV);
}

bool likeness_argv(const struct policy *policy)
{
	return wants(policy, WANTS_ARGV);
}

bool likeness_descent(const struct policy *policy)
{
	return wants(policy, WANTS_TREE | WANTS_DEPTH);
}
