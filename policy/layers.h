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

#endif
