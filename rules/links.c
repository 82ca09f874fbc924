// SPDX-License-Identifier: Apache-2.0
/*
 * Names are walked component by component; what a place is (nothing, a link, something
 * else) is remembered, so that ten thousand rules below one directory look at it once. A directory
 * that many names are asked of is read as a whole: the built-in rules name hundreds of files in a home, most of which are not there.
 */
#include "rules/links.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "rules/index.h"
#include "rules/pages.h"

#define LINKS_MAX 40U
#define LIST_FROM 8    /* names asked of one directory */
#define LIST_MOST 1024 /* entries of one that is read */

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

enum place_kind { PLACE_LISTED, /* there, and not looked at yet */ PLACE_PLAIN, PLACE_MISSING, PLACE_LINK };

struct known {
	const char *path; /* canonical parent and the component */
	const char *link; /* PLACE_LINK: what it holds */
	enum place_kind kind;
	bool trusted;
	bool single; /* PLACE_PLAIN: no file with another name */
	bool listed; /* all that is in it is known */
	unsigned asked;
};

struct links {
	struct arena arena;
	struct known *known;
	uint32_t mask, used;
	struct known root;
	const struct ruleset_source *from;
	bool blessing; /* links met now are the person's own */
};

struct walk {
	struct links *links;
	char at[PATH_MAX]; /* canonical so far, without a slash at the end; "" is the root */
	size_t len;
	unsigned followed;
	bool missing;
	bool trusted;
	const struct known *last; /* NULL: not by its name alone */
};

static struct known *slot_of(struct known *known, uint32_t mask, const char *path, size_t len)
{
	uint32_t i = (uint32_t)hash_bytes(path, len) & mask;
	while (known[i].path && strcmp(known[i].path, path) != 0)
		i = (i + 1) & mask;
	return &known[i];
}

