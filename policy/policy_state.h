/* SPDX-License-Identifier: Apache-2.0 */
/* What questions change in a policy. Of this floor only. */
#ifndef USHER_POLICY_POLICY_STATE_H
#define USHER_POLICY_POLICY_STATE_H

#include "policy/grants.h"
#include "policy/policy.h"

static inline op_set object_ops(const struct call *call, uint32_t object)
{
	return call->object[object].ops & (op_set)((1u << OP_COUNT) - 1);
}

struct grants *policy_grants(const struct policy *p);

/* The file of standing grants, or NULL. Lives as long as P. */
const char *policy_grants_file(const struct policy *p);

/* A person has allowed CALL: counts for the after= of each rule that asked. */
void policy_favour(struct policy *p, const struct call *call);
/* Whether some rule has after=: else that changes nothing. */
bool policy_counts_favours(const struct policy *p);

/* As policy_decide(), and beyond a limit what its rule says there, or a grant where it asks: whether CALL waits for an answer still. No token is taken. */
void policy_decide_now(struct policy *p, const struct call *call, struct verdict *out);

/*
 * As policy_decide() for the single operation OP on one object of CALL: whether it asks still, be it beyond a limit, after grants. *only: the rule to whose questions alone a
 * grant about it is an answer (one that is narrow), or NULL; set where it asks.
 */
bool policy_asks(struct policy *p, const struct call *call, uint32_t object, op_set op, const struct rule **only);

/* The operations on object number OBJECT of CALL that the layers ask about, whatever grants answer. */
op_set policy_asked(struct policy *p, const struct call *call, uint32_t object);

#endif
