/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of every system call: one table, from which the filter is built and SECURITY.md's table is printed.
 *
 * MUST: each number of the kernel's headers has an entry; a number without one is unknown and gets ENOSYS.
 */
#ifndef USHER_SUPERVISOR_DISPOSITION_H
#define USHER_SUPERVISOR_DISPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The zero value is the closed one. */
enum call_kind {
	CALL_UNKNOWN = 0, /* ENOSYS */
	CALL_REFUSED,     /* the filter answers with an errno */
	CALL_MEDIATED,    /* goes to usher */
	CALL_DECIDED,     /* the filter looks at register values; see condition_at() */
	CALL_ALLOWED,     /* the kernel does it, for the reason given */
};

/* When an entry or a condition holds (all bits must); otherwise the kernel does the call. 0: always. */
enum call_when {
	WHEN_STAT = 1 << 0,       /* some rule names stat */
	WHEN_PRIVILEGED = 1 << 1, /* usher, and so the command, starts with privileges */
	WHEN_BLIND = 1 << 2,      /* usher cannot read a process that hides itself (no CAP_SYS_PTRACE) */
	WHEN_UNSCOPED = 1 << 3,   /* the kernel has no signal scope (Landlock ABI 6) */
	WHEN_DESCENT = 1 << 5,    /* a rule asks for ancestors: usher learns of every fork */
	WHEN_SHOWN = 1 << 6,      /* a rule says show=asked: getpeername tells what was asked for */
	WHEN_SOCKETS = 1 << 7,    /* some rule could give sockets that are not listed: net_filter.h asks */
	WHEN_KEPT = 1 << 8,       /* some file may not be changed: policy_allows() says no of modify */
	WHEN_ADDRESSED = 1 << 9,  /* the rules do not let UDP be sent to everybody */
	WHEN_OWN = 1 << 10,       /* a rule says own: the tree's own listening sockets are known */
	WHEN_ROUTED = 1 << 11,    /* the rules do not let UDP be sent, and TCP connected, to everybody (net_leaves.h), or have what listens be heard on loopback alone */
	WHEN_APART = 1 << 4,      /* processes of the tree must not enter each other, or nothing keeps them inside the tree */
};

struct disposition {
	const char *name;
	uint8_t kind;
	uint16_t when;
	int16_t error; /* CALL_REFUSED: positive */
	const char *reason;
};

/* The entry of a number; kind is CALL_UNKNOWN where there is none. Never NULL. */
const struct disposition *disposition_of(int nr);

/* One past the highest number with an entry. */
int disposition_end(void);

/* Whether any mode of the filter sends NR to usher: those calls, and no others, need a row. */
bool disposition_traps(int nr);

enum compare {
	COMPARE_NONE = 0,
	COMPARE_INT,    /* low 32 bits equal value */
	COMPARE_LONG,   /* all 64 bits equal value */
	COMPARE_NOT,    /* any of 64 bits differs from value */
	COMPARE_BITS,   /* the bits of mask equal value */
	COMPARE_HIGH,   /* any bit of the high half is set; stands alone */
	COMPARE_ANY,    /* any bit of mask, which is in the low half, is set; stands alone */
	COMPARE_SOME,   /* the bits of mask are set, and some bit of the low half is not; stands alone */
};

struct comparison {
	uint8_t arg;
	uint8_t how;
	uint64_t mask;
	uint64_t value;
};

#define CONDITION_TESTS 3

/* A register test of a decided call: all of its comparisons true means the action. */
struct condition {
	int nr;
	uint16_t when;
	int16_t error; /* >= 0: the filter answers with this errno (0: pretends success); CONDITION_TRAP: goes to usher */
	struct comparison test[CONDITION_TESTS];
	const char *what; /* for people: "TIOCSTI" */
	const char *reason;
};

#define CONDITION_TRAP (-1)

/* INDEX from 0; NULL past the end. */
const struct condition *condition_at(unsigned index);

/* The published tables, in Markdown. */
void disposition_print(FILE *to);

#endif
