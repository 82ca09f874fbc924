/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries the journal's heads to a place outside (--anchor), after each seal, as checkpoints in the format of
 * C2SP tlog-checkpoint: a signed note whose tree is the session's seals, so that witnesses can cosign them.
 *
 * MUST: no appender ever waits for an anchor; one that fails is told in the journal; the first one must
 * succeed, or the session does not start.
 */
#ifndef USHER_AUDIT_ANCHOR_H
#define USHER_AUDIT_ANCHOR_H

#include "audit/digest.h"

/* The note, with room for its extension lines and the signature. */
#define CHECKPOINT_MAX 1024
/* NAME+HASH+KEY, what a witness needs to know the log. */
#define VERIFIER_KEY_MAX 256

struct anchors;

/* What is anchored: the journal as it stood after a seal. */
struct checkpoint {
	uint64_t seals; /* size of the tree of seals */
	struct digest root;
	uint64_t seq;
	struct digest head;
};

/*
 * WHERE is "file:PATH" (checkpoints are appended) or "exec:CMD" (a shell command that reads one). DIR names the log. Sends the
 * first key. Returns 0, -EINVAL for another word, or the errno of the attempt (-EIO: CMD failed).
 */
int anchors_new(const char *where, const char *dir, const uint8_t first_key[32], struct anchors **out);
void anchors_free(struct anchors *a);

const char *anchors_verifier_key(const struct anchors *a);

/*
 * Sends C. Returns 0, 1 when the command of the one before is still running (the next checkpoint says more anyway), or a
 * negative errno (-EIO: the one before failed). WAIT: not before the command has ended, ten seconds at most.
 */
int anchors_send(struct anchors *a, const struct checkpoint *c, bool wait);

/* How the last command ended that was started: waits for it, ten seconds at most. As anchors_send(). */
int anchors_settle(struct anchors *a);

#endif
