/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/path_search.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* What cannot be looked at may be there: execvp() tells. An empty DIR is the working directory. */
static bool may_have(const char *dir, size_t len, const char *name)
{
	char file[PATH_MAX];
	const size_t own = strlen(name) + 1;

	if (len + 1 + own > sizeof(file))
		return true;
	char *at = mempcpy(file, dir, len);
	if (len)
		*at++ = '/';
	memcpy(at, name, own);
	if (access(file, F_OK) == 0)
		return true;
	return errno != ENOENT && errno != ENOTDIR;
}

const char *path_search(const char *path, const char *name)
{
	if (!path || !*name || strchr(name, '/'))
		return path;
	for (const char *dir = path;; dir++) {
		size_t len = strcspn(dir, ":");
		if (len > PATH_MAX || may_have(dir, len, name))
			return dir;
		dir += len;
		if (!*dir)
			return path;
	}
}
