/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a journal line by line with plain reads: a mapping would be lost (SIGBUS) when a
 * live session trims a segment. A '{' that was seen has its whole record behind it in what is read from then on.
 */
#include "audit/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/inflight.h"
#include "audit/record.h"
#include "audit/segment.h"
#include "rules/cleanup.h"
#include "rules/plain_file.h"

#define BUFFER ((size_t)1 << 20)

struct reader {
	int dir;
	int fd;
	uint32_t segment; /* 0: the file of intents, which has no successor */
	char name[SEGMENT_NAME_MAX];
	char *buf;
	size_t pos, len;
	uint64_t offset; /* in the file, of buf[0] */
	uint64_t number; /* lines passed */
	struct tail tail;
};

static void seek_to(struct reader *r, uint64_t offset)
{
	r->offset = offset;
	r->pos = r->len = 0;
}

const char *reader_error(int rc)
{
	return rc == READER_NO_FILE ? "a segment of it is no file but a link, a directory or the like; 'usher verify' names it" : strerror(-rc);
}

/* A descriptor, or as reader_open(). */
static int open_plain(const struct reader *r, const char *name)
{
	int fd = plain_open(r->dir, name, O_RDONLY | O_NOFOLLOW);
	return fd == -ELOOP || fd == -EISDIR || fd == -EINVAL ? READER_NO_FILE : fd;
}

