/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy says whatever the object and whoever asks: that the filter can decide. */
#ifndef USHER_POLICY_CONSTANT_H
#define USHER_POLICY_CONSTANT_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/call.h"
#include "rules/op.h"

struct policy;

/*
 * The errno (positive) when every object of the file operation OP is refused with it and no rule wants a record of that:
 * in every layer that speaks of OP, "deny OP ** log=none" comes before all else that names it. Else 0.
 */
int policy_refuses(const struct policy *p, op_set op);

/*
 * Whether OP (one operation) is allowed for every file, or every unix socket with a path, whoever asks, in every layer; where SILENT, without a record too ("allow
 * OP ** log=none" before all else that names OP). The guard layer is left out: who takes a yes closes what it closes by other
 * means. When not, *where (may be NULL) says which rule or default ("FILE:LINE") stands against it; NULL: no layer allows it.
 */
bool policy_allows(const struct policy *p, op_set op, bool silent, const char **where);

/*
 * A name that the guard layer closes to reading, with all that is below it: INDEX from 0, NULL past the end. An absolute name, not
 * terminated; *LEN its length. Names below /proc/ are left out.
 */
const char *policy_closed(const struct policy *p, size_t index, size_t *len);

/* Whether some rule that speaks of OP has a limit=. */
bool policy_limits(const struct policy *p, op_set op);

/* Whether some rule that does more than allow speaks of OP on files and may mean one below directory DIR (absolute, canonical). */
bool policy_bounds_below(const struct policy *p, op_set op, struct span dir);

/* Whether some rule on stat does more than allow it without a record (log=none; stat has no default), or leads file names elsewhere. */
bool policy_mediates_stat(const struct policy *p);

#endif
