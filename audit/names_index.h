/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records of a journal name what: an SQLite file in the session's directory, made on demand and at any time
 * made again from the journal.
 *
 * MUST: it is a help for finding, never evidence: verify does not know it, and each line it leads to is read from the
 * journal and looked at again. One that does not belong to the journal as it is now is made anew.
 */
#ifndef USHER_AUDIT_NAMES_INDEX_H
#define USHER_AUDIT_NAMES_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#define NAMES_INDEX_FILE "index.sqlite"

struct names_index;

/* Opens the index of the journal in DIR (MAKE: makes it) and brings it up to date. 0, -ENOENT when there is none, or a negative errno. */
int names_index_open(const char *dir, bool make, struct names_index **out);
void names_index_close(struct names_index *x);

/* From here on names_index_lines() also gives the records that name TEXT (escaped as in records). 0 or -EIO. */
int names_index_want(struct names_index *x, const char *text, size_t len);
/* And those of calls that move or link names. */
int names_index_want_moves(struct names_index *x);

/* The wanted records in the order of the journal; then nothing is wanted. 0 or a negative errno. */
int names_index_lines(struct names_index *x, void (*each)(void *context, const char *text, size_t len), void *context);

/* Whether the call with this name moves or links names, and is about more than one object. */
bool names_index_moves(const char *text, size_t len);

#endif
