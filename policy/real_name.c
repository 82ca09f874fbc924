/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/real_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

#define LINKS_MOST 40 /* as the kernel's MAXSYMLINKS */

/* Where a walk stands: AT is real ("" for the root), REST is to be walked from there. */
struct walk {
	char at[PATH_MAX];
	char rest[2 * PATH_MAX];
	unsigned links;
};

/* Takes the next component off the rest, 0: there is none. */
static size_t next_component(struct walk *w, char part[NAME_MAX + 1])
{
	char *from = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(from, "/");

	if (len > NAME_MAX)
		len = NAME_MAX; /* nothing is called so */
	memcpy(part, from, len);
	part[len] = '\0';
	memmove(w->rest, from + len, strlen(from + len) + 1);
	return len;
}

/* TARGET is what a link of the directory AT leads to. */
static int follow(struct walk *w, const char *target, size_t len)
{
	char rest[sizeof(w->rest)];

	if (++w->links > LINKS_MOST)
		return -ELOOP;
	if ((size_t)snprintf(rest, sizeof(rest), "%.*s/%s", (int)len, target, w->rest) >= sizeof(rest))
		return -ENAMETOOLONG;
	strcpy(w->rest, rest);
	if (target[0] == '/')
		w->at[0] = '\0';
	return 0;
}

int real_name_links(const char *name, void (*each)(void *context, const char *link), void *context)
{
	struct walk w = { .at = "" };
	char part[NAME_MAX + 1], target[PATH_MAX];
	bool up = false;

	if ((size_t)snprintf(w.rest, sizeof(w.rest), "%s", name) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (size_t len; (len = next_component(&w, part));) {
		size_t before = strlen(w.at);
		int rc = append(w.at, part, len, &up);
		if (rc < 0)
			return rc;
		ssize_t n = strlen(w.at) > before ? readlink(w.at, target, sizeof(target)) : -1;
		if (n < 0)
			continue; /* no link, or nothing: then what is behind is not there either */
		each(context, w.at);
		w.at[before] = '\0';
		rc = follow(&w, target, (size_t)n);
		if (rc < 0)
			return rc;
	}
	return 0;
}
