/* SPDX-License-Identifier: Apache-2.0 */
/* The layer that no file can loosen: usher's own files, sockets and process. */
#ifndef USHER_POLICY_GUARD_H
#define USHER_POLICY_GUARD_H

#include <stddef.h>
#include <sys/types.h>

#include "policy/policy.h"
#include "rules/strbuf.h"

#define GUARD_NAME "builtin:guard"

/* The layer as text in the rule language. SELF is usher's process. *out is malloc memory. Returns 0 or -ENOMEM. */
int guard_text(const struct policy_options *options, pid_t self, char **out, size_t *len);

/* Writes NAME for within the quotes of a pattern: it matches these bytes alone. */
void guard_escape(struct strbuf *to, struct span name);

/* Writes a blank and a quoted pattern that matches exactly SCHEME and the bytes of NAME, with TAIL (a pattern) behind. */
void guard_pattern(struct strbuf *to, const char *scheme, struct span name, const char *tail);

#endif
