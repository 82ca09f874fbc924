/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy says whatever the object and whoever asks: that the filter can decide. */
#ifndef USHER_POLICY_CONSTANT_H
#define USHER_POLICY_CONSTANT_H

#include <stdbool.h>

#include "rules/op.h"

struct policy;

/*
 * The errno (positive) when every object of the file operation OP is refused with it and no rule wants a record of that:
 * in every layer that speaks of OP, "deny OP ** log=none" comes before all else that names it. Else 0.
 */
int policy_refuses(const struct policy *p, op_set op);

/* Whether some rule on stat does more than allow it without a record (log=none; stat has no default), or leads file names elsewhere. */
bool policy_mediates_stat(const struct policy *p);

#endif
