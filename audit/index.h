/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records of a journal have which values: a file in the session's directory (index_store.h), made on demand, part by part
 * from the segments (index_part.h), and at any time made again from them.
 *
 * MUST: it is a help for finding, never evidence: verify does not know it, and each line it leads to is read from the journal
 * and looked at again. A part is used only while its segment is the file it was made of, unchanged since; what no part
 * covers is read line by line. Nothing is given out before all that was read from the index has been checked.
 */
#ifndef USHER_AUDIT_INDEX_H
#define USHER_AUDIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_FILE "index.sqlite"

struct index;
struct query;

typedef void (*index_fn)(void *context, const char *text, size_t len);
typedef void (*index_progress)(void *context, uint64_t done, uint64_t all); /* bytes of the journal */

/* Makes the index of the journal in DIR, in place of any that is there; with a thread for each processor (at most four). 0 or a negative errno. */
int index_make(const char *dir, index_progress tell, void *context);

/*
 * Opens the index and brings it up to date, as far as it can be written. 0, -ENOENT when there is none, -EPERM when it is not its
 * reader's own, -EIO when it is damaged, or another negative errno.
 */
int index_open(const char *dir, struct index **out);
void index_close(struct index *x);

/*
 * Gives EACH, in the order of the journal, every record that may answer Q, and others: each is to be asked again. 0; 1 when it
 * would not pay, -EIO when the index is damaged, or another negative errno: then nothing was given.
 */
int index_select(struct index *x, const struct query *q, index_fn each, void *context);

/* From here on index_lines() also gives the records that name TEXT (escaped as in records). 0 or a negative errno. */
int index_want(struct index *x, const char *text, size_t len);
/* And those of calls that move or link TEXT. */
int index_want_moves(struct index *x, const char *text, size_t len);

/* The wanted records, and all that no part covers, in the order of the journal. As index_select(). */
int index_lines(struct index *x, index_fn each, void *context);

#endif
