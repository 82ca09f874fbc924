/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rule as loaded: immutable, owned by its ruleset, safe to read from any
 * thread for as long as the ruleset lives.
 */
#ifndef USHER_RULES_RULE_H
#define USHER_RULES_RULE_H

#include <stdint.h>

#include "rules/call.h"
#include "rules/verdict.h"

/* How long a person's answer to an ask holds when the answer itself does not say. */
enum remember {
	REMEMBER_ONCE = 0,
	REMEMBER_SESSION,
	REMEMBER_TREE, /* the asking process and its descendants */
	REMEMBER_TIME, /* remember_s seconds */
};

/* What after= counts by. */
enum after_scope { AFTER_PROGRAM = 0, AFTER_OBJECT, AFTER_RULE };

/* Strings one behind the other, each with its NUL. */
struct words {
	const char *bytes;
	uint32_t len;
	uint32_t count;
};

/* rewrite exec: what becomes of the arguments. */
struct exec_edit {
	const char *argv0;   /* NULL: stays */
	bool args;           /* what is behind argv[0] is exchanged for: */
	struct words before; /* these, */
	bool given;          /* those that the program gave, */
	uint32_t skip;       /* without the first SKIP, which argv= has matched, */
	struct words after;  /* and these */
};

struct rule {
	enum verdict_kind kind;
	op_set ops;
	const char *file;    /* as given, or "builtin:NAME" */
	uint32_t line;
	const char *where;   /* "FILE:LINE" */
	const char *text;    /* the rule as written, continuation lines joined */
	const char *reason;  /* NULL when absent */
	int error;           /* errno= of a deny, 0 when absent */
	enum log_level log;
	unsigned evidence;   /* EVIDENCE_* */
	bool narrow;         /* it has env= or sha256=: an exec is more to it than a name and arguments */
	bool firm;           /* deny, kill of an address: no rule before it opens it again unless it names the address itself */
	uint32_t timeout_s;  /* ask: 0 when absent */
	enum verdict_kind otherwise; /* else= of an ask: deny (default), allow or kill */
	enum remember remember;
	uint32_t remember_s;
	uint32_t limit;      /* limit=LIMIT/PERIOD, 0 when absent */
	uint32_t limit_period_s;
	uint32_t limit_slot; /* 0 .. ruleset_limit_slots()-1, one for each rule with a limit */
	uint32_t after;      /* ask: after=N/SCOPE allows once N answers in favour of the like were given; 0 when absent */
	enum after_scope after_scope;
	bool review;         /* ask: where after= or limit= would allow, or always without them, allow and put it to a person afterwards */
	const struct exec_edit *edit; /* rewrite exec: NULL: argv stays */
	bool show_asked;     /* rewrite connect: getpeername shows what was asked for */
	bool loopback;       /* allow bind: what listens there is heard on the loopback interface alone */
};

/* An ask that never puts a question: all it says is review. */
static inline bool rule_asks_nobody(const struct rule *r)
{
	return r->review && !r->after && !r->limit;
}

#endif
