/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of one session: append-only segments of JSON Lines, chained by
 * hash, sealed in epochs. Survives the death of the process at any instant.
 *
 * MUST: journal_append() returns 0 only when the record is in the shared mapping
 * (kill -9 proof) and chained; after a failure every later append fails too: closed.
 */
#ifndef USHER_AUDIT_JOURNAL_H
#define USHER_AUDIT_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/record.h"

struct journal;

enum journal_sync { SYNC_NONE = 0, SYNC_BATCH, SYNC_EACH };

#define ANCHOR_FILE "file:" /* and what follows is a name */

struct journal_options {
	const char *dir;        /* is made; its parent exists (journal_default_dir() makes the parents) */
	enum journal_sync sync;
	const char *anchor;     /* "exec:CMD", "file:PATH" or NULL */
	bool helper_later;      /* the helper thread is started by journal_help(); not with sync or anchor, which need it at once */
};

/*
 * Makes the session's directory and first segment. Returns 0 with *out set, or
 * a negative errno; *why (static or owned by nobody: never freed) says what failed and on what.
 */
int journal_create(const struct journal_options *options, struct journal **out, const char **why);

/*
 * A fresh directory name below the first of journal_place() that can be written (parents made, mode 0700). Where that is
 * not the first, says so on stderr. Returns 0 or a negative errno.
 */
int journal_default_dir(char *out, size_t cap);

/*
 * Where default directories are made, best first: INDEX 0 is $XDG_STATE_HOME/usher or ~/.local/state/usher, 1 is
 * $XDG_RUNTIME_DIR/usher-journals, 2 is /tmp/usher-UID. Returns 0, 1 past the end, -ENOENT when the environment does not
 * name that one, or -ENAMETOOLONG.
 */
int journal_place(unsigned index, char *out, size_t cap);

/* Whether the directory is this user's and nobody else's to enter or write: what is found in a shared place is believed only then. */
bool journal_place_ours(const char *path);

/* The name of the file beside the journal DIR that can open what was redacted: DIR.salts. */
void journal_salts(char *out, size_t cap, const char *dir);

/*
 * The file of that name to write to, made where there is none; never waits. -EEXIST: something is there that is not a file of this user's alone, with no
 * other name. A descriptor or a negative errno.
 */
int journal_salts_open(const char *salts);

/* The directory, for messages and for the guard layer. Lives as long as the journal. */
const char *journal_dir(const struct journal *j);

/*
 * Appends R (closed by this call) and gives its number. Thread safe, no
 * allocation; the one lock held is for the copy and the hash. Returns 0, -EMSGSIZE for a broken record,
 * or the negative errno that stopped the journal (-ENOSPC, -EIO, ...).
 */
int journal_append(struct journal *j, struct record *r, uint64_t *seq);

/*
 * Before an effect: puts R's fields so far where the death of this process cannot lose
 * them and makes sure the final record has room. *slot names it for journal_intent_done(), which
 * is called after the final record was appended. Thread safe, no allocation, no shared lock. Returns 0, -EMSGSIZE for a broken
 * record, or the errno that stopped the journal. When no slot is free or the record is too long for one, the intent goes into
 * the chain instead; *slot has JOURNAL_IN_CHAIN then, beside the bytes that were set aside for the final record.
 */
#define JOURNAL_IN_CHAIN (UINT32_C(1) << 31)
int journal_intent(struct journal *j, const struct record *r, uint32_t *slot);

/*
 * The final record of the intent in SLOT and the end of that intent in one: it may use the room that
 * journal_intent() set aside, so a disk that became full in between does not lose it. On failure the intent stays
 * in its slot as evidence. Do not call journal_intent_done() afterwards. Errors as journal_append().
 */
int journal_append_final(struct journal *j, struct record *r, uint32_t slot, uint64_t *seq);

/* Without a final record by journal_append_final(). Once the journal has failed the slot stays as it is, as evidence. */
void journal_intent_done(struct journal *j, uint32_t slot);

/*
 * Asks for a note with the hash of the program that runs (/proc/self/exe), made by the helper thread once the session
 * has lived for 200 ms: a shorter one has none.
 */
void journal_name_program(struct journal *j);

/*
 * Starts the helper thread if it was left for later: within HELP_MS of journal_create() (a session that is over by then never has one, and
 * makes neither room nor seals ahead of use). Returns 0, 1 to be called again after a while, or the negative errno that stopped the journal.
 */
#define HELP_MS 10
int journal_help(struct journal *j);

/* The errno that stopped the journal, 0 while it works. */
int journal_failed(const struct journal *j);

/* Appends the end record R (may be NULL), seals, trims, closes. Safe on NULL. Returns 0, or a negative errno when the journal stays without its end. */
int journal_close(struct journal *j, struct record *r);

/* In place of journal_close() where no session began: leaves nothing of what journal_create() made. */
void journal_drop(struct journal *j);

/* As journal_close(), for a process that is about to end: memory, descriptors and the helper thread are left to the kernel. */
int journal_end(struct journal *j, struct record *r);

#endif
