/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment: one file of records that is filled with newlines ahead of use, so that its blocks are
 * there before they are needed and the unused rest is blank lines.
 *
 * MUST: the '{' of a record is stored after all its other bytes, and those in order: a record that a dying
 * process left torn never begins with '{'. Nothing is read back from the mapping: others may write the file.
 */
#ifndef USHER_AUDIT_SEGMENT_H
#define USHER_AUDIT_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEGMENT_MAX ((size_t)64 << 20)
#define SEGMENT_NAME_MAX 32

struct segment {
	int fd;
	char *map;                /* NULL: this file system is written with pwrite() */
	uint32_t number;
	_Atomic size_t allocated; /* bytes that are there, as newlines or records */
	_Atomic size_t used;      /* changed under the journal's lock only */
	size_t left;              /* what is before is not mapped any more; of who extends */
};

/*
 * Whether a shared mapping of the file is safe. Where writing to a page that is there already may need a new
 * block (copy on write) or the network, a mapping could answer a full disk with SIGBUS.
 */
bool segment_may_map(int fd);

/* Writes N newlines at OFFSET. EFBIG comes as an error, never as SIGXFSZ. Returns 0 or a negative errno. */
int segment_fill(int fd, size_t offset, size_t n);

/* Copies in order of addresses: a torn copy is a beginning, never a hole. */
void segment_copy(char *to, const char *from, size_t n);

/* "journal-000001.jsonl" */
void segment_name(char out[SEGMENT_NAME_MAX], uint32_t number);

/* Makes the file in DIR, empty. Returns 0 or a negative errno. */
int segment_create(int dir, uint32_t number, struct segment **out);

/* Makes the first UPTO bytes there (at most SEGMENT_MAX). One thread at a time. Returns 0 or a negative errno (-ENOSPC, -EFBIG, -EDQUOT, -EIO). */
int segment_extend(struct segment *s, size_t upto);

/*
 * The first segment in DIR, with UPTO bytes there before it has its name: one without its blank end, as a writer that is killed here would leave it,
 * looks like one that was cut off. Returns 0 or a negative errno: nothing is left behind then.
 */
#define SEGMENT_UNNAMED "segment.new"
int segment_first(int dir, size_t upto, struct segment **out);

/* Appends HEAD and BODY as one line; both must fit into what is allocated, a newline included. Returns 0 or a negative errno (pwrite only). */
int segment_put(struct segment *s, const char *head, size_t head_len, const char *body, size_t body_len);

/* Cuts the unused rest off. Returns 0 or a negative errno. */
int segment_cut(const struct segment *s);

/* Cuts the unused rest off, closes, frees. Safe on NULL. Returns 0 or the negative errno of the cut. */
int segment_close(struct segment *s);

/* Closes and frees; the file stays as it is. Safe on NULL. */
void segment_leave(struct segment *s);

#endif
