/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of an open journal share: append.c (the locked path), keeper.c (the
 * helper thread), journal_dir.c and journal.c. Nobody else includes this.
 *
 * MUST: locks are taken in the order tended, flush, lock, grow. lock is held for a copy, a hash and, once for each epoch, a
 * signature; for system calls only where the keeper was too slow.
 */
#ifndef USHER_AUDIT_JOURNAL_STATE_H
#define USHER_AUDIT_JOURNAL_STATE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "audit/anchor.h"
#include "audit/epoch.h"
#include "audit/inflight.h"
#include "audit/journal.h"
#include "audit/segment.h"
#include "audit/stamp.h"

#define CHUNK_FIRST ((size_t)32 << 10)
/* What is there ahead of use, and what lies behind it and is not let go of yet, counts as usher's memory. */
#define CHUNK ((size_t)256 << 10)
#define LOW_WATER ((size_t)128 << 10)
/* Always kept free: the end record and its seal find room on a full disk. */
#define END_RESERVE ((size_t)16 << 10)

/* The longest line of all: a seal, or the intent head in front of it. */
_Static_assert(SEAL_MAX >= HEAD_MAX + 320, "a seal's line must fit");

#define SEAL_RECORDS 4096
#define SEAL_NS (UINT64_C(5) * 1000000000)
#define BATCH_NS (UINT64_C(200) * 1000000)
/* A session that lives so long can pay for the hash of the program, some 7 ms of one core. */
#define PROGRAM_NS (UINT64_C(200) * 1000000)
/* So often its thread may fail to start; then no record would ever be sealed. */
#define UNHELPED_MOST 200

struct journal {
	char *dir;
	int dirfd;
	bool made;   /* the directory was not there */
	bool closed; /* the final seal is in */
	int anchor; /* the file "anchor": its lock says that the session lives */
	int flushing; /* the segment that was flushed last: the number is kept, so that a flush finds one where none is free */
	enum journal_sync sync;

	pthread_mutex_t lock;
	struct segment *seg;  /* replaced under both locks */
	_Atomic uint64_t seq; /* of the last record */
	struct digest head;   /* hash of the last line */
	struct stamp_memo stamp;
	struct epoch *epoch;
	struct merkle seals; /* kept for checkpoints only */

	struct anchors *anchors; /* NULL: nobody outside wants heads */

	pthread_mutex_t grow;
	struct segment *next;    /* made ahead of use */
	struct segment *retired; /* full, waits for the keeper to close it */

	_Atomic size_t room;     /* bytes that are there and unused in seg */
	_Atomic size_t reserved; /* of these, spoken for */
	_Atomic int failed;      /* negative errno, 0 while all is well */
	struct inflight *inflight;

	pthread_mutex_t flush; /* SYNC_EACH: one flush serves all that wait */
	uint64_t flushed;      /* last seq known to be on the disk */

	pthread_t keeper;
	bool keeper_runs;
	unsigned unhelped; /* times that it could not be started */
	sem_t wake;
	atomic_bool woken;
	atomic_bool stop;
	pthread_mutex_t tended; /* held while the keeper works */
	_Atomic uint64_t first_unsealed; /* time of the oldest record without a seal, 0: none */
	_Atomic uint32_t unsealed;       /* records since the last seal */
	bool unsealed_for_good;          /* a seal found no room, and the key that signed it is gone; with lock held */
	atomic_bool dirty;               /* SYNC_BATCH: something to flush */
	uint64_t next_flush;             /* SYNC_BATCH: the keeper's */
	_Atomic uint64_t program_due;    /* when to hash the program, 0: never or done */
};

enum append_flags {
	APPEND_RESERVED = 1, /* may use what is reserved */
	APPEND_INTENT = 2,   /* an intent that found no slot */
};

/*
 * append.c; each with j->lock held. BODY is an object without its opening brace. AFTER: the last record's number when what BODY
 * is about began, or 0; it is told where others have come in between. FINAL: the last seal.
 */
int append_line(struct journal *j, const char *body, size_t len, unsigned flags, uint64_t after);
int append_seal(struct journal *j, bool final);

/* Makes the journal refuse from now on; keeps the first reason. Returns RC. */
int journal_stop(struct journal *j, int rc);

/* Puts the segment on the disk, which may be replaced meanwhile. One at a time; without a lock of these. */
int journal_flush(struct journal *j);

/* journal_dir.c: makes (*made) or takes over, when empty, the directory. *name is the caller's to free. */
int journal_open_dir(const char *path, char **name, int *dirfd, bool *made, const char **why);

/* With j->lock held, after a seal. */
void journal_checkpoint(const struct journal *j, struct checkpoint *out);
/* Sends it; what fails is told in the journal. Without a lock. */
void journal_anchor(struct journal *j, const struct checkpoint *c, bool wait);

/* keeper.c: extends the segment (or makes the next one) until NEED bytes beyond what is reserved are there. Takes grow. */
int keeper_make_room(struct journal *j, size_t need);
/* Replaces the full segment. With j->lock held. */
int keeper_rotate(struct journal *j);
/* Nanoseconds, of the clock that says when the keeper has to do what. */
uint64_t keeper_now(void);
void keeper_wake(struct journal *j);
/* Room is to be made ahead of use. */
bool keeper_wants_room(const struct journal *j);
int keeper_start(struct journal *j);
void keeper_stop(struct journal *j);
/* It does nothing from here on, and stays where it is: for a process that is about to end. */
void keeper_still(struct journal *j);

#endif
