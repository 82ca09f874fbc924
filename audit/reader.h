/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a journal line by line, of a session that lives or has ended, in constant memory. Nothing is
 * believed here: what a line is worth is for verify.h to say.
 */
#ifndef USHER_AUDIT_READER_H
#define USHER_AUDIT_READER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct reader;

struct line {
	const char *bytes; /* without the newline; valid until the next call */
	size_t len;
	const char *file;  /* name within the directory */
	uint32_t segment;  /* its number, 0 for intents */
	uint64_t number;   /* from 1, blank lines counted */
	uint64_t offset;
	uint64_t blanks;   /* blank lines just before it */
	bool ended;        /* a newline follows */
};

/* Whether it can be a record: one that was torn has not its beginning or not its end. */
static inline bool line_is_record(const struct line *l)
{
	return l->len > 1 && l->bytes[0] == '{' && l->bytes[l->len - 1] == '}';
}

/* What stands behind the last line. */
struct tail {
	uint64_t fill; /* newlines written ahead, its own not counted */
	uint64_t torn; /* bytes of a record that was being written */
	const char *file;
	uint32_t segment;
	uint64_t number;
	uint64_t size; /* of the last file */
	bool zeros;    /* its last byte is one: of blocks that never reached the disk some file systems give back zeros */
};

/* What goes by a segment's name is a link, a directory or the like: it may say something else to whoever reads it next. */
#define READER_NO_FILE (-EMEDIUMTYPE)

/* What a person is told of RC, an error of a call below. */
const char *reader_error(int rc);

/* Opens the journal in DIR. Returns 0, -ENOENT when there is no segment in it, READER_NO_FILE, or another negative errno. */
int reader_open(const char *dir, struct reader **out);
/* The same from OFFSET in segment SEGMENT on, where a line ends or begins (0: from the start). Line numbers count from there. */
int reader_open_at(const char *dir, uint32_t segment, uint64_t offset, struct reader **out);
void reader_close(struct reader *r);

/* The state of the file that is read now. 0 or a negative errno. */
int reader_stat(const struct reader *r, struct stat *out);

/* The lowest number above N of a segment in the directory DIRFD, 0 when there is none. */
uint32_t segment_after(int dirfd, uint32_t n);

/* The two highest, 0 where there is none: in one pass, however many somebody has made. */
void segments_last(int dirfd, uint32_t *last, uint32_t *previous);

/*
 * The next line that is not blank: 1, 0 at the present end (call again later: a live journal grows), READER_NO_FILE (reader_tail() names it), or another negative
 * errno. A record that is being written, or was left torn, is no line: see reader_tail().
 */
int reader_next(struct reader *r, struct line *out);
void reader_tail(const struct reader *r, struct tail *out);

/* Reads the intents that are in their slots now, in the same way. -ENOENT when there is no such file: the session was closed. */
int reader_open_inflight(const char *dir, struct reader **out);

/* The process that writes the journal in DIR now, or 0; -1: one that has no number here, of another pid namespace. */
pid_t journal_writer(const char *dir);

/*
 * The newest session below the default place, into OUT. Returns 0, -ENOENT where there is none, or a negative errno where OUT names a place
 * that cannot be looked into.
 */
int journal_newest(char *out, size_t cap);
/* What journal_newest() returned, and left in OUT, as a sentence for a person. */
const char *journal_newest_error(int rc, const char *out, char *text, size_t cap);

#endif
