/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system as SQLite is to see it for an index: its one file. What lies beside that, with the names of a rollback journal or a log, is whoever's can
 * write there: SQLite would play it back, and remove the file that is named in it.
 *
 * MUST: nothing but the main file is opened, and none is removed.
 */
#ifndef USHER_AUDIT_INDEX_ALONE_H
#define USHER_AUDIT_INDEX_ALONE_H

/* What sqlite3_open_v2() is told; NULL: it could not be made. Any thread. */
const char *index_alone(void);

#endif