static int open_file(struct reader *r)
{
	int fd = open_plain(r, r->name);
	if (fd < 0)
		return fd;
	if (r->fd >= 0)
		close(r->fd);
	r->fd = fd;
	r->number = 0;
	seek_to(r, 0);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

static DIR *list_dir(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* The number of the next segment that is listed; 0 at the end. */
static uint32_t list_segment(DIR *d)
{
	char name[SEGMENT_NAME_MAX];
	for (const struct dirent *e; (e = readdir(d));) {
		unsigned number;
		if (sscanf(e->d_name, "journal-%u.jsonl", &number) != 1)
			continue;
		segment_name(name, number);
		if (number && !strcmp(name, e->d_name))
			return number;
	}
	return 0;
}

/* Whether the very next number is there, as it nearly always is: a list of thousands of names for each of thousands of segments takes minutes. */
static bool is_next(int dirfd, uint32_t n)
{
	char name[SEGMENT_NAME_MAX];
	segment_name(name, n);
	return n && faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

uint32_t segment_after(int dirfd, uint32_t n)
{
	if (is_next(dirfd, n + 1))
		return n + 1;
	DIR *d = list_dir(dirfd);
	uint32_t best = 0;
	if (!d)
		return 0;
	for (uint32_t number; (number = list_segment(d));)
		if (number > n && (!best || number < best))
			best = number;
	closedir(d);
	return best;
}

void segments_last(int dirfd, uint32_t *last, uint32_t *previous)
{
	DIR *d = list_dir(dirfd);
	*last = *previous = 0;
	if (!d)
		return;
	for (uint32_t number; (number = list_segment(d));) {
		if (number > *last) {
			*previous = *last;
			*last = number;
		} else if (number > *previous && number < *last) {
			*previous = number;
		}
	}
	closedir(d);
}

static int reader_new(const char *dir, struct reader **out)
{
	struct reader *r = calloc(1, sizeof *r);
	if (!r)
		return -ENOMEM;
	r->fd = -1;
	r->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = r->dir < 0 ? -errno : 0;
	if (rc == 0 && !(r->buf = malloc(BUFFER)))
		rc = -ENOMEM;
	if (rc != 0) {
		reader_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

int reader_open(const char *dir, struct reader **out)
{
	struct reader *r;
	int rc = reader_new(dir, &r);
	if (rc != 0)
		return rc;
	r->segment = segment_after(r->dir, 0);
	segment_name(r->name, r->segment);
	rc = r->segment ? open_file(r) : -ENOENT;
	if (rc != 0) {
		reader_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

int reader_open_at(const char *dir, uint32_t segment, uint64_t offset, struct reader **out)
{
	struct reader *r;
	if (!segment)
		return reader_open(dir, out);
	int rc = reader_new(dir, &r);
	if (rc != 0)
		return rc;
	r->segment = segment;
	segment_name(r->name, segment);
	rc = open_file(r);
	if (rc != 0) {
		reader_close(r);
		return rc;
	}
	seek_to(r, offset);
	*out = r;
	return 0;
}

int reader_open_inflight(const char *dir, struct reader **out)
{
	struct reader *r;
	int rc = reader_new(dir, &r);
	if (rc != 0)
		return rc;
	strcpy(r->name, INFLIGHT_NAME);
	rc = open_file(r);
	if (rc != 0) {
		reader_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	if (r->dir >= 0)
		close(r->dir);
	free(r->buf);
	free(r);
}

int reader_stat(const struct reader *r, struct stat *out)
{
	return fstat(r->fd, out) == 0 ? 0 : -errno;
}

/* More bytes behind those that are there: 1, 0 when there are none, or a negative errno. */
static int more(struct reader *r)
{
	if (r->pos) {
		memmove(r->buf, r->buf + r->pos, r->len - r->pos);
		r->len -= r->pos;
		r->offset += r->pos;
		r->pos = 0;
	}
	if (r->len == BUFFER)
		return 0;
	ssize_t n;
	do
		n = pread(r->fd, r->buf + r->len, BUFFER - r->len, (off_t)(r->offset + r->len));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->len += (size_t)n;
	return n > 0;
}

/* Passes over bytes C: their number into *n. 1 when something else follows, 0 at the end of the file. */
static int skip(struct reader *r, char c, uint64_t *n)
{
	*n = 0;
	for (;;) {
		while (r->pos < r->len && r->buf[r->pos] == c) {
			r->pos++;
			++*n;
		}
		if (r->pos < r->len)
			return 1;
		int rc = more(r);
		if (rc <= 0)
			return rc;
	}
}

static int skip_blank(struct reader *r, uint64_t *n)
{
	return skip(r, '\n', n);
}

/* The line at pos, whole if the file has its end. */
static int take_line(struct reader *r, struct line *out)
{
	size_t scanned = 0;
	char *end;
	while (!(end = memchr(r->buf + r->pos + scanned, '\n', r->len - r->pos - scanned))) {
		scanned = r->len - r->pos;
		int rc = more(r);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
	}
	out->bytes = r->buf + r->pos;
	out->len = end ? (size_t)(end - out->bytes) : r->len - r->pos;
	out->ended = end != NULL;
	out->file = r->name;
	out->segment = r->segment;
	out->offset = r->offset + r->pos;
	return 1;
}

/*
 * Whether L was whole when it was copied. A copy need not go forward (the processor may fetch the second half of a few bytes before the first), so the
 * brace may be newer than what stands behind it, with filling in its place: that ends the line early, and then no record begins behind it.
 */
static bool is_settled(const struct reader *r, const struct line *l)
{
	static const char begin[] = "{\"seq\":";
	const char *behind = l->bytes + l->len + 1, *end = r->buf + r->len;
	return l->bytes[l->len - 1] == '}' && end - behind >= (ptrdiff_t)sizeof begin - 1 && !memcmp(behind, begin, sizeof begin - 1);
}

/* The same, and of a record what was read when its brace had been seen. */
static int take_whole(struct reader *r, struct line *out)
{
	int rc = take_line(r, out);
	if (rc < 0 || out->bytes[0] != '{' || !out->ended || is_settled(r, out))
		return rc;
	seek_to(r, out->offset);
	return take_line(r, out);
}

/* Whether segment N has something in it: one that was made ahead of use is blank. 1 (of what is no file, too), 0, or a negative errno. */
static int begun(const struct reader *r, uint32_t n)
{
	char name[SEGMENT_NAME_MAX], first = '\n';
	segment_name(name, n);
	CLEANUP_FD int fd = open_plain(r, name);
	if (fd < 0)
		return fd == READER_NO_FILE ? 1 : fd == -ENOENT ? 0 : fd;
	return pread(fd, &first, 1, 0) == 1 && first != '\n';
}

/*
 * Whether only newlines follow the line, and no later segment was begun: then it is a record that was being written. Zeros, where a power cut left more of
 * them than are read at once, are its own.
 */
static int is_tail(struct reader *r, const struct line *l)
{
	uint64_t here = r->offset + r->pos, after = 0, zeros = 0, len = l->len;
	r->pos += l->len;
	int rc = l->ended ? 1 : skip(r, '\0', &zeros);
	if (rc > 0)
		rc = skip_blank(r, &after);
	seek_to(r, here);
	if (rc < 0)
		return rc;
	uint32_t next = rc == 0 && r->segment ? segment_after(r->dir, r->segment) : 0;
	int later = next ? begun(r, next) : 0;
	if (rc > 0 || later)
		return later < 0 ? later : 0;
	r->tail.torn = len + zeros;
	r->tail.fill = after ? after - 1 : 0; /* one newline is its own */
	return 1;
}

/*
 * Whether something stands now where a blank was read at OFFSET. A live writer fills in order, so what was read later
 * may be newer than what was read before it: a blank counts only when it is still one.
 */
static bool was_filled(const struct reader *r, uint64_t offset)
{
	char c;
	return pread(r->fd, &c, 1, (off_t)offset) == 1 && c != '\n';
}

/* The file has been read to its end. On to the next segment, if there is one with something in it. */
static int advance(struct reader *r, uint64_t offset)
{
	uint32_t next = r->segment ? segment_after(r->dir, r->segment) : 0;
	if (!next)
		return 0;
	int rc = begun(r, next);
	if (rc <= 0)
		return rc;
	if (was_filled(r, offset)) /* between our read and the rotation, after which the old segment is at rest */
		return 1;
	segment_name(r->name, next);
	r->segment = next;
	rc = open_file(r);
	return rc < 0 ? rc : 1;
}

int reader_next(struct reader *r, struct line *out)
{
	uint64_t blanks;
	r->tail = (struct tail){ 0 };
	for (;;) {
		uint64_t start = r->offset + r->pos;
		int rc = skip_blank(r, &blanks);
		if (rc < 0)
			return rc;
		if (rc == 0) {
			seek_to(r, start);
			r->tail.fill = blanks;
			if (was_filled(r, start))
				continue;
			rc = advance(r, start);
			if (rc <= 0)
				return rc;
			continue;
		}
		if (blanks && was_filled(r, start)) {
			seek_to(r, start);
			continue;
		}
		rc = take_whole(r, out);
		if (rc < 0)
			return rc;
		/* Within the slots of intents a line without its brace is one being written or taken away. */
		if (out->bytes[0] != '{' || !out->ended) {
			if (!r->segment && out->ended) {
				r->pos += out->len + 1;
				continue;
			}
			rc = is_tail(r, out);
			if (rc < 0)
				return rc;
			if (rc > 0) {
				seek_to(r, start);
				return 0;
			}
			if (blanks && was_filled(r, start)) { /* it got its brace, and others followed, while it was looked at */
				seek_to(r, start);
				continue;
			}
			rc = take_whole(r, out);
			if (rc < 0)
				return rc;
		}
		r->number += blanks + 1;
		out->number = r->number;
		out->blanks = blanks;
		r->pos += out->len + out->ended;
		return 1;
	}
}

void reader_tail(const struct reader *r, struct tail *out)
{
	*out = r->tail;
	struct stat st;
	out->file = r->name;
	out->segment = r->segment;
	out->number = r->number + 1;
	out->size = fstat(r->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	char last = '\n';
	out->zeros = out->size && pread(r->fd, &last, 1, (off_t)out->size - 1) == 1 && !last;
}
