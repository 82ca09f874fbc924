/* SPDX-License-Identifier: Apache-2.0 */
/* Whether anybody but root could change a program: what rules with 'trusted' ask, of a running session and of check --explain. */
#include "supervisor/trusted_name.h"

#include <limits.h>
#include <string.h>

bool roots_alone(const struct stat *st)
{
	return st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

bool trusted_name(struct span name, const struct stat *st)
{
	char path[PATH_MAX];
	struct stat dir;

	if (name.len >= sizeof(path) || !roots_alone(st))
		return false;
	memcpy(path, name.bytes, name.len);
	path[name.len] = '\0';
	for (char *slash; (slash = strrchr(path, '/'));) {
		slash[slash == path] = '\0';
		if (lstat(path, &dir) < 0 || !S_ISDIR(dir.st_mode) || !roots_alone(&dir))
			return false;
		if (slash == path)
			return true;
	}
	return false;
}
