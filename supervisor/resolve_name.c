/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/resolve_name.h"

#include <stdint.h>
#include <string.h>

static bool is_dots(const char *c, size_t n)
{
	return (n == 1 && c[0] == '.') || (n == 2 && c[0] == '.' && c[1] == '.');
}

#define PIECE 16
typedef unsigned char piece __attribute__((vector_size(PIECE), aligned(1), may_alias));

/* Whether a slash is followed by a slash or a dot in the PIECE + 1 bytes at P. */
static bool piece_folds(const char *p)
{
	piece at = *(const piece *)p, next = *(const piece *)(p + 1);
	piece found = (piece)(at == '/') & ((piece)(next == '/') | (piece)(next == '.'));
	uint64_t word[2];

	memcpy(word, &found, sizeof(word));
	return word[0] | word[1];
}

/* Whether something may be there to be folded; most names have nothing. */
static bool may_fold(const char *path, size_t len)
{
	size_t at = 0;

	if (len <= PIECE || path[0] == '.')
		return true;
	for (; len - at > PIECE; at += PIECE)
		if (piece_folds(path + at))
			return true;
	return piece_folds(path + len - PIECE - 1);
}

bool name_fold(const char *path, size_t len, char *out, size_t *out_len)
{
	size_t at = 0, n = 0;

	if (!len || path[len - 1] == '/')
		return false;
	if (!may_fold(path, len)) {
		memmove(out, path, len);
		out[len] = '\0';
		*out_len = len;
		return true;
	}
	if (path[0] == '/')
		out[n++] = '/';
	while (at < len) {
		const char *slash = memchr(path + at, '/', len - at);
		size_t c = slash ? (size_t)(slash - (path + at)) : len - at;
		bool last = !slash;
		if (is_dots(path + at, c) && (c == 2 || last))
			return false;
		if (c && !is_dots(path + at, c)) {
			memmove(out + n, path + at, c);
			n += c;
			if (!last)
				out[n++] = '/';
		}
		at += c + 1;
	}
	out[n] = '\0';
	*out_len = n;
	return true;
}

size_t name_up(const char *path, size_t len)
{
	for (size_t at = 0; at + 2 <= len; at++) {
		if ((at == 0 || path[at - 1] == '/') && path[at] == '.' && path[at + 1] == '.' && (at + 2 == len || path[at + 2] == '/'))
			return at;
	}
	return len;
}

size_t name_without_ending(const char *path, size_t len)
{
	while (len && (path[len - 1] == '/' || (path[len - 1] == '.' && (len == 1 || path[len - 2] == '/'))))
		len--;
	return len;
}

void name_split(const char *path, size_t len, struct split *out)
{
	size_t end = len, start;

	while (end && path[end - 1] == '/')
		end--;
	const char *slash = memrchr(path, '/', end);
	start = slash ? (size_t)(slash + 1 - path) : 0;
	out->leaf = start;
	out->len = end - start;
	out->slash = end < len;
	out->dots = is_dots(path + start, end - start) || (!end && len);
	while (start > 1 && path[start - 1] == '/')
		start--;
	out->dir = !end && len ? 1 : start;
}

pid_t name_proc(const char *name, size_t len, const char **rest, size_t *rest_len)
{
	size_t at = sizeof("/proc/") - 1;
	pid_t pid = 0;

	if (len <= at || memcmp(name, "/proc/", at) != 0)
		return -1;
	size_t first = at;
	for (; at < len && name[at] >= '0' && name[at] <= '9' && at - first < 9; at++)
		pid = pid * 10 + (name[at] - '0');
	if (at == first || (at < len && name[at] != '/'))
		return -1;
	if (at < len)
		at++;
	*rest = name + at;
	*rest_len = len - at;
	return pid;
}

const char *name_proc_entry(const char *rest, size_t *len)
{
	const char *slash = *len > 5 && memcmp(rest, "task/", 5) == 0 ? memchr(rest + 5, '/', *len - 5) : NULL;

	if (!slash)
		return rest;
	*len -= (size_t)(slash + 1 - rest);
	return slash + 1;
}

static bool one_of(const char *rest, size_t len, const char *const *names)
{
	for (; *names; names++) {
		if (strlen(*names) == len && memcmp(*names, rest, len) == 0)
			return true;
	}
	return false;
}

bool name_proc_public(const char *rest, size_t len)
{
	static const char *const open_to_all[] = { "", "stat", "statm", "status", "cmdline", "comm", "cgroup", "task",
						   "oom_score", "limits", "mounts", "mountinfo", "net", NULL };
	const char *name = name_proc_entry(rest, &len);

	if (name == rest && len > 5 && memcmp(rest, "task/", 5) == 0)
		return true;
	return (len > 4 && memcmp(name, "net/", 4) == 0) || one_of(name, len, open_to_all);
}

bool name_proc_outer(const char *rest, size_t len, bool writing)
{
	static const char *const kept[] = { "oom_score_adj", "oom_adj", "autogroup", "coredump_filter", "timerslack_ns", NULL };
	static const char *const shown[] = { "exe", "cwd", "root", "children", "io", "sched", "schedstat", "wchan", "loginuid", "sessionid",
					     "mountstats", "cpuset", NULL };

	if (!writing && name_proc_public(rest, len))
		return true;
	const char *name = name_proc_entry(rest, &len);
	return one_of(name, len, kept) || (!writing && one_of(name, len, shown));
}

bool name_below(const char *name, size_t len, const char *dir, size_t dir_len)
{
	if (dir_len == 1 && dir[0] == '/')
		return len && name[0] == '/';
	return len >= dir_len && memcmp(name, dir, dir_len) == 0 && (len == dir_len || name[dir_len] == '/');
}
