/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/real_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How much of NAME exists; its real name, without a slash at the end, goes to OUT. */
static size_t existing(const char *name, char out[PATH_MAX])
{
	char head[PATH_MAX];
	size_t len = strlen(name);

	memcpy(head, name, len + 1);
	while (len > 1 && !realpath(head, out)) {
		while (len > 1 && head[len - 1] != '/')
			len--;
		while (len > 1 && head[len - 1] == '/')
			len--;
		head[len] = '\0';
	}
	if (len <= 1 || strcmp(out, "/") == 0)
		out[0] = '\0';
	return len > 1 ? len : 0;
}

/* Appends one component of what is missing to OUT; *UP: it led out of what came before. */
static int append(char out[PATH_MAX], const char *part, size_t len, bool *up)
{
	size_t have = strlen(out);

	if (len == 0 || (len == 1 && part[0] == '.'))
		return 0;
	if (len == 2 && part[0] == '.' && part[1] == '.') {
		char *slash = strrchr(out, '/');
		if (slash)
			*slash = '\0';
		*up = true;
		return 0;
	}
	if (have + 1 + len >= PATH_MAX)
		return -ENAMETOOLONG;
	out[have] = '/';
	memcpy(out + have + 1, part, len);
	out[have + 1 + len] = '\0';
	return 0;
}

static ssize_t once(const char *name, char out[PATH_MAX], bool *up)
{
	if (strlen(name) >= PATH_MAX)
		return -ENAMETOOLONG;
	const char *rest = name + existing(name, out);
	size_t real = strlen(out);

	while (*rest) {
		size_t len = strcspn(rest, "/");
		int rc = append(out, rest, len, up);
		if (rc < 0)
			return rc;
		rest += len + (rest[len] == '/');
	}
	if (!out[0])
		strcpy(out, "/");
	return (ssize_t)real;
}

ssize_t real_name(const char *name, char out[PATH_MAX])
{
	char folded[PATH_MAX];
	bool up = false;
	ssize_t real = once(name, out, &up);

	if (real < 0 || !up)
		return real;
	/* What ".." led to may exist, and be a link. */
	strcpy(folded, out);
	return once(folded, out, &up);
}
