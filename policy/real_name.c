/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/real_name.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rules/cleanup.h"

#define LINKS_MOST 40 /* as the kernel's MAXSYMLINKS */

/* Where a walk stands: AT is real in its first REAL bytes ("" for the root), REST is to be walked from there. */
struct walk {
	char at[PATH_MAX];
	size_t real;
	char rest[2 * PATH_MAX];
	unsigned links;
	void (*each)(void *context, const char *name); /* may be NULL */
	void *context;
};

/* Takes the next component off the rest, 0: there is none. */
static size_t next_component(struct walk *w, char part[PATH_MAX])
{
	char *from = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(from, "/");

	if (len >= PATH_MAX)
		len = PATH_MAX - 1; /* nothing is called so */
	memcpy(part, from, len);
	part[len] = '\0';
	memmove(w->rest, from + len, strlen(from + len) + 1);
	return len;
}

static bool is_real(const struct walk *w)
{
	return w->at[w->real] == '\0';
}

static void tell(const struct walk *w)
{
	if (w->each)
		w->each(w->context, w->at);
}

/* What is left by ".." can lead elsewhere as well: a link in its place has another directory above it. */
static void leave(struct walk *w)
{
	char *slash = strrchr(w->at, '/');

	if (!slash)
		return;
	if (is_real(w))
		tell(w);
	*slash = '\0';
	if (strlen(w->at) < w->real)
		w->real = strlen(w->at);
}

/* TARGET is what a link of the directory AT leads to, which may not exist. */
static int follow(struct walk *w, const char *target, size_t len)
{
	char rest[sizeof(w->rest)];

	if ((size_t)snprintf(rest, sizeof(rest), "%.*s/%s", (int)len, target, w->rest) >= sizeof(rest))
		return -ENAMETOOLONG;
	strcpy(w->rest, rest);
	if (target[0] == '/') {
		w->at[0] = '\0';
		w->real = 0;
	}
	return 0;
}

/* One component further: a link is followed, also to where nothing is yet. */
static int enter(struct walk *w, const char *part, size_t len)
{
	size_t before = strlen(w->at);
	bool here = is_real(w);
	char target[PATH_MAX];

	if (before + 1 + len >= PATH_MAX)
		return -ENAMETOOLONG;
	w->at[before] = '/';
	memcpy(w->at + before + 1, part, len + 1);
	if (!here)
		return 0;
	ssize_t n = readlink(w->at, target, sizeof(target));
	if (n >= 0 && w->links++ < LINKS_MOST) {
		tell(w);
		w->at[before] = '\0';
		return follow(w, target, (size_t)n);
	}
	if (n < 0 && errno == EINVAL) /* it is there, and no link */
		w->real = before + 1 + len;
	return 0;
}

static int walk(struct walk *w, const char *name)
{
	char part[PATH_MAX];
	int rc = 0;

	if ((size_t)snprintf(w->rest, sizeof(w->rest), "%s", name) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (size_t len; rc == 0 && (len = next_component(w, part));) {
		if (!strcmp(part, ".."))
			leave(w);
		else if (strcmp(part, ".") != 0)
			rc = enter(w, part, len);
	}
	return rc;
}

/* Whether NAME is an absolute one without "", "." and ".." in it. */
static bool is_plain(const char *name)
{
	for (const char *at = name; *at; at += strcspn(at, "/")) {
		if (*at++ != '/')
			return false;
		size_t len = strcspn(at, "/");
		if (!len || (at[0] == '.' && (len == 1 || (len == 2 && at[1] == '.'))))
			return false;
	}
	return name[0];
}

/* Whether NAME is all there and crosses no link, as most names do: then it is what it says. */
static bool is_itself(const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };

	if (!is_plain(name))
		return false;
	int fd CLEANUP_FD = (int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof(how));
	return fd >= 0;
}

ssize_t real_name(const char *name, char out[PATH_MAX])
{
	struct walk w = { .at = "" };
	size_t len = strlen(name);

	if (len < PATH_MAX && is_itself(name)) {
		memcpy(out, name, len + 1);
		return (ssize_t)len;
	}
	int rc = walk(&w, name);

	if (rc < 0)
		return rc;
	strcpy(out, w.at[0] ? w.at : "/");
	return (ssize_t)w.real;
}

int real_name_leads(const char *name, void (*each)(void *context, const char *lead), void *context)
{
	struct walk w = { .at = "", .each = each, .context = context };

	return walk(&w, name);
}
