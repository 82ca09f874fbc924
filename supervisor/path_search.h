/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USHER_SUPERVISOR_PATH_SEARCH_H
#define USHER_SUPERVISOR_PATH_SEARCH_H

/*
 * The part of PATH (a list as in environ(7), or NULL) from the first directory on that may have NAME: those before it have no file of
 * that name, which is looked at with access(2). PATH itself when NAME has a slash or none has it. No heap; any process.
 */
const char *path_search(const char *path, const char *name);

#endif
