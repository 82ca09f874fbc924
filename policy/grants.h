/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants: answers that hold for longer than one call. A grant names a program, the
 * operations, an object (or a directory with all below it) and, for exec, the arguments, argv[0] included where
 * it names one object: there are programs that are many, by argv[0].
 *
 * MUST: readers take no lock and see a grant whole or not at all; a revoked or
 * expired grant never answers; a grant for a process tree ends with its first process.
 */
#ifndef USHER_POLICY_GRANTS_H
#define USHER_POLICY_GRANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/question.h"
#include "rules/call.h"
#include "rules/verdict.h"

struct grants;
struct ruleset;

/* At most this many are kept in a session, revoked ones included: further answers hold once only. */
#define GRANTS_MAX 65536

struct grant {
	uint64_t id;
	enum verdict_kind kind;  /* allow, deny or kill */
	enum answer_scope scope;
	bool pattern;            /* the object's name is a pattern of the rule language */
	bool below;              /* the object is a directory: it and all below */
	op_set ops;
	uint64_t until_ns;       /* CLOCK_BOOTTIME, 0: no end */
	pid_t tree;              /* SCOPE_TREE: the first process, else 0 */
	struct span exe;
	const struct rule *only; /* it answers no questions but this rule's, which are about more than what is named here; NULL: those of all others */
	struct span argv0;       /* exec of this very object */
	struct span argv;
	struct object object;
	const char *where;       /* "grant:ID" */
	const char *who;
};

int grants_new(struct grants **out);
void grants_free(struct grants *g);

/* A grant for OPS on object number OBJECT of CALL, by the program of CALL. */
struct grant_request {
	const struct call *call;
	uint32_t object;
	op_set ops;
	const struct rule *only;
	struct span directory; /* a directory above the object, which the grant covers with all below; absent: the object */
	struct ruleset *rules; /* instead: what these answer with KIND, for the same program; the grant owns them when it was made */
	const char *pattern;   /* ... in words, as people wrote it */
	enum verdict_kind kind;
	enum answer_scope scope;
	uint32_t seconds;      /* SCOPE_TIME */
	const char *who;
};

/*
 * Any thread. Returns 0 with *id set, -EINVAL, -ENOSPC, -ENOMEM, or -ESRCH when the tree's first
 * process is gone.
 */
int grants_add(struct grants *g, const struct grant_request *request, uint64_t *id);

/* The live grant that covers operation OP on OBJECT for CALL's caller and was made for ONLY (struct grant), or NULL. Lock-free; lives as long as G. */
const struct grant *grants_find(const struct grants *g, const struct call *call, uint32_t object, op_set op, const struct rule *only);

/* Whether the directory DIR, without a slash at its end, is NAME or holds it. */
bool grants_below(struct span dir, struct span name);

/* Returns 0, or -ENOENT when there is no live grant of that number. */
int grants_revoke(struct grants *g, uint64_t id);

/* Calls EACH for every live grant, oldest first. */
void grants_each(const struct grants *g, void (*each)(void *context, const struct grant *grant), void *context);

#endif
