/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a policy, for policy.c and what loads and charges it. */
#ifndef USHER_POLICY_LAYERS_H
#define USHER_POLICY_LAYERS_H

#include <stdatomic.h>

#include "policy/limits.h"
#include "policy/policy.h"

struct grants;

struct layer {
	struct ruleset *rules;
	struct bucket *bucket; /* one for each limit slot; NULL when there are none */
	uint32_t slots;
};

/* How often a person answered an ask with after=N in its favour. */
struct counter {
	const struct rule *rule;
	atomic_uint count;
};

/* Immutable once made, but for buckets, counters and grants. */
struct policy {
	struct layer *layer; /* the guard first */
	size_t n_layers;
	struct counter *after;
	size_t n_after;
	struct ruleset *standing; /* the grants file, NULL when absent */
	struct grants *grants;
	char *grants_file;
};

#endif
