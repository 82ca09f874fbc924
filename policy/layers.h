/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a policy, for policy.c and what loads and charges it. */
#ifndef USHER_POLICY_LAYERS_H
#define USHER_POLICY_LAYERS_H

#include "policy/limits.h"
#include "policy/policy.h"

struct grants;
struct trust;

struct layer {
	struct ruleset *rules;
	struct bucket *bucket; /* one for each limit slot; NULL when there are none */
	uint32_t slots;
};

/* Immutable once made, but for buckets, counters and grants. */
struct policy {
	struct layer *layer; /* the guard first */
	size_t n_layers;
	struct trust *trust; /* of rules with after=; NULL: there are none */
	struct ruleset *standing; /* the grants file, NULL when absent */
	struct grants *grants;
	char *grants_file;
};

/* What grants say of the operation BIT on one object of CALL, about which RULE asks; ask where none says anything. */
struct verdict policy_granted(const struct policy *p, const struct call *call, uint32_t object, unsigned bit, const struct rule *rule);

/* What RULE, which has a limit=, says beyond it. */
enum verdict_kind limit_beyond(const struct rule *rule);

#endif
