/* SPDX-License-Identifier: Apache-2.0 */
/* The file of standing grants: answers of the kind "always", as rules. */
#ifndef USHER_POLICY_STANDING_H
#define USHER_POLICY_STANDING_H

#include "policy/asked.h"
#include "policy/channel.h"
#include "rules/strbuf.h"

#define STANDING_TEXT 16384

/*
 * The rules that the answer S for ever would add to the file, exactly as they would be written. They were loaded
 * and answer this very question: of a call that needs more, what P asks about (all, where that is none: a limit asks; or P is NULL). Returns 0, -EINVAL when no such rule can be
 * written, -ENOSPC when it does not fit, -ENOMEM.
 */
int standing_rule(struct policy *p, const struct asked *a, const struct settlement *s, char *out, size_t cap);

/* Writes a blank and the pattern that a rule on O has by S. */
void standing_pattern(struct strbuf *to, const struct object *o, const struct settlement *s);

/*
 * Where FILE's directory would have no place to be ("~/.config" is missing): makes that place, with mode 0700, so that nobody in the
 * tree can put one of its own there. Makes nothing else; that it cannot is no fault.
 */
void standing_place(const char *file);

/* Whether FILE could be appended to, or made. FILE may be NULL: no. */
bool standing_writable(const char *file);

/*
 * Appends TEXT, in lines of its own, to FILE (made with mode 0600, its directory with 0700) and syncs it. Returns 0 or a negative
 * errno: nothing of TEXT is there then.
 */
int standing_append(const char *file, const char *text);

#endif
