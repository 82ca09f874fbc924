/* SPDX-License-Identifier: Apache-2.0 */
/* From the bits of wanted records to their lines in the journal: see index.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/index_state.h"
#include "audit/reader.h"

static bool is_set(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

struct place {
	uint64_t offset;
	uint32_t len;
	uint32_t part;
};

struct places {
	struct place *at;
	size_t n, cap;
	char *line;
	size_t room;
	int fd;
	size_t part; /* whose file FD is */
};

static int add_place(struct places *all, size_t part, uint64_t offset, uint64_t len)
{
	if (all->n == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : 256;
		struct place *grown = realloc(all->at, cap * sizeof *grown);
		if (!grown)
			return -ENOMEM;
		all->at = grown;
		all->cap = cap;
	}
	all->at[all->n++] = (struct place){ offset, (uint32_t)len, (uint32_t)part };
	return 0;
}

static bool wants_chunk(const struct part *p, uint64_t chunk)
{
	size_t first = chunk * (CHUNK_RECORDS / 64), last = first + CHUNK_RECORDS / 64;
	for (size_t w = first; w < last && w < part_words(p); w++)
		if (p->want[w])
			return true;
	return false;
}

static int find_in_chunk(struct index *x, size_t part, uint64_t chunk, struct places *all)
{
	const struct part *p = &x->part[part];
	const uint8_t *at, *end;
	uint64_t offset = 0, gap, len, i = chunk * CHUNK_RECORDS, last = i + CHUNK_RECORDS;
	int rc = index_store_row(x->store, p->segment, ROW_PLACES + (uint32_t)chunk, &at, &end);
	for (; rc == 0 && i < last && i < p->head.records; i++) {
		if (!index_number(&at, end, &gap) || !index_number(&at, end, &len) || gap > p->head.upto - offset ||
		    len > p->head.upto - offset - gap || len > UINT32_MAX)
			return -EIO;
		offset += gap;
		if (is_set(p->want, i))
			rc = add_place(all, part, offset, len);
		offset += len;
	}
	return rc;
}

static int find_places(struct index *x, struct places *all)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < x->n; i++) {
		const struct part *p = &x->part[i];
		for (uint64_t c = 0; rc == 0 && p->indexed && p->want && c * CHUNK_RECORDS < p->head.records; c++)
			if (wants_chunk(p, c))
				rc = find_in_chunk(x, i, c, all);
	}
	return rc;
}

/* The line at P into all->line + 1: it must stand between newlines, and begin as a record does. */
static int read_place(struct index *x, struct places *all, const struct place *p)
{
	bool first = p->offset == 0;
	size_t n = (size_t)p->len + 2;
	if (all->fd < 0 || all->part != p->part) {
		if (all->fd >= 0)
			close(all->fd);
		all->fd = part_open(x, x->part[p->part].segment);
		all->part = p->part;
	}
	if (n > all->room) {
		char *grown = realloc(all->line, n);
		if (!grown)
			return -ENOMEM;
		all->line = grown;
		all->room = n;
	}
	ssize_t got = pread(all->fd, all->line + first, n - first, (off_t)(p->offset - !first));
	if (got < (ssize_t)(n - first) - 1)
		return -EIO;
	bool whole = (first || all->line[0] == '\n') && all->line[1] == '{' && !memchr(all->line + 1, '\n', p->len);
	return whole && (got < (ssize_t)(n - first) || all->line[n - 1] == '\n') ? 0 : -EIO;
}

/* What part I does not cover. The last one goes on into segments that came later. */
static int read_rest(struct index *x, size_t i, index_fn each, void *context)
{
	const struct part *p = &x->part[i];
	struct reader *r;
	struct line l;
	bool last = i + 1 == x->n;
	if (p->indexed && !last)
		return 0;
	int rc = reader_open_at(x->dir, p->segment, p->indexed ? p->head.upto : 0, &r);
	if (rc != 0)
		return rc;
	while ((rc = reader_next(r, &l)) == 1 && (last || l.segment == p->segment))
		if (line_is_record(&l))
			each(context, l.bytes, l.len);
	reader_close(r);
	return rc < 0 ? rc : 0;
}

static int give(struct index *x, struct places *all, index_fn each, void *context)
{
	size_t k = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < all->n; i++) /* nothing is given before it is known that all are lines */
		rc = read_place(x, all, &all->at[i]);
	for (size_t part = 0; rc == 0 && part < x->n; part++) {
		for (; rc == 0 && k < all->n && all->at[k].part == part; k++) {
			rc = read_place(x, all, &all->at[k]);
			if (rc == 0)
				each(context, all->line + 1, all->at[k].len);
		}
		if (rc == 0)
			rc = read_rest(x, part, each, context);
	}
	return rc;
}

int index_lines(struct index *x, index_fn each, void *context)
{
	struct places all = { .fd = -1 };
	int rc = find_places(x, &all);
	if (rc == 0)
		rc = give(x, &all, each, context);
	if (all.fd >= 0)
		close(all.fd);
	free(all.line);
	free(all.at);
	return rc;
}
