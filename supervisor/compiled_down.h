/* SPDX-License-Identifier: Apache-2.0 */
/* Mediated calls that the filter answers by itself, because the policy refuses them whatever they name. */
#ifndef USHER_SUPERVISOR_COMPILED_DOWN_H
#define USHER_SUPERVISOR_COMPILED_DOWN_H

#include "rules/op.h"

struct policy;

/*
 * The errno (positive) with which the filter may refuse call NR under POLICY (NULL: none), and in *op the operation that every
 * such call needs and the policy refuses. 0: usher has to see the call.
 */
int compiled_down(const struct policy *policy, int nr, op_set *op);

#endif
