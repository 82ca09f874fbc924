// SPDX-License-Identifier: Apache-2.0
/*
 * Reading a rule file.
 *
 * MUST: owner, mode, type and size are those of the descriptor that is read; opening never
 * blocks (FIFO) and never takes a terminal; no more than SOURCE_MAX bytes are read
 * whatever the file claims.
 */
#include "rules/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "rules/cleanup.h"

/* Whom the files of users that a user namespace does not have belong to there. */
enum { NOBODY = 65534 };

static int refuse(struct diagnostics *found, const struct place *at, int error, const char *path, const char *why)
{
	bool said = at->line == 0 && strcmp(at->file, path) == 0; /* a file that nobody includes stands before the error */

	findings_add(found, DIAGNOSTIC_ERROR, at, "%s%s%s", said ? "" : path, said ? "" : ": ", why);
	return error;
}

static int check_descriptor(const struct stat *st, const char *path, const struct place *at, struct diagnostics *found)
{
	if (S_ISDIR(st->st_mode))
		return refuse(found, at, -EISDIR, path, "is a directory; a rule file was expected");
	if (!S_ISREG(st->st_mode))
		return refuse(found, at, -EINVAL, path, "is not a regular file; a rule file was expected");
	if (st->st_uid == NOBODY && geteuid() != 0 && geteuid() != NOBODY)
		return refuse(found, at, -EPERM, path,
			      "belongs to nobody, as root's files do in a user namespace (--isolate, as an ordinary user); a file of your own was expected");
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return refuse(found, at, -EPERM, path,
			      "belongs to another user, who could change the rules; a file of your own or root's was expected");
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return refuse(found, at, -EPERM, path,
			      "can be written by group or others; a mode such as 0644 was expected (chmod go-w)");
	if (st->st_size > (off_t)SOURCE_MAX)
		return refuse(found, at, -EFBIG, path, "is larger than 16 MiB; a rule file was expected");
	return 0;
}

static ssize_t read_all(int fd, char *to, size_t room)
{
	size_t have = 0;
	while (have < room) {
		ssize_t n = read(fd, to + have, room - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

int source_read(struct arena *a, const char *path, const struct place *at, struct diagnostics *found,
		struct source *out)
{
	struct stat st;
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return refuse(found, at, -errno, path, strerror(errno));
	int r = check_descriptor(&st, path, at, found);
	if (r)
		return r;
	size_t room = (size_t)st.st_size + 1;
	char *text = arena_alloc(a, room + 1);
	char *name = arena_copy(a, path, strlen(path));
	if (!text || !name)
		return -ENOMEM;
	ssize_t n = read_all(fd, text, room);
	if (n < 0)
		return refuse(found, at, (int)n, path, strerror((int)-n));
	if ((size_t)n >= room)
		return refuse(found, at, -EAGAIN, path, "grew while it was read; a file at rest was expected");
	*out = (struct source){ .name = name, .text = text, .len = (size_t)n };
	return 0;
}

struct place source_place(const struct source *s, uint32_t line, size_t start, size_t at)
{
	struct place p = { .file = s->name, .line = line };
	for (size_t i = start; i < at && i < s->len; i++) {
		if (s->text[i] == '\n') {
			p.line++;
			start = i + 1;
		}
	}
	const char *end = memchr(s->text + start, '\n', s->len - start);
	size_t stop = end ? (size_t)(end - s->text) : s->len;
	p.column = (uint32_t)(at - start) + 1;
	p.source = (struct span){ s->text + start, (uint32_t)(stop - start) };
	return p;
}

static int bad_byte(const struct source *s, struct diagnostics *found, size_t at, const char *message)
{
	struct place p = source_place(s, 1, 0, at);
	findings_add(found, DIAGNOSTIC_ERROR, &p, "%s", message);
	return 1;
}

int source_check(const struct source *s, struct diagnostics *found)
{
	if (s->len > SOURCE_MAX)
		return bad_byte(s, found, 0, "larger than 16 MiB; a rule file was expected");
	if (s->len >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
		return bad_byte(s, found, 0, "begins with a byte order mark; plain text without one was expected");
	for (size_t i = 0; i < s->len; i++) {
		unsigned char c = (unsigned char)s->text[i];
		if (c == 0)
			return bad_byte(s, found, i, "a NUL byte: this is not a text file");
		if (c == '\r')
			return bad_byte(s, found, i, "a carriage return (CRLF line ends?); plain line feeds were expected");
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			return bad_byte(s, found, i, "a control byte: this is not a text file, or \"\\xHH\" was expected");
	}
	return 0;
}
