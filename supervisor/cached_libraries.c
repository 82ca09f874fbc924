/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/cached_libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/real_name.h"
#include "rules/cleanup.h"

#define CACHE "/etc/ld.so.cache"

static bool may_change(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno != ENOENT; /* what is missing is made by who may write where it would be */
	return st.st_uid == geteuid() || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* Whether NAME, which is absolute, or a directory above it is this user's. */
static bool may_reach(const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s", name) >= sizeof(path) || may_change(path))
		return true;
	for (char *slash; (slash = strrchr(path, '/'));) {
		slash[slash == path] = '\0';
		if (may_change(path))
			return true;
		if (slash == path)
			return false;
	}
	return true;
}

static void look_at_lead(void *context, const char *lead)
{
	bool *safe = context;

	*safe = *safe && !may_reach(lead);
}

static bool is_safe(const char *path)
{
	char real[PATH_MAX];
	bool safe = path[0] == '/' && real_name(path, real) >= 0 && !may_reach(path) && !may_reach(real);

	return safe && real_name_leads(path, look_at_lead, &safe) == 0 && safe;
}

/* ALL, with a NUL behind it, holds whole names, each with a NUL behind it: of those that end in NAME. */
static bool all_safe(const char *all, size_t len, const char *name)
{
	char end[NAME_MAX + 2];
	size_t n = (size_t)snprintf(end, sizeof(end), "/%s", name) + 1;
	const char *at = all, *stop = all + len + 1;

	while ((at = memmem(at, (size_t)(stop - at), end, n))) {
		const char *path = at;
		while (path > all && path[-1])
			path--;
		if (!is_safe(path))
			return false;
		at++;
	}
	return true;
}

bool cached_libraries_safe(const char *const *names)
{
	CLEANUP_FD int fd = open(CACHE, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT && !may_reach(CACHE);
	if (fstat(fd, &st) < 0 || st.st_size <= 0 || may_reach(CACHE))
		return false;
	CLEANUP_FREE char *all = calloc(1, (size_t)st.st_size + 1);
	ssize_t len = all ? read(fd, all, (size_t)st.st_size) : -1;
	for (; len >= 0 && *names; names++) {
		if (!all_safe(all, (size_t)len, *names))
			return false;
	}
	return len >= 0;
}
