/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record under construction: one JSON object, written field by field into a
 * caller's buffer. seq, time and prev are put in front by journal_append().
 *
 * MUST: injective (two different byte strings never give the same text), one
 * line, printable ASCII only, no allocation. A record that does not fit is
 * marked broken and refused by the journal: it is never cut silently.
 */
#ifndef USHER_AUDIT_RECORD_H
#define USHER_AUDIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/stamp.h"
#include "rules/call.h"
#include "rules/verdict.h"

/* Room for two names of PATH_MAX bytes, each escaped at its worst, and all else. */
#define RECORD_MAX (64 * 1024)

/* What the journal puts in front: seq, time, prev; in the first record also format, key and checkpoints. */
#define HEAD_MAX 640
#define JOURNAL_FORMAT "usher-journal/2"

struct redactor;

/*
 * What the records of one writer have in common from one to the next: who called last, as text. All zero to begin with. It is told by
 * what it was made of, so it is never wrong, only of no use.
 */
#define MEMO_EXE 192
struct record_memo {
	const struct redactor *redactor;
	pid_t pid, tid;
	uint32_t exe_len, len;
	char exe[MEMO_EXE];
	char text[MEMO_EXE + 64]; /* pid, tid and exe as they stand in the record */
	struct stamp_memo stamp;
};

struct record {
	char *buf;
	size_t len;
	size_t cap;
	bool broken;
	uint8_t depth;
	bool first; /* no field in the current object or list yet */
	uint32_t lists; /* bit D: what is open at depth D is a list */
	struct redactor *redactor; /* replaces secrets in bytes written from here on; NULL after record_begin() */
	struct record_memo *memo;  /* the writer's, or NULL, as after record_begin() */
	struct span program[2];    /* while its arguments are written: the names of who gets them */
};

/* Starts a record of TYPE (start, call, answer, note, seal, end) in BUF, which stays the caller's. */
void record_begin(struct record *r, char *buf, size_t cap, const char *type);

/* Fields. KEY is a plain ASCII literal. Bytes are escaped; a NULL or absent span writes nothing. */
void record_text(struct record *r, const char *key, const char *value);
void record_word(struct record *r, const char *key, const char *word); /* a word of usher's own, plain ASCII without quotes; KEY NULL inside a list */
void record_bytes(struct record *r, const char *key, struct span value);
void record_fitting(struct record *r, const char *key, struct span value); /* where it has no room beside what may follow: KEY_len alone, its length */
void record_int(struct record *r, const char *key, int64_t value);
void record_bool(struct record *r, const char *key, bool value);
void record_list(struct record *r, const char *key);   /* opens a list */
void record_object(struct record *r, const char *key); /* opens an object; KEY NULL inside a list */
void record_item(struct record *r, struct span value); /* a string in the open list */
void record_secret(struct record *r, struct span value); /* the same, redacted as a whole */
void record_plain(struct record *r, const char *text, size_t n); /* fields as they were written before, with the comma in front */
void record_close(struct record *r);                   /* closes the innermost list or object */

/*
 * The fields of a decided call: pid tid exe call op object named verdict rule. Does not write result:
 * that is known later (record_result).
 */
void record_call(struct record *r, const struct call *call, const struct verdict *verdict);

/* An object's name as records give it: a path, "tcp:ADDRESS:PORT", "unix:/path", "unix:@name". */
void record_name(struct record *r, const char *key, const struct object *o);

/* result: the value returned, or the errno's name for -4095..-1. */
void record_result(struct record *r, int64_t result);

/* Joined arguments: a long list in part, then with KEY_len and KEY_hash of the whole. */
void record_argv(struct record *r, const char *key, struct span argv);

/*
 * For the journal: closes whatever is open behind the text in the buffer, where RECORD_TAIL bytes are
 * always left; R itself stays as it is and may grow on. Returns the length of the object without its opening
 * brace (it begins at R->buf + 1), 0 when R is broken.
 */
#define RECORD_TAIL 16
size_t record_finish(const struct record *r);

/* The name of an errno ("ENOENT"), or NULL. */
const char *errno_name(int err);

#endif
