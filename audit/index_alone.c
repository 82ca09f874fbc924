/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/index_alone.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>

static sqlite3_vfs *ordinary;
static sqlite3_vfs alone;
static const char *name;

static int open_main(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
	(void)vfs;
	file->pMethods = NULL;
	return flags & SQLITE_OPEN_MAIN_DB ? ordinary->xOpen(ordinary, path, file, flags, out) : SQLITE_CANTOPEN;
}

static int remove_none(sqlite3_vfs *vfs, const char *path, int sync)
{
	(void)vfs, (void)path, (void)sync;
	return SQLITE_IOERR_DELETE;
}

/* Asked of what may lie beside the file. */
static int nothing_there(sqlite3_vfs *vfs, const char *path, int flags, int *out)
{
	(void)vfs, (void)path, (void)flags;
	*out = 0;
	return SQLITE_OK;
}

static void make(void)
{
	ordinary = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
	if (!ordinary)
		return;
	alone = *ordinary;
	alone.zName = "usher-alone";
	alone.pNext = NULL;
	alone.xOpen = open_main;
	alone.xDelete = remove_none;
	alone.xAccess = nothing_there;
	if (sqlite3_vfs_register(&alone, 0) == SQLITE_OK)
		name = alone.zName;
}

const char *index_alone(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make);
	return name;
}