static int grow(struct links *l)
{
	uint32_t mask = l->known ? l->mask * 2 + 1 : 255;
	struct known *more = pages_zeroed(((size_t)mask + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	for (uint32_t i = 0; l->known && i <= l->mask; i++)
		if (l->known[i].path)
			*slot_of(more, mask, l->known[i].path, strlen(l->known[i].path)) = l->known[i];
	free(l->known);
	l->known = more;
	l->mask = mask;
	return 0;
}

/* Below a directory that a variable names, the program itself may have laid the link. */
static bool below_variable(const struct links *l, const char *path)
{
	for (size_t i = 0; l->from && i < l->from->n_variables; i++) {
		const char *value = l->from->variables[i].value;
		size_t n = value && value[0] == '/' ? strlen(value) : 0;
		while (n > 1 && value[n - 1] == '/')
			n--;
		if (n > 1 && strncmp(path, value, n) == 0 && path[n] == '/')
			return true;
	}
	return false;
}

static bool laid_by_root(const struct links *l, const char *path, const struct stat *link)
{
	struct stat dir;
	char parent[PATH_MAX];
	size_t n = (size_t)(strrchr(path, '/') - path);
	memcpy(parent, path, n);
	parent[n] = 0;
	if (link->st_uid != 0 || stat(n ? parent : "/", &dir) < 0)
		return false;
	return dir.st_uid == 0 && !(dir.st_mode & (S_IWGRP | S_IWOTH)) && !below_variable(l, path);
}

/* Nothing that the command, of the same user, would get to by that name. Any other failure leaves open where a name leads. */
static bool not_there(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP || error == ENAMETOOLONG;
}

static int look(struct links *l, const char *path, struct known *out)
{
	struct stat st;
	char target[PATH_MAX];
	*out = (struct known){ .kind = PLACE_PLAIN, .trusted = true };
	out->path = arena_copy(&l->arena, path, strlen(path));
	if (!out->path)
		return -ENOMEM;
	bool there = lstat(path, &st) == 0;
	if (!there && !not_there(errno))
		return -errno;
	if (!there)
		out->kind = PLACE_MISSING;
	out->single = there && (!S_ISREG(st.st_mode) || st.st_nlink < 2);
	if (!there || !S_ISLNK(st.st_mode))
		return 0;
	out->single = false;
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0 && !not_there(errno) && errno != EINVAL)
		return -errno;
	if (n <= 0)
		return 0;
	out->kind = PLACE_LINK;
	out->trusted = l->blessing || laid_by_root(l, path, &st);
	out->link = arena_copy(&l->arena, target, (size_t)n);
	return out->link ? 0 : -ENOMEM;
}

/* The place of PATH, LEN bytes, with room for it. */
static int place(struct links *l, const char *path, size_t len, struct known **out)
{
	if (!l->known || l->used * 2 >= l->mask) {
		int r = grow(l);
		if (r)
			return r;
	}
	*out = slot_of(l->known, l->mask, path, len);
	return 0;
}

/* Where a list of the names is all there is to be found: no names made when they are asked for, none found by another spelling. */
static bool lists_all(int fd)
{
	struct statfs fs;
	int flags = 0;
	if (fstatfs(fd, &fs) < 0 || (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && flags & FS_CASEFOLD_FL))
		return false;
	switch ((unsigned long)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return true;
	default:
		return false;
	}
}

/* PATH is that of its directory, DIR bytes and a slash. */
static int list_entry(struct links *l, char path[PATH_MAX], size_t dir, const struct dirent *e)
{
	struct known *k;
	size_t n = strlen(e->d_name), len = dir + 1 + n;
	if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
		return 0;
	if (len >= PATH_MAX)
		return 1;
	memcpy(path + dir + 1, e->d_name, n + 1);
	int r = place(l, path, len, &k);
	if (r || k->path)
		return r;
	const char *own = arena_copy(&l->arena, path, len);
	if (!own)
		return -ENOMEM;
	bool plain = e->d_type == DT_DIR || e->d_type == DT_REG;
	*k = (struct known){ .path = own, .kind = plain ? PLACE_PLAIN : PLACE_LISTED, .trusted = true };
	l->used++;
	return 0;
}

/* 0: all of DIR, LEN bytes, is known. 1: it is not read. */
static int list(struct links *l, const char *dir, size_t len)
{
	char path[PATH_MAX];
	int fd = open(*dir ? dir : "/", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	DIR *d = fd >= 0 && lists_all(fd) ? fdopendir(fd) : NULL;
	if (!d) {
		if (fd >= 0)
			close(fd);
		return 1;
	}
	int r = 0;
	unsigned n = 0;
	memcpy(path, dir, len);
	path[len] = '/';
	errno = 0;
	for (const struct dirent *e; r == 0 && (e = readdir(d)); errno = 0)
		r = ++n > LIST_MOST ? 1 : list_entry(l, path, len, e);
	if (r == 0 && errno)
		r = 1;
	closedir(d);
	return r;
}

/* Whether PATH, LEN bytes, of which nothing is known, is known not to be there by its directory. */
static int absent(struct links *l, const char *path, size_t len, bool *out)
{
	char dir[PATH_MAX];
	size_t n = (size_t)(strrchr(path, '/') - path);
	struct known *k = &l->root;
	memcpy(dir, path, n);
	dir[n] = 0;
	int r = n ? place(l, dir, n, &k) : 0;
	*out = false;
	if (r || (n && !k->path))
		return r;
	if (!k->listed && ++k->asked == LIST_FROM) {
		r = list(l, dir, n);
		if (r < 0)
			return r;
		if (n)
			k = slot_of(l->known, l->mask, dir, n); /* the table may have grown */
		k->listed = r == 0;
		struct known *now = slot_of(l->known, l->mask, path, len);
		*out = k->listed && !now->path;
		return 0;
	}
	*out = k->listed;
	return 0;
}

static int know(struct links *l, const char *path, size_t len, const struct known **out)
{
	struct known *k;
	bool gone = false;
	int r = place(l, path, len, &k);
	if (!r && !k->path) {
		r = absent(l, path, len, &gone);
		if (!r)
			r = place(l, path, len, &k); /* the table may have grown */
	}
	if (r)
		return r;
	*out = k;
	if (k->path && k->kind != PLACE_LISTED)
		return 0;
	const struct known was = *k;
	if (gone) {
		const char *own = arena_copy(&l->arena, path, len);
		if (own)
			*k = (struct known){ .path = own, .kind = PLACE_MISSING, .trusted = true };
		l->used += own != NULL;
		return own ? 0 : -ENOMEM;
	}
	r = look(l, path, k);
	if (r)
		*k = was;
	l->used += r == 0 && !was.path;
	return r;
}

static int walk_path(struct walk *w, const char *path);

static int walk_link(struct walk *w, const struct known *k, size_t parent)
{
	if (++w->followed > LINKS_MAX)
		return 1;
	w->trusted &= k->trusted;
	w->len = k->link[0] == '/' ? 0 : parent;
	w->at[w->len] = 0;
	return walk_path(w, k->link);
}

static int walk_component(struct walk *w, const char *name, size_t n)
{
	const struct known *k;
	size_t parent = w->len;
	if (n == 2 && memcmp(name, "..", 2) == 0) {
		while (w->len && w->at[--w->len] != '/')
			;
		w->at[w->len] = 0;
		w->last = NULL;
		return 0;
	}
	if (w->len + n + 2 > sizeof(w->at))
		return 1;
	w->at[w->len++] = '/';
	memcpy(w->at + w->len, name, n);
	w->len += n;
	w->at[w->len] = 0;
	if (w->missing)
		return 0;
	int r = know(w->links, w->at, w->len, &k);
	if (r)
		return r;
	w->missing = k->kind == PLACE_MISSING;
	w->last = k;
	return k->kind == PLACE_LINK ? walk_link(w, k, parent) : 0;
}

static int walk_path(struct walk *w, const char *path)
{
	int r = 0;
	while (!r && *path) {
		size_t n = (size_t)(strchrnul(path, '/') - path);
		if (n && !(n == 1 && *path == '.'))
			r = walk_component(w, path, n);
		path += n + (path[n] == '/');
	}
	return r;
}

/* Not an initializer: that would write the whole of it for each name. */
static void walk_begin(struct walk *w, struct links *l)
{
	w->links = l;
	w->at[0] = 0;
	w->len = 0;
	w->followed = 0;
	w->missing = false;
	w->trusted = true;
	w->last = NULL;
}

int links_follow(struct links *l, const char *path, char to[PATH_MAX], bool *trusted)
{
	struct walk w;
	walk_begin(&w, l);
	int r = walk_path(&w, path);
	if (r)
		return r;
	memcpy(to, w.len ? w.at : "/", w.len ? w.len + 1 : 2);
	*trusted = w.trusted;
	return 0;
}

const struct own_link own_links[OWN_LINKS] = { { "/proc/self", "/proc/[0-9]*" }, { "/proc/thread-self", "/proc/[0-9]*/task/[0-9]*" } };

bool links_of_self(const char *path, size_t len)
{
	for (size_t i = 0; i < OWN_LINKS; i++) {
		size_t n = strlen(own_links[i].link);
		if (len >= n && memcmp(path, own_links[i].link, n) == 0 && (len == n || path[n] == '/'))
			return true;
	}
	return false;
}

bool links_missing(struct links *l, const char *path)
{
	struct walk w;
	walk_begin(&w, l);
	return walk_path(&w, path) == 0 && w.missing;
}

bool links_single(struct links *l, const char *path)
{
	struct walk w;
	walk_begin(&w, l);
	return walk_path(&w, path) == 0 && (w.missing || (w.last && w.last->single));
}

int links_new(const struct ruleset_source *from, struct links **out)
{
	char to[PATH_MAX];
	bool trusted;
	struct links *l = calloc(1, sizeof(*l));
	*out = l;
	if (!l)
		return -ENOMEM;
	l->from = from;
	l->blessing = true;
	for (size_t i = 0; from && i < from->n_variables; i++)
		if (from->variables[i].value && from->variables[i].value[0] == '/')
			links_follow(l, from->variables[i].value, to, &trusted);
	l->blessing = false;
	return 0;
}

void links_free(struct links *l)
{
	if (!l)
		return;
	arena_free(&l->arena);
	free(l->known);
	free(l);
}
