/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves a journal: numbers, chain, epochs, signatures, from its own bytes alone. Needs no secret.
 *
 * MUST: no index, cache or clock takes part; the first damage is named by file, line and record.
 */
#ifndef USHER_AUDIT_VERIFY_H
#define USHER_AUDIT_VERIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/digest.h"
#include "audit/merkle.h"

/* What was proven. The zero value proves nothing. */
struct proof {
	uint64_t records;   /* whole records */
	uint64_t proven;    /* the last record that a signature covers */
	uint64_t seals;
	uint64_t intents;   /* in slots: operations without a record of their outcome */
	bool ended;         /* there is an end record */
	bool closed;        /* and the final seal */
	char unwritten[16]; /* why the session could write no more before its end, by that record; empty: it could */
	uint64_t torn;      /* bytes of a record that was being written */
	pid_t writer;       /* a living process that writes on, as journal_writer() has it, or 0 */
	uint8_t key[32];    /* the first public key */
	struct digest head; /* hash of the last record */
	struct merkle log;  /* over the seals */

	bool among_others; /* anchors of other sessions were given, too */
	bool damaged;
	char file[32];
	uint64_t line;
	uint64_t seq;       /* of the damaged record as it should be */
	char what[240];
};

/* A head that was kept outside: the journal must have had it. */
struct anchor {
	uint64_t seq; /* 0: no record is named */
	struct digest hash;
	bool has_key; /* it is of the session that began with this key: one of those that are named without a record must be the journal's */
	uint8_t key[32];
};

/*
 * Reads SEQ:HASH, a public key (64 digits), or the file of that name: an anchor file as usher writes it, however long. *out gets the *n
 * anchors in the order of their records; free() it. Returns 0, -EINVAL, -ENOMEM, or the errno of the file: *out is NULL then.
 */
int anchor_parse(const char *text, struct anchor **out, size_t *n);

/*
 * Verifies the journal in DIR and that it had every one of the N ANCHORS, which are in the order of their records. Returns 0 with *out set
 * (damaged or not), or a negative errno when it cannot be read.
 */
int verify_journal(const char *dir, const struct anchor *anchors, size_t n, struct proof *out);

#endif
