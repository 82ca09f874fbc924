/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict. The zero value is deny: a verdict that nobody filled in closes.
 */
#ifndef USHER_RULES_VERDICT_H
#define USHER_RULES_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum verdict_kind {
	VERDICT_DENY = 0,
	VERDICT_KILL,
	VERDICT_ASK,
	VERDICT_REWRITE,
	VERDICT_ALLOW,
	VERDICT_NONE, /* this layer has no opinion; never leaves policy_decide() */
};

enum log_level {
	LOG_NORMAL = 0,
	LOG_ALERT, /* also told to the person at the end of the session */
	LOG_NONE,  /* no record: the call may be decided in the filter */
};

/* What belongs into the record beside the call itself: a set. */
enum evidence {
	EVIDENCE_STACK = 1,   /* the caller's stack */
	EVIDENCE_HASH = 2,    /* of what runs: its content */
};

struct rule;

struct verdict {
	enum verdict_kind kind;
	int error;               /* deny: the errno the caller gets, positive, never 0 */
	enum log_level log;
	unsigned evidence;       /* EVIDENCE_* */
	bool loopback;           /* a bind: some layer has what listens be heard on the loopback interface alone */
	bool review;             /* allowed, and to be looked at by a person afterwards */
	bool narrow;             /* asked: by some rule that is narrow */
	enum verdict_kind unanswered; /* asked: what happens when nobody answers, the strictest of what the rules that ask say; NONE: deny */
	bool unnamed;            /* VERDICT_NONE: only stats, and no rule names them: nothing is refused */
	const struct rule *keeps; /* asked: of the rules that ask the one with the shortest remember=; NULL: an answer is for once */
	uint32_t object;         /* index of the object that decided */
	const struct rule *rule; /* the rule that decided; NULL: a default, see where */
	const char *where;       /* "FILE:LINE", "builtin:NAME:LINE" or "default"; lives as long as the rules */
};

/* "deny", "kill", "ask", "rewrite", "allow", "none". */
const char *verdict_name(enum verdict_kind kind);

/* Of two verdicts the stricter: kill, deny, ask, rewrite, allow, none. Positive when A is stricter than B. */
int verdict_compare(enum verdict_kind a, enum verdict_kind b);

#endif
