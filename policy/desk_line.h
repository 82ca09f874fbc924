/* SPDX-License-Identifier: Apache-2.0 */
/* Lines over a non-blocking socket. */
#ifndef USHER_POLICY_DESK_LINE_H
#define USHER_POLICY_DESK_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define DESK_LINE (64 * 1024)           /* the longest request */
#define DESK_REPLY (64 * 1024 * 1024)   /* the longest reply: thousands of questions */
#define DESK_LIST (4 * 1024 * 1024)    /* what a reply's list has room for, and one question on top: written out, and of the longest arguments, less than that */
#define DESK_BACKLOG (8 * 1024 * 1024) /* what may wait for a slow reader when a line comes on top, however long */

struct desk_line {
	int fd;
	char *in;
	size_t got;
	size_t room;
	size_t most; /* the longest line that is taken */
	char *out;
	size_t from;
	size_t to;
	size_t cap;
};

/* Takes FD; lines from it have at most MOST bytes. Returns 0 or -ENOMEM (FD is closed then). */
int desk_line_open(struct desk_line *l, int fd, size_t most);
void desk_line_close(struct desk_line *l);

/* Reads what is there. False: the peer is gone, or its line is too long. */
bool desk_line_read(struct desk_line *l);

/* The next whole line, without its newline, in *len; NULL: none yet. Valid until desk_line_next(). */
const char *desk_line_get(const struct desk_line *l, size_t *len);
void desk_line_next(struct desk_line *l, size_t len);

/* Queues bytes, and writes what can be written. False: the peer is gone or does not read. */
bool desk_line_put(struct desk_line *l, const char *bytes, size_t len);
bool desk_line_flush(struct desk_line *l);
static inline bool desk_line_waiting(const struct desk_line *l)
{
	return l->to > l->from;
}

#endif
